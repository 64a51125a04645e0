"""Worlds with a known accept rate, for coverage: ``python -m tests.stats.correction.worlds`` prints the table."""

from dataclasses import dataclass

import numpy as np

from judgec.records.label import FloatArray, IntArray
from judgec.stats.correction.mean import clustered_mean
from judgec.stats.systems.means import Cells, CorrectedMeans, corrected_means
from judgec.stats.systems.rows import Graded

ICC = 0.3  # correlation of two answers to one query


@dataclass(frozen=True)
class World:
    """Queries with some answers each, of which experts accept ``rate``; a judge with two error rates.

    Args:
        queries: In all.
        per_query: Answers to each.
        labelled: Queries whose answers experts labelled, drawn at random.
        sensitivity: Of the judge.
        specificity: Of the judge.
        rate: The truth.
    """

    queries: int
    per_query: int
    labelled: int
    sensitivity: float
    specificity: float
    rate: float


PPI_WORLDS = (
    World(300, 3, 20, 0.9, 0.8, 0.6),
    World(300, 3, 40, 0.9, 0.7, 0.6),
    World(1000, 1, 60, 0.95, 0.7, 0.3),
    World(300, 3, 100, 0.8, 0.95, 0.5),
)


def draw(world: World, seed: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """The judge's accepts, the experts' where they labelled, and the query of each answer."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(world.queries), world.per_query)
    spread = (1 - ICC) / ICC
    taste = rng.beta(world.rate * spread, (1 - world.rate) * spread, world.queries)
    truth = rng.random(len(cluster)) < taste[cluster]
    right = rng.random(len(cluster)) < np.where(truth, world.sensitivity, world.specificity)
    known = np.isin(cluster, rng.choice(world.queries, world.labelled, replace=False))
    return (truth == right).astype(float), np.where(known, truth, np.nan), cluster


def of_one(judge: FloatArray, expert: FloatArray, cluster: IntArray, *, shares: bool = True) -> CorrectedMeans:
    """Rows that are all of one system."""
    cells = Cells.of(cluster, np.zeros(len(cluster), dtype=np.int64), 1)
    return corrected_means(cells, Graded(judge, expert, shares=shares, step=0.0 if not shares else 1.0))


def coverage(world: World, runs: int) -> dict[str, float]:
    """Shares of intervals that hold the true rate, and mean widths."""
    hits = dict.fromkeys(("raw", "ppi"), 0)
    widths = dict.fromkeys(("ppi", "alone"), 0.0)
    for seed in range(runs):
        judge, expert, cluster = draw(world, seed)
        known = ~np.isnan(expert)
        estimates = {
            "raw": clustered_mean(judge, cluster),
            "ppi": of_one(judge, expert, cluster).corrected.estimates(np.array([True]))[0],
            "alone": clustered_mean(expert[known], cluster[known]),
        }
        for name, estimate in estimates.items():
            if estimate.low is None or estimate.high is None:
                continue
            if name in hits:
                hits[name] += estimate.low <= world.rate <= estimate.high
            if name in widths:
                widths[name] += estimate.high - estimate.low
    return {
        "raw": hits["raw"] / runs,
        "ppi": hits["ppi"] / runs,
        "ppi_width": widths["ppi"] / runs,
        "alone_width": widths["alone"] / runs,
    }


if __name__ == "__main__":
    for each in PPI_WORLDS:
        print(each, {name: round(value, 3) for name, value in coverage(each, 1500).items()})
