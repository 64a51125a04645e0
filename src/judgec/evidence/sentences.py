"""Cuts a text into sentences and clauses, and remembers where in the text each of them stands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from judgec.evidence.conversation_features import denied
from judgec.evidence.text import StemmedText, read, reader_of
from judgec.records.language import ENGLISH

SHORTEST = 4  # words of a clause that is a claim of its own
LONGEST_TAIL = 12  # characters before a dot that tell whether it ends a sentence

_END = re.compile(  # a citation behind the dot belongs to the sentence before it
    r"(?<=[.!?;])(?:\s?\[[\d,;\s–-]{1,20}(?:: (?:missing|not shown))?\])*[\"'”’)\]]*\s+|(?<=[。！？])|\s*\n+\s*"
)
_NO_END = re.compile(
    r"(?:^|[\s(.])(?:[^\W\d_]|Dr|Mrs?|Ms|St|Mt|Prof|Rev|Gen|Col|Sgt|Capt|Lt|Gov|Sen|Rep|Jr|Sr|No|vs|etc|e\.g|i\.e|ca"
    r"|approx|Inc|Ltd|Corp|Co|U\.S)\.$"
)  # a dot after these ends no sentence
_LISTED = re.compile(r"^\s*\(?\d{1,2}\.$")  # the number of a list's entry
_ORDINAL = re.compile(r"(?:^|\s)\(?\d{1,2}\.$")  # 3. Oktober
_BULLET = re.compile(r"\s*(?:[-*•–#>]+\s+|\(?\d{1,2}[.)]\s+|\[\d{1,3}\]\s+)*")
_CLAUSE = re.compile(
    r"(?:,|;)\s+(?:and|but|while|whereas|although|though|which|who|so|because)\s+|\s+(?:but|whereas)\s+"
)
_MARK = re.compile(r"\s*\[\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*(?:: (?:missing|not shown))?\]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Sentence:
    """A sentence or clause.

    Args:
        text: As written.
        start: Where it begins in its text.
        end: Where it ends.
        read: Its stems, without citations such as ``[2]``.
        denied: The stems that it denies.
    """

    text: str
    start: int
    end: int
    read: StemmedText
    denied: frozenset[str]


def sentence_spans(text: str, language: str = ENGLISH) -> Iterator[tuple[int, int]]:
    """Yields the place of each sentence of a text; a part without a word is none."""
    start, goes_on = 0, _ORDINAL if reader_of(language).cues.ordinal_dot else _LISTED
    for found in (*_END.finditer(text), None):
        stop = len(text) if found is None else found.start()
        tail = text[max(start, stop - LONGEST_TAIL) : stop]
        if found is not None and "\n" not in found.group() and (_NO_END.search(tail) or goes_on.search(tail)):
            continue
        begin = _BULLET.match(text, start, stop)
        first = start if begin is None else begin.end()
        last = stop
        while first < last and text[first].isspace():
            first += 1
        while last > first and text[last - 1].isspace():
            last -= 1
        if _WORD.search(text, first, last):
            yield first, last
        start = stop if found is None else found.end()


def clause_spans(text: str, start: int, end: int, language: str = ENGLISH) -> Iterator[tuple[int, int]]:
    """The clauses of a sentence that are long enough to claim something; of other languages than English the whole."""
    cuts = list(_CLAUSE.finditer(text, start, end)) if language == ENGLISH else []
    first = start
    kept: list[tuple[int, int]] = []
    for cut in cuts:
        if _words(text, first, cut.start()) >= SHORTEST and _words(text, cut.end(), end) >= SHORTEST:
            kept.append((first, cut.start()))
            first = cut.end()
    kept.append((first, end))
    yield from kept


def without_marks(text: str) -> str:
    """A text without citations such as ``[2]`` or ``[1, 3]``."""
    return _MARK.sub("", text) if "[" in text else text


def sentence_at(text: str, start: int, end: int, language: str, *, units: bool = True) -> Sentence:
    """The sentence that stands there."""
    said = text[start:end]
    stems = read(without_marks(said), reader_of(language), units=units)
    return Sentence(said, start, end, stems, denied(stems.stems, stems.reader))


@lru_cache(maxsize=512)
def sentences_of(text: str, language: str = ENGLISH) -> tuple[Sentence, ...]:
    """All sentences of a text with a stem in them; kept, because items share their contexts."""
    found = (sentence_at(text, start, end, language) for start, end in sentence_spans(text, language))
    return tuple(one for one in found if one.read.stems)


def _words(text: str, start: int, end: int) -> int:
    return sum(1 for _ in _WORD.finditer(text, start, end))
