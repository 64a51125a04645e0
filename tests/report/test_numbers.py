"""Numbers are written one way everywhere."""

import math

import pytest

from judgec.records.estimate import Estimate
from judgec.report.numbers import (
    between,
    brackets,
    count,
    dollars,
    number,
    objective_name,
    p_value,
    percent,
    points,
    short,
    show,
    show_percent,
    signed,
    statistic_name,
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.59, "+.59"), (-0.12, "-.12"), (1.25, "+1.25"), (-0.001, "-.00"), (-0.0, "+.00"), (None, "-"), (math.nan, "-")],
)
def test_signed_numbers_have_a_sign_and_no_zero_before_the_point(value: float | None, shown: str) -> None:
    assert signed(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *(
            (0.637, ".64"),
            (-0.05, "-.05"),
            (1.0, "1.00"),
            (-1.17, "-1.17"),
            (0.0, ".00"),
            (10.25, "10.25"),
            (None, "-"),
        ),
        *((-0.0, ".00"), (-0.004, "-.00"), (math.nan, "-")),
    ],
)
def test_numbers_have_two_decimals_and_no_leading_zero(value: float | None, shown: str) -> None:
    assert number(value) == shown


def test_intervals_stand_in_brackets_and_half_an_interval_is_left_out() -> None:
    assert show(Estimate(value=0.64, low=0.57, high=0.705)) == ".64 [.57, .70]"
    assert show(Estimate(value=0.25, low=-0.125, high=0.5), 3, sign=True) == "+.250 [-.125, +.500]"
    assert show(Estimate(value=0.64, low=0.57)) == ".64"
    assert brackets(None, 0.5) == ""
    assert (show(None), show(Estimate(value=None, note="undefined"))) == ("-", "-")


def test_shares_in_percent_keep_their_zero() -> None:
    assert show_percent(Estimate(value=0.375, low=0.1, high=0.7)) == "38 % [10, 70]"
    assert (percent(0.004, 1), percent(None), points(0.0), points(math.nan)) == ("0.4 %", "-", "0.0", "-")


def test_bounds_of_a_rating_are_said_in_words_where_they_are_open() -> None:
    assert between(980.4, 1042.6) == "980 .. 1043"
    assert [between(None, 900.0), between(1100.0, None), between(None, math.nan)] == ["below 900", "above 1100", "-"]


def test_other_numbers() -> None:
    assert [p_value(0.0004), p_value(0.25), p_value(None)] == ["< .001", ".250", "-"]
    assert [short(0.5), short(2.0), short(-0.2), short(0.25, sign=True)] == [".5", "2", "-.2", "+.25"]
    assert [count(12345), dollars(0.0125), dollars(None)] == ["12,345", "$0.0125", "price unknown"]
    assert [statistic_name(key) for key in ("exact", "tau_b", "my_own")] == ["exact", "tau-b", "my own"]


def test_objectives_are_written_as_their_statistics_are() -> None:
    assert objective_name("0.7*tau_b+0.3*accept") == "0.7*tau-b+0.3*accept"
    assert objective_name("balanced_accuracy") == "balanced accuracy"
