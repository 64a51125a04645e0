"""Reads any reply: a grade on the scale, or the reason why there is none.

One set of rules for every task (numbers, words, a / b / tie) and every path: the compiled form, JSON, ``--live``,
exported judges, cells of a file. A reply passes four modules:

- ``said`` takes off reasoning, marks of the end, and hides what is only quoted;
- ``statements`` finds what states a verdict, each place with its strength, and chooses one;
- ``grades`` says which grade of the scale a few words are;
- ``fields`` reads replies to a prompt that asks for fields, ``objects`` JSON wherever it stands.

A grade is never guessed: two that differ, another scale's ``4/10``, a grade that its comment takes back
(``refusals.TABLE``) are none. Windows and repetitions are bounded, so that reading takes time by the reply's length,
whatever it holds.
"""

from judgec.raters.replies.fields import Verdict, read_confidence, read_fields, read_form, read_grade, read_verdict
from judgec.raters.replies.fields import value_in as value_in
from judgec.raters.replies.said import CUT, OFF_SCALE, UnreadableReplyError, is_unread, said
from judgec.raters.replies.statements import stated

__all__ = [
    "CUT",
    "OFF_SCALE",
    "UnreadableReplyError",
    "Verdict",
    "is_unread",
    "read_confidence",
    "read_fields",
    "read_form",
    "read_grade",
    "read_verdict",
    "said",
    "stated",
    "value_in",
]
