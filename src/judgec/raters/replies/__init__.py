"""Reads any reply: a grade on the scale, or the reason why there is none. docs/design/judging.md has the rules.

``said`` takes off reasoning and marks of the end; ``fields`` reads replies to a prompt that asks for fields;
``statements`` finds the one verdict in any other, ``grades`` says which grade a few words are, ``objects`` reads JSON.
"""

from judgec.raters.replies.fields import Verdict, read_confidence, read_fields, read_form, read_grade, read_verdict
from judgec.raters.replies.said import CUT, OFF_SCALE, UnreadableReplyError, is_unread, said
from judgec.raters.replies.statements import is_form, stated

__all__ = [
    "CUT",
    "OFF_SCALE",
    "UnreadableReplyError",
    "Verdict",
    "is_form",
    "is_unread",
    "read_confidence",
    "read_fields",
    "read_form",
    "read_grade",
    "read_verdict",
    "said",
    "stated",
]
