"""A confidence threshold above which agreement is promised, with a stated risk that the promise is wrong."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from judgec.records.label import FloatArray, IntArray

GRID = tuple(round(0.01 * step, 2) for step in range(100))  # thresholds that can be promised; 0 scores everything


@dataclass(frozen=True, slots=True)
class Rows:
    """Graded rows: how sure the judge was, and whether it agreed with the experts.

    Args:
        confidence: Shape (n,), 0-1.
        agrees: Shape (n,), 1 / 0.
        cluster: The query of each row, shape (n,).
    """

    confidence: FloatArray
    agrees: IntArray
    cluster: IntArray


@dataclass(frozen=True, slots=True)
class Promise:
    """The agreement that may be promised.

    Args:
        below: Items with less confidence are left to a human; None when nothing may be promised.
        agreement: The agreement that was asked for.
        risk: The chance that was allowed for a promise that does not hold.
        p: Of the last test that was passed; of the first, failed one when ``below`` is None.
        queries: Queries with a row at or above that threshold: the draws of that test.
        disagreements: Draws that disagreed.
        needed: The fewest queries that could carry the promise, none of them disagreeing.
    """

    below: float | None
    agreement: float
    risk: float
    p: float
    queries: int
    disagreements: int
    needed: int


def promised_threshold(held_out: Rows, dev: Rows, *, agreement: float, risk: float, seed: int = 0) -> Promise:
    """The lowest threshold at which agreement is at least ``agreement``, wrong with probability at most ``risk``.

    Agreement is that of a random scored row of a random query that has one. Queries are the exchangeable units: rows
    of one query hang together, so each query gives the test one row, drawn at random among those at or above the
    threshold, and the number of disagreements is exactly binomial. Thresholds are tested one after the other,
    downwards from the one that ``dev`` makes most likely to pass, until one fails: an order fixed before
    ``held_out`` is looked at keeps the risk of *any* false promise at ``risk`` without a correction.

    Args:
        held_out: Rows that nothing was fitted, chosen or ordered by.
        dev: Other rows of the same judge; they decide where testing begins, and cannot break the promise.
        agreement: Above 0, below 1.
        risk: Above 0, below 1.
        seed: Of the draws of one row a query.

    Raises:
        ValueError: When ``agreement`` or ``risk`` is out of range.

    Source: Angelopoulos, Bates, Candès, Jordan and Lei (2021), Learn then Test, arXiv:2110.01052: fixed-sequence
        testing with the order learned on other data.
    """
    if not 0 < agreement < 1 or not 0 < risk < 1:
        raise ValueError(f"{agreement=}, {risk=}; both lie between 0 and 1.")
    needed = int(np.ceil(np.log(risk) / np.log(agreement) - 1e-9))
    ranked = [one_row_test(dev, below, agreement, seed)[0] for below in GRID]
    start = int(np.argmin(ranked))
    passed: tuple[float | None, float, int, int] | None = None
    for below in reversed(GRID[: start + 1]):
        p, queries, disagreements = one_row_test(held_out, below, agreement, seed)
        if p > risk:
            passed = passed or (None, p, queries, disagreements)
            break
        passed = (below, p, queries, disagreements)
    assert passed is not None  # the grid is never empty
    return Promise(passed[0], agreement, risk, *passed[1:], needed)


def one_row_test(rows: Rows, below: float, agreement: float, seed: int) -> tuple[float, int, int]:
    """The p-value of "agreement is under ``agreement`` where confidence is at least ``below``".

    Returns: p (1 without a row), the queries drawn from, and the draws that disagreed.
    """
    # One order for all thresholds: the first scored row of a query is a uniform draw among its scored rows.
    order = np.random.default_rng(seed).permutation(len(rows.confidence))
    kept = order[rows.confidence[order] >= below]
    _, first = np.unique(rows.cluster[kept], return_index=True)
    drawn = rows.agrees[kept[first]]
    disagreements = int((drawn == 0).sum())
    return float(stats.binom.cdf(disagreements, len(drawn), 1 - agreement)), len(drawn), disagreements
