"""Compiles with few queries: everything is chosen inside each fold, and every query is tested once."""
