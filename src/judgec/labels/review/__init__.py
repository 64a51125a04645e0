"""Labels as they are given: the file that experts grade into, their spreadsheets, and a page of this machine."""
