"""Cuts an answer into claims by rule, and finds for each the sentence that supports or contradicts it.

A claim is a clause of an answer that says something: a greeting, a refusal or a citation is none. It is compared with
every sentence of its sources, and of two neighbours together: which of its words they have, whether figures, names,
negations and opposites agree. The closest sentence decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from judgec.evidence.answer_features import refuses, without_courtesies
from judgec.evidence.numerals import is_number
from judgec.evidence.overlap import Weight, ratio, resemblance, total
from judgec.evidence.sentences import Sentence, clause_spans, sentence_at, sentence_spans, sentences_of
from judgec.evidence.text import Library, StemmedText, stem
from judgec.records.claim import CONTRADICTED, NOT_FOUND, SUPPORTED, CheckedClaim, Found

ENOUGH = 0.7  # share of a claim's own words in the deciding sentence from which it is supported
ALIKE = 0.5  # share of all its words from which a sentence speaks of the same thing, so that it can contradict
SHORT = 6  # words up to which a claim or a reference is little more than a name
REFERENCE = "reference"
MOST_CLAIMS = 60  # of an answer; longer ones are cut there

_OPPOSITES = """increase decrease|rise fall|more less|more fewer|most least|before after|first last|high low
higher lower|highest lowest|large small|larger smaller|largest smallest|long short|longer shorter
north south|northern southern|east west|eastern western|win lose|won lost|true false|allow forbid
allowed forbidden|legal illegal|possible impossible|male female|man woman|men women|father mother
son daughter|brother sister|husband wife|king queen|start end|begin end|open close|opened closed
hot cold|positive negative|maximum minimum|early late|earlier later|above below|inside outside
always never|all none|with without|present absent|accept reject|accepted rejected|agree disagree
alive dead|born died|gain loss|success failure|hero villain|import export|buy sell|bought sold
left right|up down|old new|older newer|safe dangerous|strong weak|stronger weaker|faster slower
fast slow|easy difficult|cheap expensive|public private|introduced abolished|created destroyed
include exclude|includes excludes|add remove|added removed|upper lower|major minor|domestic foreign
ancient modern|single married|guilty innocent|victory defeat|approve reject"""


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in _OPPOSITES.replace("\n", "|").split("|"):
        one, other = map(stem, pair.split())
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {one: frozenset(others) for one, others in found.items()}


OPPOSITES: Mapping[str, frozenset[str]] = _opposites()
"""Stems of English words by those of which they are the opposite."""


@dataclass(frozen=True)
class Source:
    """A text that claims are checked against.

    Args:
        name: The input that it stands in.
        number: Which text of it, from 1.
        sentences: Its sentences.
        whole: All of it.
    """

    name: str
    number: int
    sentences: tuple[Sentence, ...]
    whole: StemmedText

    @cached_property
    def where(self) -> dict[str, list[int]]:
        """For each stem the sentences that contain it, ascending."""
        found: dict[str, list[int]] = {}
        for number, sentence in enumerate(self.sentences):
            for one in sentence.read.vocabulary:
                found.setdefault(one, []).append(number)
        return found


@dataclass(frozen=True, slots=True)
class Alignment:
    """A claim beside the sentence that decides it.

    Args:
        claim: What was checked.
        verdict: What came of it.
        near: Weighted share of the claim's own words that the deciding sentence, with a neighbour, has.
        anywhere: The same of all the sources together.
        alike: The same of all its words but figures, those of the question too, in the deciding sentence.
        lost_figures: Figures of the claim that no source gives.
        lost_names: Names of the claim that no source has.
        conflict: What contradicts: ``figures``, ``negation``, ``opposites``, ``names``, or empty.
        source: Where the sentence stands, or None without any sentence that shares a word.
        place: Which of its sentences.
    """

    claim: Sentence
    verdict: Found
    near: float = 0.0
    anywhere: float = 0.0
    alike: float = 0.0
    lost_figures: int = 0
    lost_names: int = 0
    conflict: str = ""
    source: Source | None = field(default=None, repr=False)
    place: int = -1

    @property
    def checked(self) -> CheckedClaim:
        """For people."""
        if self.source is None:
            return CheckedClaim(self.claim.text, self.verdict, start=self.claim.start, end=self.claim.end)
        sentence, name, number = self.source.sentences[self.place].text, self.source.name, self.source.number
        return CheckedClaim(self.claim.text, self.verdict, sentence, name, number, self.claim.start, self.claim.end)


def cut(answer: str, library: Library) -> list[Sentence]:
    """The claims of an answer, in order; none of an answer that only refuses or greets."""
    reader = library.reader
    found: list[Sentence] = []
    for start, end in sentence_spans(answer, reader.language):
        said = answer[start:end]
        if refuses(said.lower(), library.definitions, reader.cues) or not without_courtesies(said).strip(" .,!"):
            continue
        for first, last in clause_spans(answer, start, end, reader.language):
            one = sentence_at(answer, first, last, reader.language, units=library.units)
            if one.read.stems:
                found.append(one)
        if len(found) >= MOST_CLAIMS:
            return found[:MOST_CLAIMS]
    return found


def source_of(name: str, number: int, text: str, library: Library) -> Source:
    """A text that claims are checked against."""
    return Source(name, number, sentences_of(text, library.reader.language), library.read(text))


def align(
    claim: Sentence, question: StemmedText, sources: Sequence[Source], weight: Weight, *, missed: bool = False
) -> Alignment:
    """A claim beside the sentence of the sources that says most of it.

    Args:
        claim: A claim, or a sentence that cites.
        question: What the answer answers; its words are known already.
        sources: Where support is looked for.
        weight: Of stems.
        missed: The answer has no word of its reference, so that a name or figure of a claim is another one.
    """
    said = list(claim.read.content) or list(claim.read.vocabulary)
    own = [one for one in said if one not in question.vocabulary] or said
    about = [one for one in said if not is_number(one)] or said  # two figures may differ and speak of the same thing
    best: tuple[float, float, Source, int] | None = None
    for source in sources:
        for place, near in _near(own, claim.read, source, weight).items():
            alike = _share(about, source.sentences[place].read, weight)
            if best is None or (near, alike) > best[:2]:
                best = (near, alike, source, place)
    lost = {one for one in own if not any(_has(one, claim.read, source.whole) for source in sources)}
    figures = sum(is_number(one) for one in lost)
    names = sum(one in claim.read.names and not is_number(one) for one in lost)
    anywhere = 1.0 - _mass(lost, weight) / _mass(own, weight)
    if missed and (rival := _rival(claim, figures, names, sources)) is not None:
        kind, source = rival
        return Alignment(claim, CONTRADICTED, 0.0, anywhere, 0.0, figures, names, kind, source, 0)
    if best is None:
        return Alignment(claim, NOT_FOUND, anywhere=anywhere, lost_figures=figures, lost_names=names)
    near, alike, source, place = best
    conflict = _conflict(claim, source.sentences[place], lost, alike, question)
    verdict: Found = NOT_FOUND
    if conflict:
        verdict = CONTRADICTED
    elif near >= ENOUGH and not figures and not names:
        verdict = SUPPORTED
    return Alignment(claim, verdict, near, anywhere, alike, figures, names, conflict, source, place)


def _rival(claim: Sentence, figures: int, names: int, sources: Sequence[Source]) -> tuple[str, Source] | None:
    """The first text of the reference that gives another figure or name than a claim does."""
    for source in sources:
        if source.name != REFERENCE or not source.sentences:
            continue
        if figures and source.whole.numbers:
            return "figures", source
        if (names or len(claim.read.stems) <= SHORT) and len(source.whole.stems) <= SHORT and not claim.read.numbers:
            return "names", source
    return None


def _mass(stems: Sequence[str] | set[str], weight: Weight) -> float:
    ordered = sorted(stems) if isinstance(stems, set) else stems  # a set's order is another one in each process
    return total(map(weight, ordered))


def _share(stems: Sequence[str], text: StemmedText, weight: Weight) -> float:
    return ratio(total(weight(one) for one in stems if one in text.vocabulary), _mass(stems, weight))


def _near(own: Sequence[str], claim: StemmedText, source: Source, weight: Weight) -> dict[int, float]:
    """For each sentence that has one of the words what share of them it has; half of what only its neighbours add."""
    whole = _mass(own, weight)
    found: dict[int, float] = {}
    hits: dict[int, set[str]] = {}
    for one in own:
        places: Sequence[int] = source.where.get(one, ())
        if not places and claim.quantities.get(one) and source.whole.gives(one, claim):  # in another unit
            places = [n for n, sentence in enumerate(source.sentences) if sentence.read.gives(one, claim)]
        for place in places:
            hits.setdefault(place, set()).add(one)
    for place, here in hits.items():
        beside = (hits.get(place - 1, set()) | hits.get(place + 1, set())) - here
        found[place] = (_mass(here, weight) + 0.5 * _mass(beside, weight)) / whole
    return found


def _has(one: str, claim: StemmedText, text: StemmedText) -> bool:
    """True if a text has a stem of a claim: a figure in any unit, a name in a similar spelling."""
    if is_number(one):
        return text.gives(one, claim)
    if one in text.vocabulary:
        return True
    return any(resemblance(one, other) >= 0.7 for other in text.near(one))


def _conflict(claim: Sentence, other: Sentence, lost: set[str], alike: float, question: StemmedText) -> str:
    """The part in which a sentence that speaks of the same thing differs; empty when nothing."""
    if alike < ALIKE:
        return ""
    ours, theirs = claim.read.vocabulary, other.read.vocabulary
    figures = [
        one for one in other.read.numbers if one not in question.vocabulary and not claim.read.gives(one, other.read)
    ]
    if figures and any(is_number(one) for one in lost):
        return "figures"
    if (claim.denied & theirs.keys()) - other.denied or (other.denied & ours.keys()) - claim.denied:
        return "negation"
    if any(
        opposite in theirs and opposite not in ours and one not in theirs
        for one in ours
        for opposite in OPPOSITES.get(one, ())
    ):
        return "opposites"
    others = [one for one in other.read.names if one not in ours and one not in question.vocabulary]
    if others and any(one in claim.read.names and not is_number(one) for one in lost):
        return "names"
    return ""
