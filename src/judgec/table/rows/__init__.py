"""Rules for cells, and how columns are called."""
