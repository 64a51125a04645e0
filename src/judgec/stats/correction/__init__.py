"""Corrects rates over many judged items by a few expert labels."""
