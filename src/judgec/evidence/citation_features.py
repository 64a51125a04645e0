"""Sentences that cite beside the documents that they cite: does each of these say what the sentence says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log1p

from judgec.evidence.claims import Alignment, Source, align, source_of
from judgec.evidence.overlap import Weight, ratio, total
from judgec.evidence.sentences import Sentence, sentence_at, sentence_spans
from judgec.evidence.text import Library
from judgec.records.citation import numbers_of
from judgec.records.claim import CONTRADICTED, NOT_FOUND, SUPPORTED, CheckedClaim
from judgec.records.label import Item

CITATION_NAMES = (
    "sentences",  # that cite
    "citations",
    "uncited",  # share of the sentences
    "missing",  # share of the citations of a document that is not there
    "supported",  # share of the citations
    "contradicted",
    "not_found",
    "near_mean",  # how much of a sentence the cited document's deciding sentence has, one document at a time
    "near_min",
    "together_mean",  # the same of all documents that a sentence cites
    "together_min",
    "anywhere_mean",
    "anywhere_min",
    "alike_min",
    "elsewhere",  # how much better the best document that is not cited is, the mean over sentences
    "figures",  # share of the citations whose document gives other figures
    "negation",
    "opposites",
    "names",
    "lost_figures",
    "lost_names",
)

# [9: missing] is how records.citation writes a citation of no document; [9: not shown] can be held beside nothing.
_MARK = re.compile(r"\[\s*(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\s*(?:: missing)?\]")
_SPAN = re.compile(r"(\d{1,3})\s*[–-]\s*(\d{1,3})")
_MOST_IN_SPAN = 50  # of one mark: [1-999] is no citation of them all


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence that cites.

    Args:
        sentence: As written.
        citations: Each document that it cites with what that says of it; None where there is no such document.
        together: What all of them together say.
        elsewhere: What the documents say that it does not cite, or None without any.
    """

    sentence: Sentence
    citations: tuple[tuple[int, Alignment | None], ...]
    together: Alignment
    elsewhere: Alignment | None

    @property
    def checked(self) -> list[CheckedClaim]:
        """One a citation."""
        missing = CheckedClaim(self.sentence.text, NOT_FOUND, start=self.sentence.start, end=self.sentence.end)
        return [
            replace(missing if one is None else one.checked, source="contexts", number=number)
            for number, one in self.citations
        ]


@dataclass(frozen=True, slots=True)
class CheckedCitations:
    """The sentences of an answer that cite, and how many do not."""

    sentences: tuple[CitedSentence, ...]
    uncited: int


def check_citations(item: Item, library: Library, weight: Weight) -> CheckedCitations | None:
    """Checks an item's answer against the cited documents; None where it has no document or says nothing.

    An answer without any mark such as ``[2]`` is taken to cite all of its documents.
    """
    answer, documents = item.text("answer"), numbered(item.texts("contexts"), library)
    sentences = [one for one in _sentences(answer, library) if one.read.stems]
    if not sentences or not documents:
        return None
    cited = _cited(answer, sentences)
    everything = not any(cited)
    found = []
    for sentence, numbers in zip(sentences, cited, strict=True):
        wanted = sorted(documents) if everything else numbers
        if wanted:
            found.append(_beside(sentence, wanted, documents, library, weight))
    return CheckedCitations(tuple(found), 0 if everything else sum(not numbers for numbers in cited))


def numbered(contexts: Sequence[str], library: Library) -> dict[int, Source]:
    """The documents by the number that cites them: that at their beginning where all have one, else their place."""
    named = zip(numbers_of(contexts), contexts, strict=True)
    made = (source_of("contexts", number, text, library) for number, text in named)
    return {source.number: source for source in made if source.sentences}


def citation_features(checked: CheckedCitations) -> tuple[float, ...]:
    """The numbers of ``CITATION_NAMES``."""
    sentences = checked.sentences
    pairs = [one for sentence in sentences for _, one in sentence.citations]
    there, n = [one for one in pairs if one is not None], len(pairs)
    verdicts = [one.verdict if one is not None else NOT_FOUND for one in pairs]
    near, together = [one.near if one is not None else 0.0 for one in pairs], [one.together.near for one in sentences]
    anywhere = [one.together.anywhere for one in sentences]
    better = [
        max(0.0, one.elsewhere.near - one.together.near) if one.elsewhere is not None else 0.0 for one in sentences
    ]
    return (
        log1p(len(sentences)),
        log1p(n),
        ratio(checked.uncited, checked.uncited + len(sentences)),
        (n - len(there)) / n,
        *(verdicts.count(verdict) / n for verdict in (SUPPORTED, CONTRADICTED, NOT_FOUND)),
        total(near) / n,
        min(near),
        total(together) / len(together),
        min(together),
        total(anywhere) / len(anywhere),
        min(anywhere),
        min(one.together.alike for one in sentences),
        total(better) / len(better),
        *(sum(one.conflict == kind for one in there) / n for kind in ("figures", "negation", "opposites", "names")),
        log1p(sum(one.together.lost_figures for one in sentences)),
        log1p(sum(one.together.lost_names for one in sentences)),
    )


def _sentences(answer: str, library: Library) -> list[Sentence]:
    language = library.reader.language
    spans = sentence_spans(answer, language)
    return [sentence_at(answer, start, end, language, units=library.units) for start, end in spans]


def _cited(answer: str, sentences: Sequence[Sentence]) -> list[list[int]]:
    """The numbers that each sentence cites; a mark behind a sentence's dot is that sentence's."""
    found: list[list[int]] = [[] for _ in sentences]
    for mark in _MARK.finditer(answer):
        before = [place for place, one in enumerate(sentences) if one.start <= mark.start()]
        place = before[-1] if before else 0
        found[place] += [number for number in _numbers(mark[1]) if number not in found[place]]
    return found


def cited_numbers(text: str) -> list[int]:
    """All numbers that the marks of a text cite, ascending."""
    return sorted({number for mark in _MARK.finditer(text) for number in _numbers(mark[1])})


def _numbers(said: str) -> list[int]:
    spans = {span.span(): (int(span[1]), int(span[2])) for span in _SPAN.finditer(said)}
    rest = _SPAN.sub(" ", said)
    listed = [number for low, high in spans.values() for number in range(low, min(high, low + _MOST_IN_SPAN) + 1)]
    return sorted({*listed, *map(int, re.findall(r"\d+", rest))})


def _beside(
    sentence: Sentence, numbers: Sequence[int], documents: dict[int, Source], library: Library, weight: Weight
) -> CitedSentence:
    nothing = library.read("")
    there = [documents[number] for number in numbers if number in documents]
    others = [source for number, source in documents.items() if number not in numbers]
    return CitedSentence(
        sentence,
        tuple(
            (number, align(sentence, nothing, [documents[number]], weight) if number in documents else None)
            for number in numbers
        ),
        align(sentence, nothing, there, weight),
        align(sentence, nothing, others, weight) if others else None,
    )
