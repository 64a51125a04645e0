"""Journal of everything that a language model said: replies and features."""
