"""The local page on which experts grade: one item at a time, the rubric beside it, blind to every judge."""
