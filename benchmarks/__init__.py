"""Scripts that measure; each prints what it measured in that run."""
