"""Judges: a signature and a DSPy module per task, built from the scale and the fields that the items have."""
