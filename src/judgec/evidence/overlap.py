"""Measures how much of one analysed text stands in another; the feature families share it."""

from collections.abc import Callable, Container, Iterable
from functools import lru_cache, reduce
from itertools import pairwise
from math import sqrt
from operator import add

import numpy as np

from judgec.evidence.text import StemmedText, Trigrams

MOST_NEAREST = 20_000  # stems whose likeness is kept with a text that stays for long
Weight = Callable[[str], float]


def ratio(part: float, whole: float, empty: float = 0.0) -> float:
    """``part / whole``; ``empty`` when there is nothing to share out."""
    return part / whole if whole > 0 else empty


def total(numbers: Iterable[float]) -> float:
    """Their sum, added in order: since Python 3.12 ``sum`` rounds otherwise, and judges keep the bits of features."""
    return reduce(add, numbers, 0.0)


def support(stems: Iterable[str], known: Container[str], weight: Weight, empty: float) -> float:
    """Weighted share of ``stems`` that are ``known``; ``empty`` when there are none."""
    found, whole = 0.0, 0.0
    for stem in stems:
        mass = weight(stem)
        whole += mass
        if stem in known:
            found += mass
    return found / whole if whole > 0.0 else empty


def soft_support(stems: Iterable[str], passage: StemmedText, weight: Weight, empty: float) -> float:
    """As ``support``, but a missing stem counts as much as its most similar stem in ``passage``
    resembles it.
    """
    found, whole = 0.0, 0.0
    vocabulary = passage.vocabulary
    for stem in stems:
        mass = weight(stem)
        whole += mass
        found += mass if stem in vocabulary else mass * likeliest(stem, passage)
    return ratio(found, whole, empty)


def supports(stems: Iterable[str], passage: StemmedText, weight: Weight, empty: float) -> tuple[float, float, float]:
    """``support``, ``soft_support``, and the weight of the heaviest stem that is missing, in one pass."""
    found, soft, whole, heaviest = 0.0, 0.0, 0.0, 0.0
    vocabulary, nearest = passage.vocabulary, passage.nearest
    for stem in stems:
        mass = weight(stem)
        whole += mass
        if stem in vocabulary:
            found += mass
            soft += mass
            continue
        if mass > heaviest:  # noqa: PLR1730 - a call costs more
            heaviest = mass
        likeness = nearest.get(stem)
        if likeness is None:
            likeness = likeliest(stem, passage)
        if likeness:
            soft += mass * likeness
    return ratio(found, whole, empty), ratio(soft, whole, empty), heaviest


def likeliest(stem: str, passage: StemmedText) -> float:
    """Similarity of the most similar stem of a passage to one that it does not have."""
    nearest = passage.nearest
    likeness = nearest.get(stem)
    if likeness is None:
        if len(nearest) >= MOST_NEAREST:
            nearest.clear()
        found = passage.by_prefix.get(stem[:2]) if len(stem) > 3 else None
        likeness = 0.0 if found is None else max([resemblance(stem, other) for other in found.split(" ")])
        nearest[stem] = likeness
    return likeness


@lru_cache(maxsize=200_000)
def _bigrams(word: str) -> frozenset[str]:
    return frozenset(map("".join, pairwise(word)))


@lru_cache(maxsize=400_000)
def resemblance(a: str, b: str) -> float:
    """Dice coefficient of two words' character bigrams, 0 below one half (chance similarity of unrelated
    words).
    """
    if 2 * min(len(a), len(b)) < max(len(a), len(b)):
        return 0.0
    first, second = _bigrams(a), _bigrams(b)
    dice = 2 * len(first & second) / max(1, len(first) + len(second))
    return dice if dice >= 0.5 else 0.0


def lcs(stems: Iterable[str], passage: StemmedText) -> int:
    """Length of the longest common subsequence of ``stems`` and the passage's stems.

    Source: Hyyro (2004), Bit-parallel LCS-length computation revisited: one addition a stem, whatever the length.
    """
    full = (1 << len(passage.stems)) - 1
    row = full
    for mask in map(passage.masks.__getitem__, stems):
        hits = row & mask
        if hits:
            row = (row + hits) | (row - hits)  # what is carried beyond the passage stays there
    return len(passage.stems) - (row & full).bit_count()


def contains_run(stems: list[str], passage: StemmedText) -> bool:
    """True when ``stems`` stand in ``passage`` as one unbroken run; nothing stands nowhere."""
    if not stems or not all(map(passage.vocabulary.__contains__, stems)):
        return False
    masks, hits = passage.masks, -1
    for offset, stem in enumerate(stems):
        hits &= masks[stem] >> offset
    return hits > 0


def gram_orders(stems: Iterable[str], passage: StemmedText) -> list[int]:
    """For each stem the longest n-gram ending there, up to 4, that stands in ``passage``; 0 for a missing
    stem.
    """
    orders: list[int] = []
    one = two = three = 0
    for mask in map(passage.masks.__getitem__, stems):
        pair = (one << 1) & mask if one and mask else 0
        if not pair:  # nor anything longer
            orders.append(1 if mask else 0)
            one, two, three = mask, 0, 0
            continue
        triple = (two << 1) & mask if two else 0
        orders.append((4 if three and (three << 1) & mask else 3) if triple else 2)
        one, two, three = mask, pair, triple
    return orders


def fragments(stems: Iterable[str], passage: StemmedText) -> list[int]:
    """Lengths of the runs that ``stems`` copy from ``passage``, read greedily from left to right.

    Source: Grusky, Naaman and Artzi (2018), Newsroom, section 3: extractive fragments.
    """
    lengths: list[int] = []
    hits = length = 0
    for mask in map(passage.masks.__getitem__, stems):
        onward = (hits << 1) & mask
        if onward:
            hits, length = onward, length + 1
            continue
        if length:
            lengths.append(length)
        hits, length = mask, 1 if mask else 0
    if length:
        lengths.append(length)
    return lengths


def cosine(a: Trigrams, b: Trigrams) -> float:
    """Cosine of two vectors of counts; 0 when one is empty."""
    dot = int(np.dot(a.counts, a.within(b)))
    norms = int(np.dot(a.counts, a.counts)) * int(np.dot(b.counts, b.counts))
    return dot / sqrt(norms) if norms else 0.0


def f1(precision: float, recall: float) -> float:
    """Harmonic mean; 0 when both are 0."""
    return ratio(2 * precision * recall, precision + recall)
