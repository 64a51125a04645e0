"""Time the bootstraps of tau-b against scipy.stats.bootstrap, all in one run.

    python -m benchmarks.bootstrap

2,000 items with five grades in 500 queries, 10,000 resamples. SciPy gets the same statistic
(``scipy.stats.kendalltau``) and the percentile method, which is its cheapest. Its time is that of
``SCIPY_RESAMPLES`` resamples, scaled to 10,000: each costs the same. Medians of ``ROUNDS`` rounds that
alternate between the candidates, so that a busy machine slows both.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np
from scipy import stats

from benchmarks.figures import all_done
from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.statistic import TableStatistic, spearman_score, table_statistic, tau_b_score
from judgec.stats.intervals.bootstrap import interval
from judgec.stats.intervals.resampling import resample, resample_present

N_ITEMS, N_CLUSTERS, N_GRADES = 2000, 500, 5
RESAMPLES, SCIPY_RESAMPLES, ROUNDS = 10_000, 1000, 5


def grades() -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Expert grades, judge grades, judge scores and clusters of a skewed five-grade scale."""
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(N_CLUSTERS), N_ITEMS // N_CLUSTERS)
    quality = rng.normal(size=N_CLUSTERS)[cluster] * 0.5 + rng.normal(size=N_ITEMS)
    cuts = np.quantile(quality, [0.05, 0.13, 0.25, 0.5])
    score = quality + rng.normal(size=N_ITEMS) * 0.7
    return np.searchsorted(cuts, quality), np.searchsorted(cuts, score), score, cluster


def scipy_clustered(expert: IntArray, judge: IntArray) -> FloatArray:
    rows = np.arange(N_ITEMS).reshape(N_CLUSTERS, -1)  # all clusters have the same size

    def statistic(clusters: IntArray) -> float:
        drawn = rows[clusters].ravel()
        return float(stats.kendalltau(expert[drawn], judge[drawn]).statistic)

    return scipy_bootstrap((np.arange(N_CLUSTERS),), statistic)


def scipy_plain(expert: IntArray, judge: IntArray) -> FloatArray:
    return scipy_bootstrap((expert, judge), lambda x, y: float(stats.kendalltau(x, y).statistic))


def scipy_bootstrap(data: tuple[IntArray, ...], statistic: Callable[..., float]) -> FloatArray:
    result = stats.bootstrap(
        data,
        statistic,
        n_resamples=SCIPY_RESAMPLES,
        paired=True,
        vectorized=False,
        method="percentile",
        rng=np.random.default_rng(1),
    )
    return np.asarray(result.bootstrap_distribution)


def ours(statistic: TableStatistic, seed: int) -> FloatArray:
    resample.cache_clear()  # drawing the clusters is part of the price
    return statistic.under(resample_present(statistic, RESAMPLES, seed))


def timed(work: Callable[[], FloatArray]) -> tuple[float, FloatArray]:
    start = perf_counter()
    values = work()
    return perf_counter() - start, values


def compare(name: str, mine: Callable[[], FloatArray], theirs: Callable[[], FloatArray]) -> None:
    rounds = [(timed(mine), timed(theirs)) for _ in range(ROUNDS)]
    own = float(np.median([one[0] for one, _ in rounds]))
    scipy = float(np.median([other[0] for _, other in rounds])) * RESAMPLES / SCIPY_RESAMPLES
    for who, (_, values), draws in zip(("judgec", "SciPy"), rounds[0], (RESAMPLES, SCIPY_RESAMPLES), strict=True):
        all_done(who, int(np.isfinite(values).sum()), draws)
    spread = [float(np.std(values)) for _, values in rounds[0]]
    print(
        f"{name:34s} {own * 1e3:8.0f} ms {scipy * 1e3:10.0f} ms {scipy / own:7.0f} x   "
        f"{spread[0]:.4f} / {spread[1]:.4f}"
    )


def report_time(n_items: int, n_clusters: int) -> float:
    """Seconds for intervals of 8 statistics of 5 judges."""
    rng = np.random.default_rng(2)
    cluster = np.arange(n_items) * n_clusters // n_items
    expert = rng.integers(0, N_GRADES, n_items)
    resample.cache_clear()
    start = perf_counter()
    for _ in range(5):
        score = np.clip(expert + rng.normal(size=n_items), 0, N_GRADES - 1)
        judge = np.rint(score).astype(np.int64)
        for name in ("tau_b", "spearman", "kappa", "qwk", "exact"):
            interval(table_statistic(name, expert, judge, cluster, n_grades=N_GRADES))
        accepts = (expert > 2).astype(np.int64), (judge > 2).astype(np.int64)
        interval(table_statistic("accept_agreement", *accepts, cluster, n_grades=2))
        interval(tau_b_score(expert, score, cluster))
        interval(spearman_score(expert, score, cluster))
    return perf_counter() - start


def main() -> None:
    expert, judge, _, cluster = grades()
    clustered = table_statistic("tau_b", expert, judge, cluster, n_grades=N_GRADES)
    plain = table_statistic("tau_b", expert, judge, np.arange(N_ITEMS), n_grades=N_GRADES)
    print(f"tau-b, {N_ITEMS} items, {N_CLUSTERS} queries, {RESAMPLES} resamples, medians of {ROUNDS} rounds")
    print(f"SciPy: {SCIPY_RESAMPLES} resamples timed, scaled to {RESAMPLES}")
    print(f"{'bootstrap':34s} {'judgec':>11s} {'scipy':>13s} {'ratio':>9s}   standard errors (judgec / scipy)")
    compare("over queries", lambda: ours(clustered, 0), lambda: scipy_clustered(expert, judge))
    compare("over items", lambda: ours(plain, 0), lambda: scipy_plain(expert, judge))
    for n_items, n_clusters in ((600, 150), (600, 39)):
        seconds = report_time(n_items, n_clusters)
        print(f"intervals of 8 statistics x 5 judges, {n_items} items, {n_clusters} queries: {seconds:.2f} s")


if __name__ == "__main__":
    main()
