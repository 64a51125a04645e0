"""Labels as they are given: the file that experts grade into, and the spreadsheets they take away."""
