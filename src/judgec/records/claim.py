"""A claim of an answer, a nugget or criterion that an answer should meet, and what was found of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Found = Literal["supported", "partly supported", "contradicted", "not found"]
Importance = Literal["vital", "okay"]
SUPPORTED: Found = "supported"
PARTLY: Found = "partly supported"  # of nuggets alone
CONTRADICTED: Found = "contradicted"
NOT_FOUND: Found = "not found"
VITAL: Importance = "vital"
OKAY: Importance = "okay"
NUGGETS = "nuggets"  # the input that holds them

WEIGHTS: Mapping[Importance, float] = {VITAL: 1.0, OKAY: 0.5}  # of nuggets without one of their own
GIVEN: Mapping[Found, float] = {SUPPORTED: 1.0, PARTLY: 0.5}  # share of a nugget's weight that an answer earns

_WRITTEN = re.compile(r"\s*(vital|okay|[+-]\d{1,6}(?:\.\d{1,6})?)\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim of an answer, or a sentence that cites, with what decides it.

    Args:
        text: As written in the answer.
        verdict: Supported, contradicted, or not found in what it was checked against.
        sentence: The sentence that decides; the closest one of a claim that was not found; empty without any.
        source: The input that the sentence stands in, such as ``contexts`` or ``reference``; empty where it is in none.
        number: Which text of that input, from 1; 0 where it is in none.
        start: Where the claim begins in the answer; -1 where it does not stand there word for word.
        end: Where it ends.
    """

    text: str
    verdict: Found
    sentence: str = ""
    source: str = ""
    number: int = 0
    start: int = -1
    end: int = -1

    def to_json(self) -> dict[str, object]:
        """As rows of ``judge`` hold it; what is unknown is null."""
        placed = self.start >= 0
        return {
            "text": self.text,
            "verdict": self.verdict,
            "sentence": self.sentence or None,
            "source": self.source or None,
            "number": self.number or None,
            "start": self.start if placed else None,
            "end": self.end if placed else None,
        }


@dataclass(frozen=True, slots=True)
class Nugget:
    """A fact that a good answer gives, or a criterion that it meets.

    Args:
        text: In words.
        importance: ``vital`` or ``okay`` (TREC RAG 2024).
        own_weight: Points, in place of those of its importance; below 0 of what an answer should not say (HealthBench).
    """

    text: str
    importance: Importance = VITAL
    own_weight: float | None = None

    @property
    def weight(self) -> float:
        """Its weight beside the others."""
        return WEIGHTS[self.importance] if self.own_weight is None else self.own_weight


@dataclass(frozen=True, slots=True)
class CheckedNugget:
    """A nugget with the sentence of the answer that gives it, contradicts it, or comes closest."""

    nugget: Nugget
    verdict: Found
    sentence: str = ""

    def to_json(self) -> dict[str, object]:
        """As rows of ``judge`` hold it."""
        own = self.nugget.own_weight
        return {
            "text": self.nugget.text,
            "importance": self.nugget.importance,
            **({} if own is None else {"weight": own}),
            "verdict": self.verdict,
            "sentence": self.sentence or None,
        }


def as_nugget(text: str) -> Nugget:
    """The nugget that a text is: ``vital: TEXT``, ``okay: TEXT``, ``+3: TEXT``, or a text alone, which is vital."""
    found = _WRITTEN.match(text)
    if found is None:
        return Nugget(text.strip())
    said = text[found.end() :].strip()
    if found[1][0] in "+-":
        return Nugget(said, own_weight=float(found[1]))
    return Nugget(said, OKAY if found[1].lower() == OKAY else VITAL)


def written(nugget: Nugget) -> str:
    """A nugget as the text that ``as_nugget`` reads."""
    return f"{nugget.importance if nugget.own_weight is None else f'{nugget.own_weight:+g}'}: {nugget.text}"


def recall(nuggets: tuple[CheckedNugget, ...], importance: Importance | None = None) -> float | None:
    """Share of the nuggets' weight that the answer earns, half where it gives one partly; None where there are none.

    Args:
        nuggets: All of an item. What one of a weight below 0 costs is taken from the share, which is never below 0.
        importance: Only those; None counts vital nuggets whole and okay ones half, as the weighted score of TREC does.

    Source: Pradeep et al. (2024), Initial Nugget Evaluation Results for the TREC 2024 RAG Track, section 3; weights
        below 0: Arora et al. (2025), HealthBench, section 3.
    """
    counted = [one for one in nuggets if importance in {None, one.nugget.importance}]
    whole = sum(max(0.0, one.nugget.weight) for one in counted)
    earned = sum(one.nugget.weight * GIVEN.get(one.verdict, 0.0) for one in counted)
    return max(0.0, earned / whole) if whole else None
