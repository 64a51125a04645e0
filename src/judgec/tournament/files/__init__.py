"""Files of a tournament: what agents answered and retrieved, and what comes out of it."""
