"""A promised agreement holds as often as it says, with queries whose rows hang together."""

import numpy as np
import pytest
from scipy import stats

from judgec.records.label import FloatArray
from judgec.stats.intervals.promise import GRID, Rows, one_row_test, promised_threshold

AGREEMENT, RISK = 0.8, 0.1
PER_QUERY = 5


def rows(confidence: list[float], agrees: list[int], cluster: list[int]) -> Rows:
    return Rows(np.array(confidence), np.array(agrees), np.array(cluster))


def alike(n: int, agrees: int) -> Rows:
    return rows([0.5] * n, [agrees] * n, list(range(n)))


def test_one_row_test_counts_one_row_a_query_and_gives_the_binomial_tail() -> None:
    # Three queries with 1, 2 and 3 rows, alike within a query; the second disagrees.
    data = rows([0.9] * 6, [1, 0, 0, 1, 1, 1], [0, 1, 1, 2, 2, 2])
    p, queries, disagreements = one_row_test(data, 0.5, 0.8, seed=0)
    assert (queries, disagreements) == (3, 1)
    assert p == pytest.approx(0.8**3 + 3 * 0.2 * 0.8**2)  # P(at most 1 of 3) at a disagreement of .2 = .896


def test_one_row_test_draws_each_scored_row_of_a_query_equally_often() -> None:
    # The row at .1 is under the threshold; of the other three one disagrees.
    data = rows([0.1, 0.6, 0.7, 0.8], [0, 0, 1, 1], [0, 0, 0, 0])
    drawn = sum(one_row_test(data, 0.5, 0.8, seed)[2] for seed in range(3000))
    assert stats.binomtest(drawn, 3000, 1 / 3).pvalue > 0.001


def test_one_row_test_without_a_row_is_no_evidence() -> None:
    assert one_row_test(alike(5, 1), 0.9, 0.8, seed=0) == (1.0, 0, 0)


@pytest.mark.parametrize(("n", "found"), [(10, False), (11, True)])  # .8 ** 10 = .107, .8 ** 11 = .086
def test_promised_threshold_needs_as_many_queries_as_it_says(n: int, found: bool) -> None:
    promise = promised_threshold(alike(n, 1), alike(50, 1), agreement=0.8, risk=0.1)
    assert promise.needed == 11
    assert (promise.below == 0.0) is found
    assert (promise.below is None) is not found
    assert promise.p == pytest.approx(0.8**n)


def test_promised_threshold_stops_above_the_confidence_where_agreement_ends() -> None:
    n = 60
    confidence = [0.7 if i % 2 else 0.4 for i in range(n)]
    data = rows(confidence, [i % 2 for i in range(n)], list(range(n)))
    promise = promised_threshold(data, data, agreement=0.8, risk=0.1)
    assert promise.below is not None
    assert 0.4 < promise.below <= 0.41  # the lowest threshold without the rows that disagree
    assert (promise.queries, promise.disagreements) == (30, 0)


@pytest.mark.parametrize(("agreement", "risk"), [(1.0, 0.1), (0.9, 0.0)])
def test_promised_threshold_of_certainty_is_refused(agreement: float, risk: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        promised_threshold(alike(5, 1), alike(5, 1), agreement=agreement, risk=risk)


def world(n_queries: int, rng: np.random.Generator) -> Rows:
    """Queries are easy or hopeless as a whole; the judge's confidence knows a little about which.

    The agreement of a row is that of its query, so rows of one query hang together strongly.
    """
    hopeless = rng.random(n_queries) < 0.35
    chance = np.where(hopeless, rng.beta(1, 6, n_queries), rng.beta(30, 1, n_queries))
    sure = np.clip(rng.normal(np.where(hopeless, 0.45, 0.6), 0.15, n_queries), 0, 1)
    confidence = np.clip(np.repeat(sure, PER_QUERY) + rng.normal(0, 0.03, n_queries * PER_QUERY), 0, 1)
    agrees = (rng.random(n_queries * PER_QUERY) < np.repeat(chance, PER_QUERY)).astype(np.int64)
    return Rows(confidence, agrees, np.repeat(np.arange(n_queries), PER_QUERY))


def true_agreement(rng: np.random.Generator) -> FloatArray:
    """At each threshold of the grid: mean over queries with a scored row of the share that agrees."""
    n = 40_000
    data = world(n, rng)
    curve = []
    for below in GRID:
        kept = data.confidence >= below
        counts = np.bincount(data.cluster[kept], minlength=n)
        agreed = np.bincount(data.cluster[kept], data.agrees[kept], minlength=n)
        curve.append((agreed[counts > 0] / counts[counts > 0]).mean() if kept.any() else np.nan)
    return np.array(curve)


def broken_promises(*, by_row: bool, repeats: int, queries: int = 120) -> tuple[int, int]:
    """How many promises were made and how many of them do not hold.

    ``by_row`` takes every row for a query of its own, as a test that ignores clusters does.
    """
    truth = true_agreement(np.random.default_rng(1))
    made = broken = 0
    for repeat in range(repeats):
        rng = np.random.default_rng([2, repeat])
        held_out, dev = world(queries, rng), world(40, rng)
        if by_row:
            held_out = Rows(held_out.confidence, held_out.agrees, np.arange(len(held_out.agrees)))
        promise = promised_threshold(held_out, dev, agreement=AGREEMENT, risk=RISK, seed=repeat)
        if promise.below is not None:
            made += 1
            broken += bool(truth[GRID.index(promise.below)] < AGREEMENT)
    return made, broken


def test_promises_over_clustered_queries_are_broken_no_more_often_than_the_risk() -> None:
    repeats = 300
    made, broken = broken_promises(by_row=False, repeats=repeats)
    assert stats.binomtest(broken, repeats, RISK, alternative="greater").pvalue > 0.01
    assert made > 0.15 * repeats  # it is not safe by saying nothing


def test_promises_that_ignore_clusters_are_broken_more_often_than_the_risk() -> None:
    repeats = 120
    _, broken = broken_promises(by_row=True, repeats=repeats)
    assert stats.binomtest(broken, repeats, RISK, alternative="greater").pvalue < 1e-4
