"""Facts that rules can find in a passage: cells of tables, and sentences with a date, a figure or a name.

In a text without any capital letter, as old abstracts are, a sentence ends at a full stop that stands by itself, or
after no abbreviation; it has figures and dates to ask about, and no names.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from judgec.rag.queries.filters import DATE, NUMBER
from judgec.rag.retrieval.passages import Passage

Kind = Literal["number", "date", "name"]

BLANK = "____"
FEWEST_WORDS, MOST_WORDS = 6, 45  # of a sentence that is asked about
LEAST_AROUND = 25  # characters of the sentence beside the blank
_SENTENCE = re.compile(r"(?<=[a-z0-9)%\"'°CVA][.!?]) +(?=[A-Z\"'`(])|\n\s*\n| (?<=\s[.!?] )(?=[A-Z`\"'(])")
_SMALL_STOP = re.compile(r"(?<=\s[.!?])\s+|\n\s*\n")  # a text in small letters whose full stops stand by themselves
_SMALL_SENTENCE = re.compile(r"(?<=[a-z0-9)%][a-z0-9)%][.!?]) +(?=[a-z])|\n\s*\n")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[\w.]*\.\w|al|approx|ca|cf|ed|eds|eq|eqs|et|etc|fig|figs|i\.e|e\.g|inc|jour|journ|ltd|no|nos|pp|proc|"
    r"prof|ref|refs|rev|ser|soc|st|vol|vs|dr|mr|mrs|dept|univ|jan|feb|mar|apr|aug|sept?|oct|nov|dec)\.$"
)
_LABEL = re.compile(  # what has a number as its name: "figure 2"
    r"(?:abstracts?|appendix|cases?|chapters?|eqs?|equations?|figs?|figures?|grade|models?|naca|nasa|notes?|pages?|parts?|"
    r"phase|refs?|references?|reports?|rm|runs?|sections?|series|stages?|stations?|steps?|tables?|tn|tests?|theorems?|"
    r"types?|versions?|volumes?|tr|[a-z]|\S*\d|\S*\.)"
)
_TORN = re.compile(r" ?\(|\)| \d| x 10\b")  # after a volume, a list's "(1)", and what is left of a formula
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
    r"ft|deg|lb|psi|sec(?:onds?)?|"
    r"miles?|feet|inch(?:es)?|pounds?|dollars?|euros?|people|times|degrees?|N?m\b|V DC|mm|cm|km|kg|mA|dB)(?!\w)"
)
NAME = re.compile(r"\b[A-Z][\w'-]+(?: (?:of |the |de |van |von )?[A-Z0-9][\w'-]*){1,3}")
_PASSIVE = re.compile(
    r"^(?P<subject>(?:The |A |An )?[\w'’-]+(?: [\w'’()-]+){0,7}) (?P<verb>was|were) (?P<rest>[^,;:()]+?) "
    r"(?P<how>on|in) " + re.escape(BLANK)
)
_YEAR = re.compile(r"1[0-9]\d\d|20\d\d")  # without a preposition: what it dates is unsure
_PREDICATE = re.compile(r"\b(?:that|which|who|and|is|are|has|have|had|did|does|do)\b")
_NOON = re.compile(r"[ap]\.m\.$")
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
    """Kind of a value, or None when it is none of the three."""
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
    small, title = prose.islower(), titled(chunk)
    for sentence in _small_sentences(prose) if small else _capital_sentences(prose):
        fits = FEWEST_WORDS <= sentence.count(" ") + 1 <= MOST_WORDS
        if not fits or _DANGLING.match(sentence) or _POINTING.search(sentence):
            continue
        for kind, begin, end in _spans(sentence, small=small):
            value = sentence[begin:end].strip(" ").rstrip("" if _NOON.search(sentence[begin:end]) else ".")
            if sentence.count(value) > 1 or len(sentence) - len(value) < LEAST_AROUND or _names(title, value):
                continue
            cloze = f"{sentence[:begin]}{BLANK}{sentence[end:]}"
            yield Fact(kind, value, title, "", _ask(cloze, kind, title), cloze, sentence, chunk)


def titled(chunk: Passage) -> str:
    """The title of a chunk's document as a question names it, without a full stop."""
    return chunk.title.rstrip(" .")


def _names(title: str, value: str) -> bool:
    """True if the title, which the question names, gives the answer away."""
    return re.search(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)", title) is not None


def _capital_sentences(prose: str) -> Iterator[str]:
    for raw in _SENTENCE.split(prose):
        sentence = " ".join((raw or "").split())
        if sentence[:1].isupper() and sentence[-1:] in ".!":
            yield sentence


def _small_sentences(prose: str) -> Iterator[str]:
    """Sentences of a text without capitals, each with its full stop at its last word."""
    apart = re.search(r"\s\.(?:\s|$)", prose) is not None
    held = ""
    for raw in (_SMALL_STOP if apart else _SMALL_SENTENCE).split(prose):
        held = " ".join(f"{held} {raw}".split())
        if not apart and _ABBREVIATED.search(held):
            continue
        sentence, held = re.sub(r"\s+(?=[.!?]$)", "", held), ""
        if sentence[:1].isalpha() and sentence[-1:] in ".!" and not _ABBREVIATED.search(sentence):
            yield sentence


def _spans(sentence: str, *, small: bool) -> Iterator[tuple[Kind, int, int]]:
    dates = [match.span() for match in DATE.finditer(sentence)]
    for begin, end in dates:
        yield "date", begin, end
    for match in NUMBER.finditer(sentence):
        begin, end = match.span()
        inside = any(low <= begin < high for low, high in dates)
        before = sentence[:begin].rsplit(None, 1)
        named = bool(before) and before[-1][:1].isupper() and begin > 0  # "Fenn 25", "Table 2"
        if small:  # "figure 2", "rev. 2601"
            named = bool(before and _LABEL.fullmatch(before[-1])) or _TORN.match(sentence, end) is not None
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
