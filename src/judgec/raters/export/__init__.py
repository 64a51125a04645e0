"""Compiled judges as files that other programs read."""
