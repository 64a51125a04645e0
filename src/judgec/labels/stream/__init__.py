"""Items of a file in pieces, and judgments written beside them."""
