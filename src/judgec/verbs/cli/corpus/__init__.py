"""Commands about documents and the agents that read them."""
