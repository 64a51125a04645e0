"""Two judges side by side: the paired difference, and the items on which they differ."""

import numpy as np
import pytest

from judgec.records.judgment import Judgments
from judgec.records.label import Experts, Item
from judgec.records.scale import Scale
from judgec.stats.agreement.compare import compare

SCALE = Scale(grades=(1, 2, 3, 4, 5), accept_at=4)
N = 6
ITEMS = tuple(Item(f"i{i}", f"q{i}", {"query": f"q{i}", "answer": "a", "contexts": ("c",)}) for i in range(N))


def judged(grades: list[int | None], name: str) -> Judgments:
    position = np.array([[-1 if grade is None else grade - 1] for grade in grades])
    known = position >= 0
    spread = np.where(known[:, :, None], np.eye(5)[np.maximum(position, 0)], np.nan)
    return Judgments(
        item_ids=tuple(item.item_id for item in ITEMS),
        aspects=("grade",),
        probabilities=spread,
        grade=position,
        score=spread @ np.array(SCALE.values),
        accept=np.where(known, position >= 3, -1).astype(np.int64),
        confidence=spread.max(axis=2),
        rationale=tuple(f"{name}{i}" for i in range(N)),
        unscored=tuple("refusal: no" if grade is None else None for grade in grades),
    )


def experts(grades: list[int | None]) -> Experts:
    position = np.array([[-1 if grade is None else grade - 1] for grade in grades])
    accept = np.where(position >= 0, position >= 3, -1).astype(np.int64)
    return Experts(position[..., None], accept[..., None], np.arange(N), ("e",), position[None], accept[None])


TRUTH: list[int | None] = [1, 2, 3, 4, 5, None]


def test_compare_lists_differing_items_by_how_much_the_choice_matters() -> None:
    a = judged([1, 4, 3, 5, 5, 1], "a")
    b = judged([1, 2, 4, None, 4, 5], "b")
    found = compare(ITEMS, experts(TRUTH), a, b, SCALE, accept_only=False)
    # i3: a is off by 1, b is silent (the whole scale, 4); i1: a off by 2; i2 and i4: b off by 1; i5 nobody labelled.
    assert [(each.item.item_id, each.closer, each.distance) for each in found.differing] == [
        ("i3", "a", 3.0),
        ("i1", "b", 2.0),
        ("i2", "a", 1.0),
        ("i4", "a", 1.0),
    ]
    row = found.differing[0].to_json()
    assert row["expert"] == 4
    assert row["contexts"] == ["c"]
    a_row, b_row = row["a"], row["b"]
    assert isinstance(a_row, dict)
    assert isinstance(b_row, dict)
    assert (a_row["grade"], a_row["rationale"]) == (5, "a3")
    assert (b_row["grade"], b_row["unscored"]) == (None, "refusal: no")


def test_compare_differences_are_a_minus_b() -> None:
    truth: list[int | None] = [1, 2, 3, 4, 5, 2]
    a, b = judged([1, 2, 3, 4, 5, 1], "a"), judged([5, 2, 3, 1, 5, 1], "b")
    found = compare(ITEMS, experts(truth), a, b, SCALE, accept_only=False)
    assert found.a.estimates["exact"].value == pytest.approx(5 / 6)
    assert found.b.estimates["exact"].value == pytest.approx(3 / 6)
    assert found.differences["exact"].value == pytest.approx(2 / 6)
    flipped = compare(ITEMS, experts(truth), b, a, SCALE, accept_only=False)
    assert flipped.differences["tau_b"].value == pytest.approx(-(found.differences["tau_b"].value or 0))
    assert [each.closer for each in flipped.differing] == ["b", "b"]


def test_compare_of_classes_counts_a_wrong_class_as_the_whole_scale() -> None:
    scale = Scale(level="nominal", grades=("a", "b", "tie", "x", "y"))
    truth: list[int | None] = [1, 2, 3, 4, 5, 1]
    a, b = judged([1, 2, 3, 4, 5, 1], "a"), judged([2, 2, 3, 1, 5, 1], "b")
    found = compare(ITEMS, experts(truth), a, b, scale, accept_only=False)
    assert [each.distance for each in found.differing] == [4.0, 4.0]
    assert found.differences["tau_b"].value is None
