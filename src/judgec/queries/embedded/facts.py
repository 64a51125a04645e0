"""Facts that rules can find in a passage: cells of tables, and sentences with a date, a figure or a name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from judgec.queries.filters import DATE, NUMBER
from judgec.retrieval.passages import Passage

Kind = Literal["number", "date", "name"]

BLANK = "____"
FEWEST_WORDS, MOST_WORDS = 6, 45  # of a sentence that is asked about
LEAST_AROUND = 25  # characters of the sentence beside the blank
_SENTENCE = re.compile(r"(?<=[a-z0-9)%\"'°CVA][.!?]) +(?=[A-Z\"'`(])|\n\s*\n| (?<=\s[.!?] )(?=[A-Z`\"'(])")
_DANGLING = re.compile(
    r"(?:it|its|he|him|his|she|her|they|their|them|this|these|those|that|such|here|there|then|both|each|another|"
    r"however|but|and|or|so|thus|therefore|also|moreover|instead|otherwise|we|you|i|our|your|see|note|as|where|which|"
    r"who|all|some|many|most|other|others|"
    r"the (?:former|latter|same|other|first|second|third|last|next|following|above))\b",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\b(?:he|she|him|her|his|they|them|this|these|those|above|below|following|aforementioned)\b", re.IGNORECASE
)
_UNIT = re.compile(
    r" ?(?:%|‰|°C?|K|[kMGTmµn]?(?:Hz|Pa|V|A|W|g|m|s|l|N|J|bar|VDC|bit|B)\b[²³]?(?:/(?:h|s|min))?|ppm|ms|min(?:utes?)?|"
    r"hours?|days?|weeks?|months?|years?|per ?cent|percent|million|billion|thousand|kilomet(?:re|er)s?|met(?:re|er)s?|"
    r"miles?|feet|inch(?:es)?|pounds?|dollars?|euros?|people|times|degrees?|N?m\b|V DC|mm|cm|km|kg|mA|dB)(?!\w)"
)
NAME = re.compile(r"\b[A-Z][\w'-]+(?: (?:of |the |de |van |von )?[A-Z0-9][\w'-]*){1,3}")
_PASSIVE = re.compile(
    r"^(?P<subject>(?:The |A |An )?[\w'’-]+(?: [\w'’()-]+){0,7}) (?P<verb>was|were) (?P<rest>[^,;:()]+?) "
    r"(?P<how>on|in) " + re.escape(BLANK)
)
_YEAR = re.compile(r"1[0-9]\d\d|20\d\d")  # without a preposition: what it dates is unsure
_PREDICATE = re.compile(r"\b(?:that|which|who|and|is|are|has|have|had|did|does|do)\b")
_PROPERTY_HEADS = {"", "property", "parameter", "item", "quantity", "characteristic", "value", "attribute", "feature"}


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a passage states.

    Args:
        kind: What its value is.
        value: As the passage writes it.
        subject: What it is about: a table's row or the document's title.
        asked: What is asked of the subject, empty for a sentence with a blank.
        question: In English, understood without the passage.
        cloze: The sentence with a blank, empty for a cell of a table.
        sentence: What stands in the passage.
        chunk: Where.
    """

    kind: Kind
    value: str
    subject: str
    asked: str
    question: str
    cloze: str
    sentence: str
    chunk: Passage

    @property
    def shape(self) -> str:
        """Equal for values that could stand in for each other: the value with its figures masked."""
        return re.sub(r"\d+(?:[.,]\d+)*", "#", self.value) if self.kind == "number" else self.kind


def facts_of(chunk: Passage) -> list[Fact]:
    """The facts of a chunk in reading order, each value and question once."""
    found: dict[str, Fact] = {}
    for fact in (*_cells(chunk), *_sentences(chunk)):
        found.setdefault(fact.question, fact)
    return list(found.values())


