"""Races of simulated candidates whose true tau-b is known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest

from judgec.compile.search.race import FINALISTS, SHARES, most_judgments, race, slices, survivors
from judgec.errors import BudgetError
from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.rank_correlation import tau_b_table
from judgec.stats.intervals.jackknife import difference_interval

TAU_B = parse_objective("tau_b")
SPAN = tuple(np.linspace(0.5, 0.6, 16))


GRADE_SHARES = np.array([0.08, 0.12, 0.2, 0.4, 0.2])  # of the experts' grades: skewed, as real labels are
PER_QUERY = 3
QUERY_SPREAD = 0.4  # of the difficulty that the items of a query share, and all candidates with them
ITEM_SPREAD = 0.5  # of the difficulty of an item, which all candidates share


@dataclass(frozen=True)
class Contest:
    """Candidates' grades of the same items; ``rows`` is what a race asks for."""

    expert: IntArray
    judged: IntArray
    cluster: IntArray

    def ratings(self, number: int, rows: Sequence[int]) -> GradePairs:
        chosen = np.asarray(rows)
        judge = self.judged[number, chosen]
        nothing = np.full(len(chosen), -1, dtype=np.int64)
        return GradePairs(
            self.expert[chosen, None],
            judge,
            judge.astype(np.float64),
            nothing[:, None],
            nothing,
            self.cluster[chosen],
            tuple(map(float, range(len(GRADE_SHARES)))),
            int(self.cluster.max()) + 1,
        )


def contest(true: Sequence[float], items: int, seed: int) -> Contest:
    """Candidates with these tau-b's in the long run."""
    rng = np.random.default_rng(seed)
    expert = rng.choice(len(GRADE_SHARES), size=items, p=GRADE_SHARES)
    cluster = np.arange(items) // PER_QUERY
    shared = QUERY_SPREAD * rng.normal(size=cluster.max() + 1)[cluster] + ITEM_SPREAD * rng.normal(size=items)
    judged = np.stack([_judge(expert, shared, noise_for(tau), rng) for tau in rng.permutation(true)])
    return Contest(expert.astype(np.int64), judged, cluster.astype(np.int64))


def _judge(expert: IntArray, shared: FloatArray, noise: float, rng: np.random.Generator) -> IntArray:
    heard = expert + shared + noise * rng.normal(size=expert.size)
    return np.clip(np.rint(heard), 0, len(GRADE_SHARES) - 1).astype(np.int64)


@lru_cache(maxsize=64)
def noise_for(tau: float) -> float:
    """The noise at which a candidate's tau-b is ``tau``, by bisection on many items."""
    low, high = 0.0, 6.0
    for _ in range(25):
        noise = (low + high) / 2
        rng = np.random.default_rng(0)
        expert = rng.choice(len(GRADE_SHARES), size=20_000, p=GRADE_SHARES)
        shared = np.hypot(QUERY_SPREAD, ITEM_SPREAD) * rng.normal(size=expert.size)
        counts = np.bincount(
            expert * len(GRADE_SHARES) + _judge(expert, shared, noise, rng), minlength=len(GRADE_SHARES) ** 2
        )
        found = float(tau_b_table(counts.reshape(len(GRADE_SHARES), -1)))
        low, high = (noise, high) if found > tau else (low, noise)
    return noise


def test_slices_grow_by_whole_queries_up_to_all_of_dev() -> None:
    cluster = np.repeat(np.arange(40), np.tile([4, 5, 6, 7], 10))
    parts = slices(cluster, seed=3)
    assert len(parts) == len(SHARES)
    assert [len({int(cluster[i]) for i in part}) for part in parts] == [6, 14, 26, 40]  # ceil of 15, 35, 65, 100 %
    for small, large in pairwise(parts):
        assert set(small) < set(large)
    for part in parts:
        inside = {int(cluster[i]) for i in part}
        assert all((i in part) == (int(query) in inside) for i, query in enumerate(cluster))
    assert slices(cluster, seed=4)[0] != parts[0]


def test_slices_of_a_small_dev_are_one() -> None:
    assert slices(np.arange(12, dtype=np.int64), seed=0) == (tuple(range(12)),)


def test_survivors_halve_down_to_the_finalists() -> None:
    assert [survivors(16, rung, 4) for rung in range(4)] == [16, 8, 4, FINALISTS]
    assert [survivors(2, rung, 4) for rung in range(4)] == [2, 2, 2, 2]


def test_most_judgments_counts_each_new_item_of_each_survivor() -> None:
    # 16 * 15 + 8 * 20 + 4 * 30 + 2 * 35 = 240 + 160 + 120 + 70
    assert most_judgments(16, (15, 35, 65, 100)) == 590


