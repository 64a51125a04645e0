"""RAG systems: the ones that judgec brings, and the ones that exist already, asked the same way."""
