"""Nested subsets of whole queries, and what would halve an interval."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from judgec.compile.dataset import Part, make_dataset
from judgec.compile.learning_curve import detectable_difference, halving, interval_width, nested
from judgec.records.estimate import Estimate
from judgec.records.label import Item, Label, LabelSet
from judgec.records.scale import Scale
from judgec.stats.intervals.bootstrap import Interval
from tests.compile.small import compiled_from
from tests.service import grading_world


def part(sizes: list[int]) -> Part:
    """All items of a label set whose queries have these sizes."""
    items = tuple(
        Item(f"{q}-{i}", f"q{q}", {"query": f"q{q}", "answer": f"{i}"}) for q, n in enumerate(sizes) for i in range(n)
    )
    labels = tuple(Label(item.item_id, "expert", {"grade": i % 2}) for i, item in enumerate(items))
    whole = LabelSet("grade", Scale(grades=(0, 1)), ("grade",), items, labels, accept_only=False, digest="")
    train = make_dataset(whole, 0).train
    return Part("all", items, train.experts, train.others, {})


def test_nested_subsets_end_with_a_query_and_contain_each_other() -> None:
    rows = part([3, 2, 4, 1])
    found = nested(list(range(10)), rows, [2, 4, 5, 8])
    assert found == {2: [0, 1, 2], 4: [0, 1, 2, 3, 4], 5: [0, 1, 2, 3, 4], 8: list(range(9))}


def measured(low: float, high: float, n_clusters: int) -> Interval:
    return Interval(0.5, low, high, None, 0.1, 0.95, n_clusters, 100, 0, "")


def test_halving_from_ten_queries_needs_fewer_than_four_times_as_many() -> None:
    found = halving(measured(0.3, 0.7, 10), items=100, test_queries=10)
    assert found is not None
    assert found.width == pytest.approx(0.4)
    # Student's quantile falls too: 2.262 at 9 degrees of freedom, 2.037 at 32.
    assert found.queries_needed == 33
    assert 2 * student.ppf(0.975, 32) / np.sqrt(33) <= student.ppf(0.975, 9) / np.sqrt(10)
    assert 2 * student.ppf(0.975, 31) / np.sqrt(32) > student.ppf(0.975, 9) / np.sqrt(10)
    assert found.more_labels == 230  # 23 more test queries, each bringing 10 labelled items in all


def test_halving_from_many_queries_needs_about_four_times_as_many() -> None:
    found = halving(measured(0.4, 0.6, 500), items=1000, test_queries=500)
    assert found is not None
    assert found.queries_needed == pytest.approx(2000, rel=0.005)


def test_halving_without_an_interval_says_nothing() -> None:
    none = Interval(1.0, None, None, None, 0.0, 0.95, 10, 100, 0, "none", "no spread")
    assert halving(none, items=100, test_queries=10) is None


@pytest.mark.parametrize(
    ("detectable", "more", "sentence"),
    [
        # 6 of 20 queries in test; .16 is twice .08, so four times as many: 18 more in test, 60 more in all.
        (0.16, 60, "labels of 60 more queries would show a difference of .08"),
        (0.081, 1, "labels of 1 more query would show a difference of .08"),
        (0.05, 0, ""),
        (None, None, "how many more queries would show a difference of .08 is not known: too few"),
    ],
)
def test_more_queries_until_a_difference_shows(detectable: float | None, more: int | None, sentence: str) -> None:
    items = tuple(Item(f"{q}", f"q{q}", {"query": f"q{q}", "answer": "a"}) for q in range(20))
    labels = tuple(Label(item.item_id, "expert", {"grade": i % 2}) for i, item in enumerate(items))
    whole = LabelSet("grade", Scale(grades=(0, 1)), ("grade",), items, labels, accept_only=False, digest="")
    found = detectable_difference(detectable, make_dataset(whole, 0), "too few")
    assert (found.test_queries, found.more_queries, found.sentence) == (6, more, sentence)


@pytest.mark.parametrize(
    ("low", "high", "more"),
    [(0.4, 0.6, 90), (0.44, 0.56, 14), (0.45, 0.55, 0), (None, None, None)],
)
def test_more_queries_until_the_interval_is_narrow(low: float | None, high: float | None, more: int | None) -> None:
    whole = part_of_thirty()
    dataset = make_dataset(whole, 0)
    # Half of .1 takes 4 times the test queries, whatever their share: 3 times as many more of all 30.
    found = interval_width("kappa", Estimate(value=0.5, low=low, high=high), dataset)
    assert found.more_queries == more
    assert ("about" in found.sentence) is bool(more)
    assert found.to_json()["wanted"] == 0.05


def test_judge_of_one_grade_is_told_how_many_more_labels_its_score_needs(tmp_path: Path) -> None:
    compiled = compiled_from(tmp_path, grading_world.rows(90, per_query=2)).compiled
    found = compiled.verification.agreements["compiled"]
    known = {"tau_b": Estimate(value=None), "tau_b_score": Estimate(value=0.1, low=-0.1, high=0.3)}
    flat = replace(found, estimates={**found.estimates, **known})
    measured = replace(compiled.verification, agreements={**compiled.verification.agreements, "compiled": flat})
    said = replace(compiled, verification=measured).interval_width("tau_b")
    assert said.statistic == "tau_b_score"
    assert "tau-b of the score" in said.sentence
    assert "±.20" in said.sentence


def part_of_thirty() -> LabelSet:
    items = tuple(Item(f"{q}", f"q{q}", {"query": f"q{q}", "answer": "x"}) for q in range(30))
    labels = tuple(Label(item.item_id, "expert", {"grade": i % 2}) for i, item in enumerate(items))
    return LabelSet("grade", Scale(grades=(0, 1)), ("grade",), items, labels, accept_only=False, digest="")
