"""Finding passages: files become an index, and an index answers queries."""
