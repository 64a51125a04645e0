"""Simulated candidates whose true tau-b is known, for races."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.rank_correlation import tau_b_table

SHARES = np.array([0.08, 0.12, 0.2, 0.4, 0.2])  # of the experts' grades: skewed, as real labels are
PER_QUERY = 3
QUERY_SPREAD = 0.4  # of the difficulty that the items of a query share, and all candidates with them
ITEM_SPREAD = 0.5  # of the difficulty of an item, which all candidates share


@dataclass(frozen=True)
class Contest:
    """Candidates' grades of the same items; ``rows`` is what a race asks for."""

    expert: IntArray
    judged: IntArray
    cluster: IntArray

    def ratings(self, number: int, rows: Sequence[int]) -> GradePairs:
        chosen = np.asarray(rows)
        judge = self.judged[number, chosen]
        nothing = np.full(len(chosen), -1, dtype=np.int64)
        return GradePairs(
            self.expert[chosen],
            judge,
            judge.astype(np.float64),
            nothing,
            nothing,
            self.cluster[chosen],
            tuple(map(float, range(len(SHARES)))),
            int(self.cluster.max()) + 1,
        )


def contest(true: Sequence[float], items: int, seed: int) -> Contest:
    """Candidates with these tau-b's in the long run."""
    rng = np.random.default_rng(seed)
    expert = rng.choice(len(SHARES), size=items, p=SHARES)
    cluster = np.arange(items) // PER_QUERY
    shared = QUERY_SPREAD * rng.normal(size=cluster.max() + 1)[cluster] + ITEM_SPREAD * rng.normal(size=items)
    judged = np.stack([_judge(expert, shared, noise_for(tau), rng) for tau in rng.permutation(true)])
    return Contest(expert.astype(np.int64), judged, cluster.astype(np.int64))


def _judge(expert: IntArray, shared: FloatArray, noise: float, rng: np.random.Generator) -> IntArray:
    heard = expert + shared + noise * rng.normal(size=expert.size)
    return np.clip(np.rint(heard), 0, len(SHARES) - 1).astype(np.int64)


@lru_cache(maxsize=64)
def noise_for(tau: float) -> float:
    """The noise at which a candidate's tau-b is ``tau``, by bisection on many items."""
    low, high = 0.0, 6.0
    for _ in range(25):
        noise = (low + high) / 2
        rng = np.random.default_rng(0)
        expert = rng.choice(len(SHARES), size=20_000, p=SHARES)
        shared = np.hypot(QUERY_SPREAD, ITEM_SPREAD) * rng.normal(size=expert.size)
        counts = np.bincount(expert * len(SHARES) + _judge(expert, shared, noise, rng), minlength=len(SHARES) ** 2)
        found = float(tau_b_table(counts.reshape(len(SHARES), -1)))
        low, high = (noise, high) if found > tau else (low, noise)
    return noise
