"""Demos that `make` runs in a checkout; none asks a model."""
