"""Habits of one annotator beside the others: leniency, and which grades they give for which."""

import numpy as np

from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.measure import NO_ORDER, NOTHING_SCORED, compared_rows
from judgec.stats.agreement.statistic import MomentStatistic
from judgec.stats.agreement.tables import contingency
from judgec.stats.intervals.bootstrap import interval


def leniency(ratings: GradePairs, seed: int = 0, *, nominal: bool = False) -> Estimate:
    """The mean of an annotator's grade minus the consensus of the others, in scale units, with its interval.

    0 is neither lenient nor strict; above 0 the annotator grades higher than the others. Undefined for classes, and
    where nobody else graded the same items.

    Args:
        ratings: The others' consensus as ``expert``, the annotator's own grades as ``judge``.
        seed: Of the interval's resamples, which are of queries.
        nominal: The grades are classes.
    """
    compared = compared_rows("exact", ratings)
    if nominal or not len(compared.expert):
        return Estimate(value=None, note=NO_ORDER if nominal else NOTHING_SCORED)
    values = np.array(compared.values)
    apart = values[compared.judge] - values[compared.expert]
    return mean_estimate(apart, compared.cluster, seed)


def mean_estimate(values: FloatArray, cluster: IntArray, seed: int = 0) -> Estimate:
    """The mean with its 95 % interval over clusters.

    Args:
        values: Shape (n,), none NaN.
        cluster: Code of each value's query, shape (n,).
        seed: Of the resamples.
    """
    _, codes = np.unique(cluster, return_inverse=True)
    sums = [np.bincount(codes, weights).astype(np.float64) for weights in (None, values, values**2)]
    return interval(MomentStatistic(sums[0], sums[1], sums[2], 0.0, 0.0), seed=seed).estimate(len(values))


def confusion(ratings: GradePairs) -> list[list[int]]:
    """Number of times that the annotator gave each grade (columns) for each grade of the others' consensus (rows)."""
    compared = compared_rows("exact", ratings)
    table: list[list[int]] = contingency(compared.expert, compared.judge, compared.n_grades).tolist()
    return table