def kind_of(value: str) -> Kind | None:
    """What a value is, or None when it is none of the three."""
    if DATE.search(value) or DATE.search(f"in {value}"):
        return "date"
    if NUMBER.search(value):
        return "number"
    return "name" if NAME.fullmatch(value) else None


def _cells(chunk: Passage) -> Iterator[Fact]:
    head: list[str] | None = None
    lines = chunk.text.splitlines()
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("|"):
            head = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if set(line) <= set("|-: "):
            continue
        if head is None:
            is_head = (
                number + 1 < len(lines) and set(lines[number + 1].strip()) <= set("|-: ") and "-" in lines[number + 1]
            )
            head = cells if is_head else None
            continue
        yield from _row(chunk, head, cells)


def _row(chunk: Passage, head: list[str], cells: list[str]) -> Iterator[Fact]:
    by_property = head[0].casefold() in _PROPERTY_HEADS
    for name, value in list(zip(head, cells, strict=False))[1 : 2 if by_property else None]:
        asked, subject = (cells[0], chunk.title) if by_property else (name, cells[0])
        if by_property and name.casefold() not in _PROPERTY_HEADS:
            subject = name
        kind = kind_of(value)
        if not asked or not subject or kind is None or len(value) > 80 or not any(c.isalpha() for c in subject):
            continue
        asked = asked if asked[1:2].isupper() else asked[0].lower() + asked[1:]
        about = subject if subject == chunk.title or not chunk.title else f"{subject} ({chunk.title})"
        said = f"{subject}: {asked} {value}"
        yield Fact(kind, value, about, asked, f"What is the {asked} of the {about}?", "", said, chunk)


def _sentences(chunk: Passage) -> Iterator[Fact]:
    prose = "\n".join("" if line.lstrip()[:1] in {"|", "#", "-", "*"} else line for line in chunk.text.splitlines())
    for raw in _SENTENCE.split(prose):
        sentence = " ".join((raw or "").split())
        count = sentence.count(" ") + 1
        whole = FEWEST_WORDS <= count <= MOST_WORDS and sentence[:1].isupper() and sentence[-1:] in ".!"
        if not whole or _DANGLING.match(sentence) or _POINTING.search(sentence):
            continue
        for kind, begin, end in _spans(sentence):
            value = sentence[begin:end].strip(" .")
            if sentence.count(value) > 1 or len(sentence) - len(value) < LEAST_AROUND:
                continue
            cloze = f"{sentence[:begin]}{BLANK}{sentence[end:]}"
            yield Fact(kind, value, chunk.title, "", _ask(cloze, kind, chunk.title), cloze, sentence, chunk)


def _spans(sentence: str) -> Iterator[tuple[Kind, int, int]]:
    dates = [match.span() for match in DATE.finditer(sentence)]
    for begin, end in dates:
        yield "date", begin, end
    for match in NUMBER.finditer(sentence):
        begin, end = match.span()
        inside = any(low <= begin < high for low, high in dates)
        before = sentence[:begin].rsplit(None, 1)
        named = bool(before) and before[-1][:1].isupper() and begin > 0  # "Fenn 25", "Table 2"
        if inside or named or _YEAR.fullmatch(match.group()):
            continue
        unit = _UNIT.match(sentence, end)
        yield "number", begin, unit.end() if unit else end
    for match in NAME.finditer(sentence):
        dated = any(low < match.end() and match.start() < high for low, high in dates)
        if match.start() > 0 and not dated:
            yield "name", match.start(), match.end()


def _ask(cloze: str, kind: Kind, title: str) -> str:
    passive = _PASSIVE.match(cloze) if kind == "date" else None
    if passive and not _PREDICATE.search(passive["subject"]) and not cloze[passive.end() :].strip(" ."):
        subject = re.sub(r"^(The|A|An) ", lambda match: match.group().lower(), passive["subject"])
        return f"When {passive['verb']} {subject} {passive['rest']}?"
    about = f" about {title}" if title else ""
    return f'Which {kind} completes this statement{about}: "{cloze}"?'
