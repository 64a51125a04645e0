"""Where passages are kept: LanceDB in a folder, or PostgreSQL."""
