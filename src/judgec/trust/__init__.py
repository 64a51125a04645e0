"""Says how far a judge can be trusted, beside what its compile measured."""
