"""Statistics as metrics and tags."""

import math

from judgec.connect.tracking.metrics import MOST_SHOWN, flatten, headline, metrics_table
from judgec.connect.tracking.runs import Metrics
from judgec.records.estimate import Estimate

METRICS: Metrics = {
    "test.tau_b": Estimate(value=0.5, low=0.25, high=0.625, p=0.01),
    "test.exact": Estimate(value=0.75),
    "test.majority.kappa": Estimate(value=None, note="one grade only"),
    "elo.a+b": 1510,
    "seconds": math.nan,
}


def test_flatten_estimates_give_value_bounds_and_p() -> None:
    assert flatten(METRICS) == {
        "test.tau_b": 0.5,
        "test.tau_b.low": 0.25,
        "test.tau_b.high": 0.625,
        "test.tau_b.p": 0.01,
        "test.exact": 0.75,
        "elo.a+b": 1510,
    }


def test_headline_shows_both_ends_of_an_interval_or_none() -> None:
    metrics: Metrics = {
        **{f"n{place}": place for place in range(MOST_SHOWN - 5)},
        **{f"rating.{agent}": Estimate(value=2.0, low=1.0, high=3.0) for agent in "abc"},
        "last": 1.0,
    }
    ends = [f"rating.{agent}.{end}" for agent in "abc" for end in ("low", "high")]
    names = [name for name in metrics if name != "last"]
    shown = headline(metrics, [*names, *ends, "last"])
    assert list(shown) == [*names, "rating.a.low", "rating.a.high"]
    assert list(headline(metrics, [*names[:-1], *ends, "last"]))[-3:] == ["rating.a.low", "rating.a.high", "last"]


def test_metrics_table_keeps_original_names_and_undefined_rows() -> None:
    table = metrics_table(METRICS)
    assert table["columns"][:2] == ["metric", "logged_as"]
    assert table["data"] == [
        ["test.tau_b", "test.tau_b", 0.5, 0.25, 0.625, ""],
        ["test.exact", "test.exact", 0.75, None, None, ""],
        ["test.majority.kappa", "test.majority.kappa", None, None, None, "one grade only"],
        ["elo.a+b", "elo.a_2Bb", 1510, None, None, ""],
        ["seconds", "seconds", None, None, None, ""],
    ]


def test_metrics_table_says_which_numbers_are_shown_as_metrics() -> None:
    table = metrics_table(METRICS, {"test.exact"})
    assert {row[0]: row[1] for row in table["data"] if isinstance(row, list)} == {
        **dict.fromkeys(METRICS, ""),
        "test.exact": "test.exact",
    }
