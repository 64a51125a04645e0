"""Which side of the split each query is on, and how often it was tested, as the judges of a home remember it."""
