"""What only comparisons of two answers need: tie bands, mirrored pairs, their own statistics and baseline."""
