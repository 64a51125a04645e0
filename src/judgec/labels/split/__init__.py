"""Keeps the side of the split of each query, and how often it was tested, across the judges of a home."""
