"""Compiling RAG agents: their prompts are optimized for what a compiled judge, or experts, accept."""
