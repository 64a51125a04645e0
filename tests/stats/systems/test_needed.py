from dataclasses import replace

import numpy as np
import pytest

from judgec.stats.systems.compare import SystemComparison, compare_systems
from tests.stats.systems.test_compare import table

QUERIES = 600


def test_a_best_system_that_is_told_apart_needs_nothing() -> None:
    assert compare_systems(table((0.95, 0.3), 100, 0.5)).needed == {}


def test_systems_that_look_alike_need_more_labels_than_those_that_do_not() -> None:
    found = compare_systems(table((0.75, 0.65, 0.5), 3000, 0.01, seed=3)).needed
    first, *others = found
    assert others
    assert found[first] == pytest.approx(max(found[one] or 0 for one in others), rel=0.5)


def test_more_than_there_are_rows_says_that_queries_are_missing() -> None:
    found = compare_systems(table((0.6, 0.6), 40, 0.5, seed=1))
    (second,) = set(found.needed) - {next(iter(found.systems))}
    assert (found.needed[second] or 0) > 40
    assert any("Add queries" in note for note in found.notes)


def test_equal_systems_are_none() -> None:
    rows = table((0.6, 0.6), 40, 0.5)
    judge, expert = (np.repeat(one[rows.system == 0], 2) for one in (rows.judge, rows.expert))
    assert compare_systems(replace(rows, judge=judge, expert=expert)).needed == {"B": None}


def test_without_any_interval_every_system_needs_five() -> None:
    rows = table((0.6, 0.6), 40, 0.5)
    assert compare_systems(replace(rows, expert=np.full(80, np.nan))).needed == {"A": 5, "B": 5}


def test_a_system_with_too_few_labels_needs_what_an_interval_needs() -> None:
    rows = table((0.9, 0.4), 60, 0.5)
    few = np.where(
        (rows.system == 1) & (np.cumsum(~np.isnan(rows.expert) & (rows.system == 1)) > 2), np.nan, rows.expert
    )
    found = compare_systems(replace(rows, expert=few))
    assert found.needed == {"B": 3}
    assert "Label 3 more of B" in found.notes[0]


@pytest.mark.full
@pytest.mark.parametrize(
    ("rates", "labels", "right"),
    [((0.6, 0.75), 40, 0.8), ((0.5, 0.6, 0.75), 40, 0.8), ((0.6, 0.8), 30, 0.6), ((0.7, 0.8), 60, 0.8)],
)
def test_needed_is_within_half_as_many_again_of_what_simulation_needs(
    rates: tuple[float, ...], labels: int, right: float
) -> None:
    """The median of tables that do not tell the best system from the second: what somebody who reads it is told."""
    order = np.argsort(-np.array(rates)).tolist()
    pair = [f"{'ABCDE'[i]}" for i in order[:2]]

    def compared(n: float, seed: int) -> tuple[SystemComparison, bool]:
        found = compare_systems(table(rates, QUERIES, n / QUERIES, seed, right))
        return found, any(one.shown and [one.a, one.b] == pair for one in found.pairs)

    said = []
    for seed in range(150):
        found, told = compared(labels, seed)
        if not told:
            other = pair[next(iter(found.letters)) == pair[0]]
            more = found.needed.get(other)
            said.append(np.inf if more is None else more + found.systems[other].labelled)
    needed = float(np.median(said))
    below, above = (np.mean([compared(n, 1000 + seed)[1] for seed in range(200)]) for n in (needed / 1.5, needed * 1.5))
    assert below < 0.8 < above
