"""Tests of labels that say against what somebody said of them: nobody's reversed grades are averaged in."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgec.errors import UserError
from judgec.labels.contradictions import running_against
from judgec.labels.labels import read_label_file
from judgec.labels.reading import as_reading
from judgec.records.label import Item, Label, LabelSet
from judgec.records.scale import Scale
from tests.pace import assert_within

GRADES = {"grades": [1, 2, 3, 4, 5], "accept_at": 4}


def sheet(folder: Path, **columns: Sequence[object]) -> str:
    """A CSV of answers with these columns of grades."""
    n = max(map(len, columns.values()))
    texts = {"query": [f"What is {i}?" for i in range(n)], "answer": [f"It is number {i}." for i in range(n)]}
    path = folder / "sheet.csv"
    pd.DataFrame({**texts, **columns}).to_csv(path, index=False)
    return str(path)


def people(n: int = 40, noise: float = 0.2) -> tuple[list[int], list[int]]:
    """Grades of two people who mostly agree."""
    rng = np.random.default_rng(3)
    one = rng.integers(1, 6, n)
    other = np.where(rng.random(n) < noise, rng.integers(1, 6, n), one)
    return one.tolist(), other.tolist()


def turned(grades: list[int]) -> list[int]:
    """The grades from the other end."""
    return [6 - grade for grade in grades]


def test_one_who_runs_against_all_others_stops_every_reader(tmp_path: Path) -> None:
    one, other = people()
    path = sheet(tmp_path, ines=one, marek=other, mia=turned(one))
    reading = as_reading(annotators=["ines", "marek", "mia"], scale=GRADES)
    with pytest.raises(UserError, match="mia"):
        read_label_file(path, reading)
    assert read_label_file(path, as_reading(annotators=["ines", "marek"], scale=GRADES)).labels.items
    checked = as_reading(checked=["mia"]).over(reading)
    assert len({label.annotator for label in read_label_file(path, checked).labels.labels}) == 3


def test_two_who_run_against_each_other_are_asked_about(tmp_path: Path) -> None:
    one, other = people()
    path = sheet(tmp_path, ines=one, mia=turned(other))
    with pytest.raises(UserError, match='checked = \\["ines"\\]'):
        read_label_file(path, as_reading(annotators=["ines", "mia"], scale=GRADES))


def test_accept_and_reject_are_checked_like_grades(tmp_path: Path) -> None:
    one, other = people()
    words = [["no", "yes"][grade > 3] for grade in one]
    against = [["yes", "no"][grade > 3] for grade in one]
    path = sheet(tmp_path, ines=words, marek=[["no", "yes"][grade > 3] for grade in other], mia=against)
    with pytest.raises(UserError, match="mia"):
        read_label_file(path, as_reading(annotators=["ines", "marek", "mia"]))


@pytest.mark.parametrize("n", [19, 40])
def test_what_is_not_shown_stops_nobody(tmp_path: Path, n: int) -> None:
    """Too few items, or grades that are only unlike."""
    one, other = people(n)
    odd = turned(one) if n < 20 else np.random.default_rng(1).permutation(one).tolist()
    path = sheet(tmp_path, ines=one, marek=other, mia=odd)
    assert read_label_file(path, as_reading(annotators=["ines", "marek", "mia"], scale=GRADES)).labels.items


def test_a_judge_that_runs_against_people_is_a_finding(tmp_path: Path) -> None:
    one, other = people()
    path = sheet(tmp_path, ines=one, marek=other, gpt=turned(one))
    reading = as_reading(annotators=["ines", "marek"], judges=["gpt"], scale=GRADES)
    assert "gpt" in read_label_file(path, reading).labels.judged


def test_a_constant_rater_beside_hides_nobody(tmp_path: Path) -> None:
    one, other = people()
    path = sheet(tmp_path, ines=one, marek=other, petra=[4] * 40, mia=turned(one))
    with pytest.raises(UserError, match="of mia run against those of all"):
        read_label_file(path, as_reading(annotators=["ines", "marek", "petra", "mia"], scale=GRADES))


def test_sides_that_were_never_mapped_back_run_against_people(tmp_path: Path) -> None:
    one, other = (["a" if grade > 3 else "tie" if grade == 3 else "b" for grade in own] for own in people())
    swapped = [{"a": "b", "b": "a", "tie": "tie"}[side] for side in one]
    n = len(one)
    rows = {"query": [f"q{i}" for i in range(n)], "answer_a": [f"x{i}" for i in range(n)], "answer_b": ["y"] * n}
    pd.DataFrame({**rows, "ines": one, "marek": other, "mia": swapped}).to_csv(tmp_path / "pairs.csv", index=False)
    reading = as_reading(annotators=["ines", "marek", "mia"])
    with pytest.raises(UserError, match="of mia run against"):
        read_label_file(str(tmp_path / "pairs.csv"), reading)


def test_people_are_put_beside_each_other_in_the_time_of_their_labels() -> None:
    items = tuple(Item(f"i{n}", f"q{n}", {"query": f"q{n}", "answer": "a"}) for n in range(50_000))
    given = tuple(
        Label(item.item_id, name, {"grade": n % 5}) for n, item in enumerate(items) for name in ("ann", "bob")
    )
    scale = Scale(name="grade", grades=(1, 2, 3, 4, 5))
    labels = LabelSet("grade", scale, ("grade",), items, given, accept_only=False, digest="")

    def seconds() -> float:
        began = time.process_time()
        assert not list(running_against(labels))
        return time.process_time() - began

    assert_within(0.5, seconds)
