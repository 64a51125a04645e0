"""Caps of several workers together: never passed, and used up to less than 1 %."""

from itertools import cycle

import pytest

from judgec.errors import BudgetError
from judgec.lm.cluster.budget_share import BudgetShare, BudgetShares, PartialBudget

WORKERS = 4


def spend(shares: BudgetShares, calls: int | None, usd: float | None, price: float) -> list[PartialBudget]:
    """Workers that call in turn until each is refused."""
    budgets = [PartialBudget(calls, usd, shares.take) for _ in range(WORKERS)]
    working = set(range(WORKERS))
    for number in cycle(range(WORKERS)):
        if number in working:
            try:
                assert budgets[number].reserve(2 * price)
                budgets[number].settle(None, 2 * price, price)
            except BudgetError:
                working.discard(number)
        if not working:
            return budgets
    raise AssertionError


@pytest.mark.parametrize("calls", [1, 7, 1_000, 100_000])
def test_calls_of_all_workers_come_up_to_the_cap(calls: int) -> None:
    budgets = spend(BudgetShares(calls, None, WORKERS), calls, None, 0.0)
    assert sum(one.used[0] for one in budgets) == calls


def test_dollars_of_all_workers_come_within_a_hundredth_of_the_cap() -> None:
    budgets = spend(BudgetShares(None, 10.0, WORKERS), None, 10.0, 0.001)
    assert 9.9 <= sum(one.used[1] for one in budgets) <= 10.0


def test_a_call_dearer_than_a_part_takes_what_it_needs() -> None:
    budget = PartialBudget(None, 1.0, BudgetShares(None, 1.0, WORKERS).take)
    assert budget.reserve(0.9)
    budget.settle(None, 0.9, 0.2)
    with pytest.raises(BudgetError):
        budget.reserve(0.85)
    assert budget.reserve(0.75)


def test_calls_in_flight_hold_room_and_more_is_taken_beside_them() -> None:
    shares = BudgetShares(3, None, WORKERS)
    budget = PartialBudget(3, None, shares.take)
    assert [budget.reserve(0.0) for _ in range(4)] == [True, True, True, False]
    budget.release(0.0)
    assert budget.reserve(0.0)


def test_what_is_not_needed_goes_back_to_the_others() -> None:
    shares = BudgetShares(4_000, None, 1)
    budget = PartialBudget(4_000, None, shares.take)
    assert budget.reserve(0.0)
    budget.settle(None, 0.0, None)
    left = budget.unused()
    assert left == BudgetShare(calls=19)
    shares.give(left)
    assert budget.unused() == BudgetShare()
    assert sum(shares.take(0.0).calls for _ in range(1_000)) == 3_999
