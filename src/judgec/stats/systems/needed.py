"""Counts how many more labels would tell the best system from those that it is not told apart from."""

from collections.abc import Sequence

import numpy as np
from scipy import special

from judgec.records.label import FloatArray
from judgec.records.ratings import BoolArray
from judgec.stats.systems.means import MIN_LABELLED, Means, differences

MOST = 10_000_000  # labels; who needs more has equal systems
POWER = 0.8  # share of tables in which so many labels would do
TOLD = 0.5  # standard errors above what a table tells apart: no undecided one is taken to be of more
HALVINGS = 40


def more_labels(
    means: Means, value: FloatArray, rows: Sequence[int], open_: Sequence[int], first: int, known: BoolArray
) -> dict[int, int | None]:
    """How many more labels of each system tell it from the first.

    What labels add to the variance of a difference shrinks with their number; what the judge's grades add stays. A
    difference counts as told apart where it is in four of five tables, at the step of Holm's correction that it would
    have there.

    Args:
        means: Corrected ones.
        value: What the systems' means are taken to be.
        rows: Of each system.
        open_: Systems that are not told apart from the first.
        first: The best one.
        known: Systems that have an interval.

    Returns:
        By system, the first among them where another one needs labels of it too: more than it has rows where further
        queries are needed; None where the two are equal.
    """
    short = MIN_LABELLED - np.minimum(means.n, means.queries)
    if not known[first]:
        return {i: int(one) for i, one in enumerate(short) if one > 0}
    group, systems = [first, *open_], np.flatnonzero(known)
    weights = differences(systems, len(value))
    squared = weights**2
    _, variance, freedom = means.contrasts(weights)
    gaps = _gaps(np.abs(weights @ np.where(known, value, 0.0)), np.sqrt(variance), freedom, means.level)
    now, most = np.maximum(means.n, 1).astype(np.float64), np.maximum(np.array(rows), 1).astype(np.float64)
    each = means.cells.products(means.labels) * np.sqrt(means.factor[:, None] * means.factor[None, :])

    def of_labels(n: FloatArray) -> FloatArray:
        """What the labels add to the variance of each difference, with so many of each system."""
        fewer = np.sqrt(now / n)
        summed: FloatArray = np.einsum("ij,jk,ik->i", weights * fewer, each, weights * fewer)
        return np.maximum(summed, 0.0)

    stays = np.maximum(variance - squared @ means.unseen - of_labels(now), 0.0)

    def told(pair: int, labels: int) -> bool:
        """The pair is told apart with so many labels of each system of the group; past its rows there are new ones."""
        n = now.copy()
        n[group] = np.maximum(n[group], labels)
        had = np.minimum(n, most)
        over = squared @ (had / n) / 2.0
        error = np.sqrt(over * (stays + of_labels(had)) + squared @ (means.unseen * (now / n) ** 2))
        t = gaps / np.maximum(error, 1e-12)
        step = int((t <= t[pair]).sum())  # Holm: as many pairs are no surer than this one
        df = freedom[pair] * float((squared[pair] @ n) / (squared[pair] @ now))
        return bool(t[pair] >= special.stdtrit(df, POWER) - special.stdtrit(df, (1.0 - means.level) / 2.0 / step))

    found: dict[int, int | None] = {}
    for system in open_:
        if not known[system]:
            if short[system] > 0:
                found[system] = int(short[system])
            continue
        pair = int(np.flatnonzero((weights[:, first] != 0) & (weights[:, system] != 0))[0])
        low, high = int(min(now[first], now[system])), MOST
        if not told(pair, high):
            found[system] = None
            continue
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if told(pair, middle) else (middle + 1, high)
        found[system] = max(low - int(means.n[system]), 0)
        found[first] = max(found.get(first) or 0, low - int(means.n[first]), 0)
    return found


def _gaps(seen: FloatArray, error: FloatArray, freedom: FloatArray, level: float) -> FloatArray:
    """How much the systems of each pair differ, by what a table shows that does not tell them apart.

    Such a table shows a difference below the one that it would tell: less than there is. The median-unbiased estimate
    is the difference of which half of such tables show less; at most a difference that most tables would tell.
    Source: Fithian, Sun and Taylor (2014), Optimal Inference After Model Selection, arXiv:1410.2597.
    """
    t = seen / np.maximum(error, 1e-12)
    step = np.array([(t <= one).sum() for one in t])  # Holm: as many pairs are no surer than this one
    least = -special.stdtrit(freedom, (1.0 - level) / 2.0 / step)
    low, high = t.copy(), np.maximum(t, least + TOLD)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        less = special.log_ndtr(t - middle) - special.log_ndtr(least - middle) > np.log(0.5)
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return np.where(t < least, low, t) * error
