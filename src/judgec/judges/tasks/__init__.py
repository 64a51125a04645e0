"""One file a task: its Signature (the prompt), its published rubric, its builder."""
