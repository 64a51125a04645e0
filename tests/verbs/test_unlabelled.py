"""Which items of a file have no label yet."""

from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.verbs.next_labels import read_unlabelled


def ids(path: Path, **options: object) -> tuple[list[str], int]:
    annotators = options.get("annotators", ())
    assert isinstance(annotators, tuple)
    found = read_unlabelled(str(path), task="grade", annotators=annotators)
    return [item.item_id for item in found.items], found.labelled


def test_read_unlabelled_takes_any_annotators_label_of_an_item_for_one(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("item_id,query,answer,annotator,grade\n1,q,a,x,\n1,q,a,y,3\n2,r,b,x,\n3,s,c,x,n/a\n4,t,d,x,0\n")
    assert ids(file) == (["2", "3"], 2)


def test_read_unlabelled_of_a_file_without_a_label_column_gives_everything(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("item_id,query,answer\n1,q,a\n2,r,b\n")
    assert ids(file) == (["1", "2"], 0)


def test_read_unlabelled_with_a_column_a_rater_ignores_their_rationales(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("item_id,query,answer,al,al.rationale,bo\n1,q,a,,hard to say,\n2,r,b,,,2\n")
    assert ids(file, annotators=("al", "bo")) == (["1"], 1)


def test_read_unlabelled_without_a_query_names_the_row(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("item_id,query,answer\n1,,a\n")
    with pytest.raises(InputError, match=r"t.csv:2: no query"):
        read_unlabelled(str(file), task="grade")


def test_read_unlabelled_knows_raters_whose_columns_have_dots_and_commas(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text('item_id,query,answer,Dr. Al (1-5),"Kim, Bo"\n1,q,a,4,\n2,r,b,,\n3,s,c,,5\n')
    assert ids(file, annotators=("Dr. Al (1-5)", "Kim", "Bo")) == (["2"], 2)
