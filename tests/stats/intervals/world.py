"""A population of clustered grades whose agreement is known, to count how often intervals hold it.

Latent qualities and judge errors are normal with intra-class correlation .3 in clusters of four items, cut
into five grades of which the best has half the items. Run as a module to print the coverage table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.rank_correlation import tau_b_table
from judgec.stats.agreement.statistic import Statistic, table_statistic
from judgec.stats.intervals.jackknife import Interval, difference_interval, interval
from judgec.stats.intervals.significance import level_for_test_use

SHARES = np.array([0.05, 0.08, 0.12, 0.25, 0.5])
CUTS = stats.norm.ppf(SHARES.cumsum()[:-1])
INTRA_CLASS = 0.3
ITEMS = 4
FAR = 9.0  # standard deviations: nothing lies beyond
TEST_USES = tuple(level_for_test_use(use) for use in (1, 2, 5, 10, 20))


def population_table(correlation: float) -> FloatArray:
    """Cell probabilities of expert and judge grades, by the bivariate normal distribution function."""
    edges = np.concatenate([[-FAR], CUTS, [FAR]])
    normal = stats.multivariate_normal(cov=np.array([[1.0, correlation], [correlation, 1.0]]))
    below = np.array([[float(normal.cdf(np.array([x, y]))) for y in edges] for x in edges])
    return np.asarray(np.diff(np.diff(below, axis=0), axis=1))


def population_tau_b(correlation: float) -> float:
    return float(tau_b_table(population_table(correlation)))


def latent(rng: np.random.Generator, n_clusters: int) -> FloatArray:
    shared = rng.normal(size=(n_clusters, 1))
    own = rng.normal(size=(n_clusters, ITEMS))
    return np.asarray(np.sqrt(INTRA_CLASS) * shared + np.sqrt(1 - INTRA_CLASS) * own)


@dataclass(frozen=True)
class Expert:
    """The expert side of one test set; judges are drawn on it."""

    quality: FloatArray
    common: FloatArray  # what all judges of this test set get wrong alike
    rng: np.random.Generator

    @property
    def grade(self) -> IntArray:
        return np.asarray(np.searchsorted(CUTS, self.quality).ravel())

    @property
    def cluster(self) -> IntArray:
        return np.repeat(np.arange(len(self.quality)), ITEMS)

    def judge_score(self, correlation: float) -> FloatArray:
        error = np.sqrt(0.3) * self.common + np.sqrt(0.7) * latent(self.rng, len(self.quality))
        score = correlation * self.quality + np.sqrt(1 - correlation**2) * error
        return np.asarray(score.ravel())

    def judge_tau_b(self, correlation: float) -> Statistic:
        return self.judge_statistic("tau_b", correlation)

    def judge_statistic(self, name: str, correlation: float) -> Statistic:
        judge = np.searchsorted(CUTS, self.judge_score(correlation))
        return table_statistic(name, self.grade, judge, self.cluster, n_grades=len(SHARES))


def draw_expert(rng: np.random.Generator, n_clusters: int) -> Expert:
    return Expert(latent(rng, n_clusters), latent(rng, n_clusters), rng)


@dataclass(frozen=True)
class Coverage:
    """Shares of intervals that hold, lie below and lie above the population value."""

    held: float
    below: float
    above: float


def coverage(truth: float, intervals: Sequence[tuple[float, float]]) -> Coverage:
    low, high = np.array(intervals).T
    return Coverage(
        float(((low <= truth) & (truth <= high)).mean()),
        float((high < truth).mean()),
        float((low > truth).mean()),
    )


def limits(found: Interval) -> tuple[float, float]:
    """The interval; one that is missing holds nothing."""
    if found.low is None or found.high is None:
        return float("nan"), float("nan")
    return found.low, found.high


def tau_b_coverage(
    n_clusters: int, correlations: tuple[float, float], *, repeats: int, seed: int
) -> tuple[Coverage, Coverage]:
    """Coverage of tau-b of the first judge and of the difference between the two, at 95 %."""
    rng = np.random.default_rng(seed)
    singles, differences = [], []
    for _ in range(repeats):
        expert = draw_expert(rng, n_clusters)
        a, b = (expert.judge_tau_b(correlation) for correlation in correlations)
        singles.append(limits(interval(a)))
        differences.append(limits(difference_interval(a, b)))
    first, second = (population_tau_b(correlation) for correlation in correlations)
    return coverage(first, singles), coverage(first - second, differences)


def tail_p(n_clusters: int, *, repeats: int, statistic: str = "tau_b") -> FloatArray:
    """P-values of the difference between two equal judges on many test sets."""
    rng = np.random.default_rng(3)
    found = np.ones(repeats)
    for repeat in range(repeats):
        expert = draw_expert(rng, n_clusters)
        a, b = (expert.judge_statistic(statistic, 0.75) for _ in range(2))
        p = difference_interval(a, b).p
        found[repeat] = 1.0 if p is None else p
    return found


if __name__ == "__main__":
    for n_clusters in (10, 15, 30, 100):
        for correlations in ((0.8, 0.7), (0.6, 0.6), (0.92, 0.85)):
            row = tau_b_coverage(n_clusters, correlations, repeats=4000, seed=1)
            cells = "   ".join(f"{c.held:.3f} (below {c.below:.3f}, above {c.above:.3f})" for c in row)
            print(f"{n_clusters:4d} clusters, latent correlations {correlations}: tau-b, difference: {cells}")
    for n_clusters in (10, 15, 30):
        for statistic in ("tau_b", "kappa", "qwk"):
            p = tail_p(n_clusters, repeats=40_000, statistic=statistic)
            shares = "  ".join(f"{alpha:.5f}: {(p <= alpha).mean():.5f}" for alpha in (0.05, *TEST_USES))
            print(f"{n_clusters:4d} clusters, {statistic}, equal judges told apart, by level: {shares}")
