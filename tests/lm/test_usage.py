import pytest

from judgec.errors import BudgetError
from judgec.lm.usage import Budget, Spent, Usage


def test_reserve_beyond_the_calls_raises_and_keeps_what_was_made() -> None:
    budget = Budget(calls=2)
    for number in range(2):
        assert budget.reserve(0.0)
        budget.settle(bytes([number]), 0.0, 0.0)
    with pytest.raises(BudgetError, match="2 calls made; 2 are allowed"):
        budget.reserve(0.0)


def test_reserve_waits_while_calls_in_flight_hold_the_room() -> None:
    budget = Budget(usd=1.0)
    assert budget.reserve(0.6)
    assert not budget.reserve(0.6)  # 1.2 in flight: it may fit once the first call proves cheap
    budget.settle(b"a", 0.6, 0.1)
    assert budget.reserve(0.6)
    budget.settle(b"b", 0.6, 0.5)
    with pytest.raises(BudgetError, match=r"\$0.6000 spent"):
        budget.reserve(0.5)
    assert budget.reserve(0.4)  # exactly up to the cap


def test_settle_without_a_known_cost_counts_the_most_it_can_be() -> None:
    budget = Budget(usd=1.0)
    budget.reserve(0.7)
    budget.settle(b"a", 0.7, None)
    with pytest.raises(BudgetError):
        budget.reserve(0.4)


def test_release_gives_a_refused_attempt_back() -> None:
    budget = Budget(calls=1)
    assert budget.reserve(0.0)
    assert not budget.reserve(0.0)
    budget.release(0.0)
    assert budget.reserve(0.0)


def test_charge_journaled_counts_a_reply_once_a_run_as_if_paid() -> None:
    budget = Budget(calls=2)
    budget.charge_journaled(b"a", 0.1)
    budget.charge_journaled(b"a", 0.1)
    budget.reserve(0.0)
    budget.settle(b"b", 0.0, 0.0)
    budget.charge_journaled(b"b", 0.0)  # paid in this run
    with pytest.raises(BudgetError):
        budget.charge_journaled(b"c", 0.1)


def test_charge_journaled_is_free_where_journaled_replies_do_not_count() -> None:
    budget = Budget(calls=0, usd=0.0, count_journaled=False)
    budget.charge_journaled(b"a", 9.0)
    with pytest.raises(BudgetError):
        budget.reserve(0.0)


def test_usage_adds_up_and_says_what_has_no_price() -> None:
    usage = Usage()
    usage.paid(10, 2, 0.5)
    usage.paid(1, 1, None)
    usage.journaled()
    usage.shared()
    assert usage.spent == Spent(2, 1, 1, 11, 3, 0.5, 1)
    assert usage.spent.tokens == 14
