"""Stores passages: in LanceDB in a folder, or in PostgreSQL."""
