"""How many more labels would show a difference, or narrow an interval."""

from dataclasses import replace
from typing import Any

import pytest

from judgec.compile.dataset import Dataset, make_dataset
from judgec.compile.finished import finished
from judgec.compile.more_labels import to_narrow, to_show_a_difference
from judgec.records.estimate import Estimate
from judgec.records.label import Item, Label, LabelSet
from judgec.records.scale import Scale
from tests.compile.small import Outcome


def dataset_of(queries: int) -> Dataset:
    items = tuple(Item(f"{q}", f"q{q}", {"query": f"q{q}", "answer": "a"}) for q in range(queries))
    labels = tuple(Label(item.item_id, "expert", {"grade": i % 2}) for i, item in enumerate(items))
    whole = LabelSet("grade", Scale(grades=(0, 1)), ("grade",), items, labels, accept_only=False, digest="")
    return make_dataset(whole, 0)


@pytest.mark.parametrize(
    ("detectable", "more", "sentence"),
    [
        # 6 of 20 queries in test; .16 is twice .08, so four times as many: 18 more in test, 60 more in all.
        (0.16, 60, "60 more queries"),
        (0.081, 1, "1 more query "),
        (0.05, 0, ""),
        (None, None, "not known: too few"),
    ],
)
def test_more_queries_until_a_difference_shows(detectable: float | None, more: int | None, sentence: str) -> None:
    found = to_show_a_difference(detectable, dataset_of(20), "too few")
    assert (found["test_queries"], found["queries"], found["difference"]) == (6, more, 0.08)
    assert bool(found["sentence"]) == bool(sentence)
    assert sentence in str(found["sentence"])


@pytest.mark.parametrize(
    ("low", "high", "more"), [(0.4, 0.6, 90), (0.44, 0.56, 14), (0.45, 0.55, 0), (None, None, None)]
)
def test_more_queries_until_the_interval_is_narrow(low: float | None, high: float | None, more: int | None) -> None:
    # Half of .1 takes 4 times the test queries, whatever their share: 3 times as many more of all 30.
    found = to_narrow("kappa", Estimate(value=0.5, low=low, high=high), dataset_of(30))
    assert (found["queries"], found["statistic"], found["wanted"]) == (more, "kappa", 0.05)
    assert ("about" in str(found["sentence"])) is bool(more)


def test_judge_of_one_grade_is_told_how_many_more_labels_its_score_needs(plain: Outcome) -> None:
    compiled = plain.compiled
    found = compiled.verification.agreements["compiled"]
    known = {"tau_b": Estimate(value=None), "tau_b_score": Estimate(value=0.1, low=-0.1, high=0.3)}
    flat = replace(found, estimates={**found.estimates, **known})
    measured = replace(compiled.verification, agreements={**compiled.verification.agreements, "compiled": flat})
    card = plain.saved.card
    made = finished(replace(compiled, verification=measured), plain.settings, card.cost, card.created)
    said: Any = made.report["narrower"]
    assert said["statistic"] == "tau_b_score"
    assert said["half_width"] == pytest.approx(0.2)
