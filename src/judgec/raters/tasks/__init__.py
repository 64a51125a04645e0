"""One file a task: its Signature, the prompt. What else there is to say of the task is in ``judgec.records.tasks``."""
