"""Several rankings as one."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

RRF_K = 60  # Cormack, Clarke and Buettcher, SIGIR 2009

_Key = TypeVar("_Key", bound=Hashable)


def reciprocal_rank_fusion(rankings: Iterable[Sequence[_Key]], k: int = RRF_K) -> list[tuple[_Key, float]]:
    """Every key of the rankings with ``sum 1 / (k + rank)``, ranks from 1, best first.

    Keys of equal score keep the order in which they are first met: first ranking first, best rank first. A key
    that a ranking repeats counts there once, at its best rank. No rankings, or empty ones, give an empty list.

    Args:
        rankings: Keys, best first.
        k: The larger, the less the first places stand out; at least 0.

    Raises:
        ValueError: When ``k`` is negative.

    Source: Cormack, Clarke and Buettcher (2009), Reciprocal rank fusion outperforms Condorcet and individual
        rank learning methods, SIGIR.
    """
    if k < 0:
        raise ValueError(f"k: {k}; at least 0 is valid")
    scores: dict[_Key, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(dict.fromkeys(ranking), 1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
