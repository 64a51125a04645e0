"""Why a judgment came out as it did: what of the evidence moved it, and the reason that says so."""
