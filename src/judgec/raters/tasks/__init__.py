"""One file a task: its Signature, the prompt. What else there is to say of the task is in ``judgec.records.tasks``.

Inputs stand as the papers' prompts have them: query, contexts, reference, then what is graded. So the answers of all
agents to a query share the beginning of their prompts, which is what a provider's cache serves.
"""
