"""Keeps cells of text from being formulas in a spreadsheet, and takes back what did so.

Source: OWASP, CSV injection: what begins with = + - @, their wide forms, a tab or a line end may be run; so may what
has white space, control or unseen characters before these, which programs drop when they import.
"""

import re
from collections.abc import Collection

GUARD = "'"
_DROPPED = r"[\s\x00-\x1f\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]*"
_BEGINS = rf"(?:[\t\r\n]|{_DROPPED}[=+\-@＝＋－＠])"
RISKY = re.compile(rf"'*{_BEGINS}")  # guards included: what looks guarded keeps its own
GUARDED = re.compile(rf"'+{_BEGINS}")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")  # no formula, whatever it begins with
IMPORTED_FROM = "imported_from"  # the column that names the tool whose export a table was made of
OWN = (  # columns of the tables that judgec writes and reads again
    {"stratum", "inclusion_probability"},
    {"query_id", "agent_a", "agent_b", "preference", "annotator", "answer_a", "answer_b"},
    {"query_id", "agent_a", "agent_b", "winner", "flipped", "unscored"},
    {"item_id", IMPORTED_FROM},
)


def guarded(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return GUARD + text if RISKY.match(text) else text


def unguarded(text: str) -> str:
    """The text that ``guarded`` was given."""
    return text[1:] if GUARDED.match(text) else text


def is_own(columns: Collection[str]) -> bool:
    """True if judgec wrote the table, so that its cells are guarded."""
    return any(own <= set(columns) for own in OWN)
