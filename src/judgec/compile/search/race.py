"""Races candidates: finds the best of several without running all of them on all of dev.

Successive halving on paired differences. All candidates run on the same slice of dev (whole queries); the worse
half stops, and with it whoever trails the leader by more than chance explains; the others run on a larger slice,
and so on until the last few have run on all of dev. Since all saw the same items, what is compared are paired
differences, in which the difficulty of the items cancels.

Source: Karnin, Koren and Somekh (2013), ICML, for successive halving; Maron and Moore (1993), NIPS, for races.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.errors import BudgetError
from judgec.records.label import IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.objective import Objective
from judgec.stats.agreement.statistic import Statistic
from judgec.stats.intervals.paired_gain import paired_gain

SHARES = (0.15, 0.35, 0.65, 1.0)  # of dev's queries, rung by rung
MIN_SLICE = 15  # items in the first slice: an order of fewer says little
MIN_QUERIES = 4  # in the first slice: fewer have no spread to estimate
FINALISTS = 2  # that run on all of dev
FAR = 2.5  # paired standard errors behind the leader at which a candidate stops before its half does

Runs = Callable[[int, Sequence[int]], GradePairs]
"""Ratings of a candidate, by its number, on these items of dev; clusters coded alike for every candidate."""


@dataclass(frozen=True, slots=True)
class RaceStanding:
    """Standing of a candidate in the race.

    Args:
        value: Its objective on the items it ran on.
        items: How many these are.
        unscored: How many of its ratings were missing.
    """

    value: float
    items: int
    unscored: int


@dataclass(frozen=True, slots=True)
class Raced:
    """The outcome of a race.

    Args:
        chosen: The candidate with the highest objective among those that ran on the most items; of equals the first.
        standings: Of every candidate that ran at all, in the order of the candidates; None for the others.
        judgments: Items judged, summed over the candidates.
        stopped: Why the race ended early, or empty.
    """

    chosen: int
    standings: tuple[RaceStanding | None, ...]
    judgments: int
    stopped: str = ""


def slices(cluster: IntArray, seed: int) -> tuple[tuple[int, ...], ...]:
    """Growing sets of dev items, whole queries in a seeded order; the last one holds all.

    Args:
        cluster: Code of each item's query, shape (n_items,).
        seed: Seed of the order.
    """
    order = np.random.default_rng([seed, 1]).permutation(np.unique(cluster))
    sizes = np.cumsum([int((cluster == query).sum()) for query in order])
    grown: list[tuple[int, ...]] = []
    for share in SHARES:
        queries = max(int(np.ceil(share * len(order))), MIN_QUERIES)
        while queries < len(order) and sizes[queries - 1] < MIN_SLICE:
            queries += 1
        rows = tuple(int(i) for i in np.flatnonzero(np.isin(cluster, order[:queries])))
        if not grown or len(rows) > len(grown[-1]):
            grown.append(rows)
    return tuple(grown)


def survivors(n_candidates: int, rung: int, n_rungs: int) -> int:
    """Largest number of candidates on slice ``rung`` (from 0): half as many each time, the finalists on the last."""
    if rung == 0:
        return n_candidates
    if rung == n_rungs - 1:
        return min(n_candidates, FINALISTS)
    halved = -(-n_candidates // (1 << rung))
    return min(n_candidates, max(halved, FINALISTS + 1))


def most_judgments(n_candidates: int, sizes: Sequence[int]) -> int:
    """The most judgments that a race takes.

    Args:
        n_candidates: Who starts.
        sizes: Items of each slice.
    """
    grown = np.diff([0, *sizes])
    return int(sum(survivors(n_candidates, rung, len(sizes)) * new for rung, new in enumerate(grown)))


def race(n_candidates: int, parts: Sequence[Sequence[int]], runs: Runs, objective: Objective) -> Raced:
    """Find the candidate with the highest objective.

    Args:
        n_candidates: Numbered from 0.
        parts: From ``slices``.
        runs: Gives ratings.
        objective: What is compared; failing to score an item counts as it says.

    Returns:
        The outcome; when ``runs`` meets a cap, of the slices that all runners finished.
    """
    running = list(range(n_candidates))
    standings: list[RaceStanding | None] = [None] * n_candidates
    judgments = done = 0
    stopped = ""
    for rung, rows in enumerate(parts):
        statistics: dict[int, Statistic] = {}
        here: dict[int, RaceStanding] = {}
        for number in running:
            try:
                ratings = runs(number, rows)
            except BudgetError as error:
                stopped = str(error)
                break
            statistics[number] = objective.statistic(ratings)
            missing = int(((ratings.judge < 0) & (ratings.judge_accept < 0)).sum())
            here[number] = RaceStanding(statistics[number].point(), len(rows), missing)
            judgments += len(rows) - done
        if not stopped or rung == 0:  # a later slice that some have not run on compares nobody
            for number, standing in here.items():
                standings[number] = standing
        if stopped or rung + 1 == len(parts):
            break
        done = len(rows)
        running = _kept(running, statistics, survivors(n_candidates, rung + 1, len(parts)))
    ranked = [(standing.items, standing.value, -number) for number, standing in enumerate(standings) if standing]
    return Raced(-max(ranked)[2] if ranked else 0, tuple(standings), judgments, stopped)


def _kept(running: Sequence[int], statistics: dict[int, Statistic], most: int) -> list[int]:
    """The best ``most``, without those far behind the leader; in the order of the candidates."""
    values = {number: statistics[number].point() for number in running}
    ranked = sorted(running, key=lambda number: (-values[number], number))
    leader = statistics[ranked[0]]
    kept = [ranked[0]]
    for number in ranked[1:most]:
        gain = paired_gain(leader, statistics[number])
        if gain.value <= FAR * (gain.error or 0.0):
            kept.append(number)
    return sorted(kept)
