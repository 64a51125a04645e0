"""Queries of several models in one pool: without duplicates and near-duplicates, sampled by model."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgec.rag.queries.sampling import seeded

SIMILAR = 0.8  # Jaccard of character shingles from which two queries count as one
SHINGLE = 4  # characters
ROUNDING = 1e-9  # (1 - .8) * 25 is 4.999...
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_NOISE = re.compile(r"[\W_]+")


class Near:
    """Finds near-duplicates: an inverted index of character shingles, exact Jaccard on the candidates.

    Texts with different figures are different: "Fenn 20" is not "Fenn 25". Rare shingles are looked up first, so that a
    search touches few others.

    Args:
        threshold: Jaccard from which two texts are near-duplicates.
    """

    def __init__(self, threshold: float = SIMILAR) -> None:
        self._threshold = threshold
        self._texts: list[tuple[frozenset[str], frozenset[str]]] = []
        self._where: dict[str, list[int]] = {}

    def seen(self, text: str) -> bool:
        """True when a text that was added is the same or nearly the same."""
        mine = shingles(text)
        # Two sets that share a Jaccard of t share one of any (1 - t) |A| + 1 shingles of A.
        enough = int((1 - self._threshold) * len(mine) + ROUNDING) + 1
        rare = sorted(mine, key=lambda shingle: (len(self._where.get(shingle, ())), shingle))[:enough]
        others = {number for shingle in rare for number in self._where.get(shingle, ())}
        figures = frozenset(_FIGURE.findall(text))
        return any(
            figures == known and jaccard(mine, theirs) >= self._threshold
            for theirs, known in (self._texts[number] for number in others)
        )

    def add(self, text: str) -> None:
        """Remember a text."""
        mine = shingles(text)
        for shingle in mine:
            self._where.setdefault(shingle, []).append(len(self._texts))
        self._texts.append((mine, frozenset(_FIGURE.findall(text))))


def shingles(text: str) -> frozenset[str]:
    """Character 4-grams of a text without case and punctuation; a short text is one shingle."""
    line = f" {_NOISE.sub(' ', text.casefold()).strip()} "
    if len(line) <= SHINGLE:
        return frozenset([line])
    return frozenset(line[at : at + SHINGLE] for at in range(len(line) - SHINGLE + 1))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Size of the intersection over that of the union; 1 for two empty sets."""
    union = len(a | b)
    return len(a & b) / union if union else 1.0


@dataclass(frozen=True, slots=True)
class Pooled:
    """The rest of a pool after filtering.

    Args:
        kept: Positions in the pool, in order.
        dropped: How many were dropped, by stratum (the model) and reason.
    """

    kept: tuple[int, ...]
    dropped: Mapping[str, Mapping[str, int]]


def deduplicate(texts: Sequence[str], strata: Sequence[str], known: Sequence[str] = ()) -> Pooled:
    """Drop what repeats an earlier text, whoever wrote it, or one of ``known`` (the experts').

    Strata take turns, so that the first model of the list does not win every duplicate.

    Args:
        texts: The pool.
        strata: Who wrote each.
        known: Texts that must not be repeated.
    """
    by: dict[str, list[int]] = {}
    for number, stratum in enumerate(strata):
        by.setdefault(stratum, []).append(number)
    turns = sorted(
        (turn, rank, number) for rank, numbers in enumerate(by.values()) for turn, number in enumerate(numbers)
    )
    near, exact = Near(), set(map(_same, known))
    for text in known:
        near.add(text)
    dropped: dict[str, Counter[str]] = {stratum: Counter() for stratum in by}
    kept: list[int] = []
    for _, _, number in turns:
        text = texts[number]
        if _same(text) in exact:
            dropped[strata[number]]["duplicate"] += 1
        elif near.seen(text):
            dropped[strata[number]]["near-duplicate"] += 1
        else:
            exact.add(_same(text))
            near.add(text)
            kept.append(number)
    return Pooled(tuple(sorted(kept)), {stratum: dict(counts) for stratum, counts in dropped.items()})


def stratified(
    strata: Sequence[str], sizes: Mapping[str, int], seed: int
) -> tuple[dict[str, list[int]], dict[str, int]]:
    """A seeded sample of each stratum, and what is missing.

    Args:
        strata: The stratum of each member.
        sizes: How many of each; strata that are not named give none.
        seed: Same seed, same sample.

    Returns:
        Positions by stratum, ascending; and by stratum how many are missing, only where some are.
    """
    chosen: dict[str, list[int]] = {}
    missing: dict[str, int] = {}
    for stratum, size in sizes.items():
        members = [number for number, name in enumerate(strata) if name == stratum]
        chosen[stratum] = sorted(seeded(seed, "sample", stratum).sample(members, min(size, len(members))))
        if len(members) < size:
            missing[stratum] = size - len(members)
    return chosen, missing


def _same(text: str) -> str:
    return _NOISE.sub(" ", text.casefold()).strip()
