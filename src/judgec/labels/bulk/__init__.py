"""Files that are judged in bulk: their items, and the rows that are written."""
