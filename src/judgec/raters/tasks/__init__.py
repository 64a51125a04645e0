"""Signatures, which are the prompts, by what is judged; what else a task is stands in ``judgec.records.tasks``.

Inputs stand as the papers' prompts have them: query, contexts, reference, then what is graded. So the answers of all
agents to a query share the beginning of their prompts, which is what a provider's cache serves.
"""
