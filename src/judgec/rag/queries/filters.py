"""Finds the chunks that hold a number or a date (RAGProbe, scenarios 1 and 2), and where."""

import re
from collections.abc import Callable, Iterable

from judgec.rag.retrieval.passages import Passage
from judgec.records.scenario.schema import Filter

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_SMALL = (  # in texts without capitals; "may" and "march" are words too, and are months before a year only
    r"(?:jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
    r"dec(?:ember)?)\.?"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?:1[0-9]\d\d|20\d\d)"
_CLOCK = r"(?<![\w:.,/-])(?:[01]?\d|2[0-3])"
DATE = re.compile(
    rf"\b{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?\b|\b{_MONTH} {_DAY}\b(?: ?, ?{_YEAR})?|\b{_MONTH} {_YEAR}\b"
    rf"|\b\d{{4}}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\b|\b(?:0?[1-9]|[12]\d|3[01])[./]\d\d?[./]{_YEAR}\b"
    rf"|(?<=\b[io]n ){_YEAR}\b(?![\d.%-])|(?<=\b(?:from|till) ){_YEAR}\b(?![\d.%-])"
    rf"|(?<=\b(?:since|until|after) ){_YEAR}\b(?![\d.%-])|(?<=\bbefore ){_YEAR}\b(?![\d.%-])"
    rf"|(?<=\bearly as ){_YEAR}\b(?![\d.%-])|(?<=\bearly ){_YEAR}\b(?![\d.%-])|(?<=\blate ){_YEAR}\b(?![\d.%-])"
    rf"|\b{_DAY} {_SMALL}(?:,? {_YEAR})?\b|\b{_SMALL} {_DAY}\b(?: ?, ?{_YEAR})?|\b{_SMALL},? {_YEAR}\b"
    rf"|\b{_DAY} (?:may|march),? {_YEAR}\b|\b(?:may|march)(?: {_DAY})?,? {_YEAR}\b"
    rf"|{_CLOCK}[:.][0-5]\d ?(?:[ap]\.m\.|[ap]m\b|o'clock|h\b|Uhr\b|UTC\b)|\b(?:1[0-2]|[1-9]) ?(?:[ap]\.m\.|[ap]m\b)"
    rf"|{_CLOCK}:[0-5]\d(?::[0-5]\d)?(?: ?[-–] ?(?:[01]?\d|2[0-3]):[0-5]\d)?(?![\w:/]|[.,-]\d)"  # 17:45, 9:30-17:00
)
"""A date, a month of a year, a year after a preposition, or a time of day, as English texts write them, with or without
capitals."""

NUMBER = re.compile(r"(?<![\w.,:/-])[±+<>≤≥~]?-?\d+(?:[ ,]\d{3})*(?:\.\d+)?(?![\w/]|[.,:-]\d)")
"""A figure that stands by itself: not inside a word, a part number, a fraction, a date or a time of day."""


def has_number(text: str) -> bool:
    """True when a figure that is no date stands in the text."""
    return NUMBER.search(DATE.sub(" ", text)) is not None


def has_date(text: str) -> bool:
    """True when a date or a time of day stands in the text."""
    return DATE.search(text) is not None


def passing(chunks: Iterable[Passage], wanted: Filter) -> list[Passage]:
    """The chunks that hold what a scenario asks about, in order."""
    tests: dict[Filter, Callable[[str], bool]] = {
        "none": lambda text: bool(text.strip()),
        "number": has_number,
        "date": has_date,
    }
    return [chunk for chunk in chunks if tests[wanted](chunk.text)]