def test_race_with_a_clear_winner_chooses_it_and_stops_the_others_early() -> None:
    found = contest((0.9, *[0.3] * 15), items=120, seed=1)
    best = int(np.argmax([TAU_B.value(found.ratings(i, range(120))) for i in range(16)]))
    raced = race(16, slices(found.cluster, 1), found.ratings, TAU_B)
    assert raced.chosen == best
    assert raced.judgments <= most_judgments(16, [len(part) for part in slices(found.cluster, 1)])
    reached = raced.standings[best]
    assert reached is not None
    assert reached.items == 120
    assert sum(standing is not None and standing.items == 120 for standing in raced.standings) <= FINALISTS


def test_race_of_one_runs_it_on_all_of_dev() -> None:
    found = contest((0.5,), items=60, seed=2)
    raced = race(1, slices(found.cluster, 2), found.ratings, TAU_B)
    assert (raced.chosen, raced.judgments) == (0, 60)


def test_race_of_equals_chooses_the_first() -> None:
    found = contest((0.5,), items=60, seed=2)
    raced = race(3, slices(found.cluster, 2), lambda _, rows: found.ratings(0, rows), TAU_B)
    assert raced.chosen == 0


@pytest.mark.parametrize("objective", ["tau_b", "kappa", "qwk", "exact", "balanced_accuracy"])
def test_race_never_chooses_a_judge_that_fails_over_the_same_judge_that_does_not(objective: str) -> None:
    found = contest((0.2,), items=90, seed=5)

    def runs(number: int, rows: Sequence[int]) -> GradePairs:
        ratings = found.ratings(0, rows)
        failed = np.asarray(rows) % 4 == 0
        return ratings if number == 1 else replace(ratings, judge=np.where(failed, -1, ratings.judge))

    assert race(2, slices(found.cluster, 0), runs, parse_objective(objective)).chosen == 1


def test_race_that_meets_a_cap_compares_what_all_had_run_on() -> None:
    found = contest((0.3, 0.9, 0.5), items=120, seed=3)
    parts = slices(found.cluster, 3)
    values = [TAU_B.value(found.ratings(i, parts[0])) for i in range(3)]

    def runs(number: int, rows: Sequence[int]) -> GradePairs:
        if len(rows) > len(parts[0]) and number > 0:
            raise BudgetError("--budget: 9 calls made; 9 are allowed.")
        return found.ratings(number, rows)

    raced = race(3, parts, runs, TAU_B)
    assert raced.chosen == int(np.argmax(values))
    assert "9 are allowed" in raced.stopped
    assert {standing.items for standing in raced.standings if standing} == {len(parts[0])}


def test_race_that_can_afford_nothing_keeps_the_first() -> None:
    def runs(_: int, __: Sequence[int]) -> GradePairs:
        raise BudgetError("--budget: none left.")

    raced = race(3, ((0, 1), (0, 1, 2)), runs, TAU_B)
    assert raced.chosen == 0
    assert raced.standings == (None, None, None)


def test_race_of_sixteen_close_candidates_is_nearly_as_good_at_two_fifths_of_the_calls() -> None:
    near, _, _, calls = simulate(items=120, seeds=range(1000, 1012))
    assert near >= 10 / 12  # the full test asks for 90 % of 200
    assert calls <= 0.4


@pytest.mark.full
@pytest.mark.parametrize("items", [90, 150, 300])
def test_race_over_200_seeds_chooses_within_a_standard_error_of_the_best(items: int) -> None:
    near, same, regret, calls = simulate(items, range(200))
    print(f"dev {items}: within one SE {near:.1%}, same choice {same:.1%}, mean regret {regret:.4f}, calls {calls:.1%}")
    assert near >= 0.9
    assert calls <= 0.4


def simulate(items: int, seeds: range) -> tuple[float, float, float, float]:
    """Share within one paired standard error of the best, share of exact matches, mean regret, most calls."""
    near, same, regret, calls = [], [], [], []
    for seed in seeds:
        found = contest(SPAN, items, seed)
        raced = race(16, slices(found.cluster, seed), found.ratings, TAU_B)
        lost, error = _regret(found, raced.chosen)
        near.append(lost <= error)
        same.append(lost == 0)
        regret.append(lost)
        calls.append(raced.judgments / (16 * items))
    return float(np.mean(near)), float(np.mean(same)), float(np.mean(regret)), max(calls)


def _regret(found: Contest, chosen: int) -> tuple[float, float]:
    """What the choice costs on all of dev, and the standard error of that difference."""
    everything = range(len(found.expert))
    full = [TAU_B.statistic(found.ratings(i, everything)) for i in range(len(found.judged))]
    values = [one.point() for one in full]
    best = int(np.argmax(values))
    error = 0.0 if best == chosen else difference_interval(full[best], full[chosen]).se or 0.0
    return values[best] - values[chosen], error
