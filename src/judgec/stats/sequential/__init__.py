"""Statistics that hold at every look at data that keep coming."""
