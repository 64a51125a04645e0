"""A claim of an answer, a nugget that an answer should give, and what was found of them."""

import re
from dataclasses import dataclass
from typing import Literal

Found = Literal["supported", "contradicted", "not found"]
Importance = Literal["vital", "okay"]
SUPPORTED: Found = "supported"
CONTRADICTED: Found = "contradicted"
NOT_FOUND: Found = "not found"
VERDICTS: tuple[Found, ...] = (SUPPORTED, CONTRADICTED, NOT_FOUND)
VITAL: Importance = "vital"
OKAY: Importance = "okay"
NUGGETS = "nuggets"  # the input that holds them

_WRITTEN = re.compile(r"\s*(vital|okay)\s*:\s*", re.IGNORECASE)


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
    """A fact that a good answer gives.

    Args:
        text: In words.
        importance: ``vital`` or ``okay`` (TREC RAG 2024).
    """

    text: str
    importance: Importance = VITAL


@dataclass(frozen=True, slots=True)
class CheckedNugget:
    """A nugget with the sentence of the answer that gives it, contradicts it, or comes closest."""

    nugget: Nugget
    verdict: Found
    sentence: str = ""

    def to_json(self) -> dict[str, object]:
        """As rows of ``judge`` hold it."""
        return {
            "text": self.nugget.text,
            "importance": self.nugget.importance,
            "verdict": self.verdict,
            "sentence": self.sentence or None,
        }


def as_nugget(text: str) -> Nugget:
    """The nugget that a text is: ``vital: TEXT``, ``okay: TEXT``, or a text alone, which is vital."""
    found = _WRITTEN.match(text)
    if found is None:
        return Nugget(text.strip())
    return Nugget(text[found.end() :].strip(), OKAY if found[1].lower() == OKAY else VITAL)


def written(nugget: Nugget) -> str:
    """A nugget as the text that ``as_nugget`` reads."""
    return f"{nugget.importance}: {nugget.text}"


def recall(nuggets: tuple[CheckedNugget, ...], importance: Importance | None = None) -> float | None:
    """Share of the nuggets that the answer gives, or None where there are none.

    Args:
        nuggets: All of an item.
        importance: Only those; None counts vital nuggets whole and okay ones half, as the weighted score of TREC does.

    Source: Pradeep et al. (2024), Initial Nugget Evaluation Results for the TREC 2024 RAG Track, section 3.
    """
    weights = {VITAL: 1.0, OKAY: 0.5} if importance is None else {importance: 1.0}
    whole = sum(weights.get(one.nugget.importance, 0.0) for one in nuggets)
    given = sum(weights.get(one.nugget.importance, 0.0) for one in nuggets if one.verdict == SUPPORTED)
    return given / whole if whole else None
