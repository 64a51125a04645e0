"""Objectives of numbers on an interval scale, with unscored items counted against the judge.

An unscored item is taken to be as wrong as can be: it loses every comparison with another item, and is off by the whole
way to the farther end of the scale. So leaving one more item unscored does not pay, but for a thousandth where people
gave many equal numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.pair_statistic import Both, Cells, PairStatistic, RankStatistic, ScoredPairs, Ties
from judgec.stats.agreement.registry import clusters_of
from judgec.stats.agreement.statistic import Statistic, mean, spearman_score, tau_b_score
from judgec.stats.agreement.tables import ratio

PAIRS, TRIPLES = 2, 3  # what a rank correlation is a share of: tau-b of pairs, Spearman's rho of triples


@dataclass(frozen=True, slots=True, eq=False)
class NumberStatistic:
    """A statistic of scored items, and how much of what it compares the judge left unscored.

    Its value is share * inner - (1 - share), where share is the part of the pairs (triples) that experts tell apart of
    which all members are scored; with all scored it is the inner one. An undefined one counts as 0.

    Args:
        inner: Of the scored items.
        scored: Their groups of equal numbers by people.
        everything: The same of all items.
        power: ``PAIRS`` or ``TRIPLES``; 0 where ``inner`` counts unscored items itself.
        shares: One number an item, shape (n_items,), whose mean is the value.
    """

    inner: Statistic
    scored: Ties
    everything: Ties
    power: int
    shares: FloatArray

    @property
    def items(self) -> FloatArray:
        """Number of items in each cluster, shape (n_clusters,)."""
        return self.everything.items if self.power else self.inner.items

    @property
    def content(self) -> FloatArray:
        """That of the scored items, and how many there are of each number."""
        if not self.power:
            return self.inner.content
        return np.hstack([self.inner.content, self.everything.cells.content])

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Smallest and largest possible value."""
        return self.inner.bounds

    def point(self) -> float:
        """The value on the items as they are."""
        return float(self.under(np.ones((1, self.items.size)))[0])

    def under(self, weights: FloatArray) -> FloatArray:
        """The value of each resample, shape (B,)."""
        return self._of(self.inner.under(weights), self.part(weights)[0][:, 0])

    def without_one(self, weights: FloatArray) -> FloatArray:
        """Each resample's value without one draw of each cluster."""
        values = self._of(self.inner.without_one(weights), self.part(weights)[1])
        return np.where(weights > 0, values, np.nan)

    def _of(self, inner: FloatArray, share: FloatArray) -> FloatArray:
        return share * np.nan_to_num(inner) - (1.0 - share)

    def part(self, weights: FloatArray) -> Both:
        """The part of pairs or triples that are scored, of each resample and without one draw of each cluster."""
        if not self.power or self.scored.cells.count.sum() == self.everything.cells.count.sum():
            return np.ones((len(weights), 1)), np.ones(weights.shape)
        some, every = (ties.untied(weights, self.power) for ties in (self.scored, self.everything))
        whole, left = (ratio(a, b, undefined=0.0) for a, b in zip(some, every, strict=True))
        return whole, left


def tau_b_of_numbers(ratings: GradePairs) -> NumberStatistic:
    """Kendall's tau-b of the score with what people gave."""
    return _ranked(ratings, tau_b_score, PAIRS)


def spearman_of_numbers(ratings: GradePairs) -> NumberStatistic:
    """Spearman's rho of the score with what people gave."""
    return _ranked(ratings, spearman_score, TRIPLES)


def closeness_of_numbers(ratings: GradePairs) -> NumberStatistic:
    """Minus the mean absolute error as a share of the range: 0 where judge and people give the same, -1 the worst."""
    given, low, high = ratings.given, ratings.values[0], ratings.values[-1]
    farthest = np.maximum(given - low, high - given)
    error = np.where(np.isnan(ratings.score), farthest, np.abs(ratings.score - given)) / ratings.span
    inner = mean(-error, ratings.cluster, n_clusters=ratings.n_clusters, bounds=(-1.0, 0.0))
    nothing = _ties(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0)
    return NumberStatistic(inner, nothing, nothing, 0, -error)


def _ranked(ratings: GradePairs, build: Callable[..., PairStatistic | RankStatistic], power: int) -> NumberStatistic:
    order, (cluster, n_clusters) = ratings.order[:, 0], clusters_of(ratings)
    known = ~np.isnan(ratings.score)
    people, judge = order[known], ratings.score[known]
    inner = build(people, judge, cluster[known], n_clusters=n_clusters)
    scored, everything = (_ties(order[rows], cluster[rows], n_clusters) for rows in (known, known | True))
    found = NumberStatistic(inner, scored, everything, power, np.zeros(len(known)))
    if not len(people):
        return replace(found, shares=np.full(len(known), -1.0))
    each = np.arange(len(people))
    if power == PAIRS:
        own = ScoredPairs.of(people, judge, each, len(each)).signed(np.ones((1, len(each))))[0]
    else:
        own = (rankdata(people) - rankdata(people).mean()) * (rankdata(judge) - rankdata(judge).mean())
    whole = np.nan_to_num(inner.point()) * own * len(known) / total if (total := own.sum()) else np.zeros(len(own))
    share = float(found.part(np.ones((1, n_clusters)))[0][0, 0])
    shares = np.full(len(known), share - 1.0)
    shares[known] += share * whole
    return replace(found, shares=shares)


def _ties(order: IntArray, cluster: IntArray, n_clusters: int) -> Ties:
    cells = Cells.of(order, np.zeros(order.shape), cluster, n_clusters)
    return Ties.of(cells, cells.grade)
