"""The options only grow fewer."""

from tests.architecture.count_options import MOST, option_slots


def test_there_are_no_more_options_than_were_agreed() -> None:
    assert sum(option_slots().values()) <= MOST
