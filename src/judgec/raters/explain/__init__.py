"""Explains judgments: the evidence that moved a score, and the reason that says so."""
