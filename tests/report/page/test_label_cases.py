"""The items of a label file's page: how far annotators are apart, by hand, and in which order they come."""

from pathlib import Path

import pytest

from judgec.labels.experts import experts_of
from judgec.labels.labels import read_label_file
from judgec.labels.reading import as_reading
from judgec.report.cases import BrowsedCase
from judgec.report.items import embedded
from judgec.report.page.label_cases import LABEL_WORDS, NOBODY, label_cases


def cases_of(folder: Path, content: str) -> tuple[BrowsedCase, ...]:
    (folder / "t.csv").write_text(content)
    labels = read_label_file(str(folder / "t.csv"), as_reading(annotators=("al", "bo", "cy"), best="5")).labels
    return label_cases(labels, experts_of(labels))


def test_items_carry_every_grade_and_their_distance(tmp_path: Path) -> None:
    content = "item_id,query,answer,al,bo,cy\ni1,q,a,1,1,1\ni2,r,b,1,5,3\ni3,s,c,4,,3\ni4,t,d,2,,\n"
    cases = cases_of(tmp_path, content)
    assert [case.distance for case in cases] == [0, 1, pytest.approx(1 / 2), 0]  # i3: one of two accepts
    assert [case.differs for case in cases] == [False, True, True, False]
    assert cases[1].head == "al 1, bo 5, cy 3"
    assert [(side.who, side.grade) for side in cases[2].sides] == [("al", "4"), ("cy", "3")]
    assert cases[1].texts == {"query": ("r",), "answer": ("b",)}
    ordered = sorted(cases, key=lambda case: case.worth())
    assert [case.item_id for case in ordered] == ["i2", "i3", "i1", "i4"]
    assert NOBODY not in {case.head for case in cases}


def test_grades_without_an_order_are_apart_by_the_share_of_the_minority(tmp_path: Path) -> None:
    content = "query,answer_a,answer_b,al,bo,cy\nq,x,y,a,a,b\nr,x,y,a,b,tie\ns,x,y,b,b,b\n"
    assert [case.distance for case in cases_of(tmp_path, content)] == pytest.approx([1 / 3, 2 / 3, 0])


def test_page_says_how_many_items_are_left_out(tmp_path: Path) -> None:
    rows = "".join(f"q{n},answer {n},{n % 5 + 1},{n % 3 + 1},\n" for n in range(30))
    cases = cases_of(tmp_path, f"query,answer,al,bo,cy\n{rows}")
    shown = embedded(cases, 2000, words=LABEL_WORDS, file="labels.items.jsonl")
    left_out = shown["left_out"]
    assert isinstance(left_out, int)
    assert 0 < left_out < 30
    assert f'"left_out":{left_out}' in str(shown["data"])
