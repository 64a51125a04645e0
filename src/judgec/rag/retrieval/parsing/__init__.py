"""Files become documents, documents become chunks."""
