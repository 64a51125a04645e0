"""Journal of everything that a language model said: replies, features, and their upkeep."""
