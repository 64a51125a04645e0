"""Audits of a judge: what moves its verdicts that should not, and what should and does not."""
