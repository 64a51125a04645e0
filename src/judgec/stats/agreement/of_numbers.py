"""Objectives of numbers on an interval scale, with unscored items counted against the judge.

An unscored item is taken to be as wrong as can be: it loses every comparison with another item, and is off by the whole
way to the farther end of the scale. So leaving one more item unscored does not pay, but for a thousandth where people
gave many equal numbers.
"""

from collections.abc import Callable

import numpy as np

from judgec.records.label import FloatArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.registry import clusters_of
from judgec.stats.agreement.score_correlation import ScoredItems, scored_items, spearman_score, tau_b_score
from judgec.stats.agreement.statistic import Statistic, mean
from judgec.stats.agreement.tables import ratio

PAIRS, TRIPLES = 2, 3  # what a rank correlation is a share of: tau-b of pairs, Spearman's rho of triples


def tau_b_of_numbers(ratings: GradePairs) -> Statistic:
    """Kendall's tau-b of the score with what people gave."""
    return _ranked(ratings, tau_b_score, PAIRS)


def spearman_of_numbers(ratings: GradePairs) -> Statistic:
    """Spearman's rho of the score with what people gave."""
    return _ranked(ratings, spearman_score, TRIPLES)


def closeness_of_numbers(ratings: GradePairs) -> Statistic:
    """Minus the mean absolute error as a share of the range: 0 where judge and people give the same, -1 the worst."""
    return mean(-absolute_errors(ratings), ratings.cluster, n_clusters=ratings.n_clusters, bounds=(-1.0, 0.0))


def absolute_errors(ratings: GradePairs) -> FloatArray:
    """Distance of the score from what people gave as a share of the range, shape (n,)."""
    given, low, high = ratings.given, ratings.values[0], ratings.values[-1]
    farthest = np.maximum(given - low, high - given)
    error: FloatArray = np.where(np.isnan(ratings.score), farthest, np.abs(ratings.score - given)) / ratings.span
    return error


def _ranked(ratings: GradePairs, build: Callable[[ScoredItems], Statistic], power: int) -> Statistic:
    """``part * value - (1 - part)``: of the pairs (triples) that people tell apart, the part that is all scored.

    An undefined value counts as 0.
    """
    order, (cluster, n_clusters) = ratings.order[:, 0], clusters_of(ratings)
    known = ~np.isnan(ratings.score)
    inner = build(scored_items(order[known], ratings.score[known], cluster[known], n_clusters=n_clusters))
    everything, scored = (
        scored_items(order[rows], np.zeros(rows.sum()), cluster[rows], n_clusters=n_clusters)
        for rows in (known | True, known)
    )

    def of(value: FloatArray, at: slice) -> FloatArray:
        if known.all():
            return np.nan_to_num(value)
        part = ratio(scored.untied(scored.expert, power), everything.untied(everything.expert, power), undefined=0.0)
        return part[at] * np.nan_to_num(value) - (1.0 - part[at])

    return Statistic(
        everything.by_cluster(everything.weight),
        lambda: float(of(np.array([inner.point()]), slice(1))[0]),
        lambda: of(inner.without(), slice(1, None)),
        inner.bounds,
    )
