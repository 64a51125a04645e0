"""Systems that retrieve, and what they read: documents and indexes, agents, test queries, probes."""
