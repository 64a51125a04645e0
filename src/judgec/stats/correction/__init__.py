"""Rates over many judged items, put right by a few expert labels."""
