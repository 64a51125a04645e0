"""Which items of a file have no label yet."""

from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.verbs.next_labels import read_unlabelled


@pytest.mark.parametrize(
    ("text", "annotators", "ids", "labelled"),
    [
        # any annotator's label of an item is one
        ("annotator,grade\n1,q,a,x,\n1,q,a,y,3\n2,r,b,x,\n3,s,c,x,n/a\n4,t,d,x,0\n", (), ["2", "3"], 2),
        ("\n1,q,a\n2,r,b\n", (), ["1", "2"], 0),  # no column of labels
        # a rationale is no label
        ("al,al.rationale,bo\n1,q,a,,hard to say,\n2,r,b,,,2\n", ("al", "bo"), ["1"], 1),
        ('Dr. Al (1-5),"Kim, Bo"\n1,q,a,4,\n2,r,b,,\n3,s,c,,5\n', ("Dr. Al (1-5)", "Kim", "Bo"), ["2"], 2),
    ],
)
def test_read_unlabelled_gives_the_items_that_nobody_labelled(
    tmp_path: Path, text: str, annotators: tuple[str, ...], ids: list[str], labelled: int
) -> None:
    file = tmp_path / "t.csv"
    file.write_text(f"item_id,query,answer{'' if text.startswith(chr(10)) else ','}{text}")
    found = read_unlabelled(str(file), task="grade", annotators=annotators)
    assert ([item.item_id for item in found.items], found.labelled) == (ids, labelled)


def test_read_unlabelled_without_a_query_names_the_row(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("item_id,query,answer\n1,,a\n")
    with pytest.raises(InputError, match=r"t.csv:2: no query"):
        read_unlabelled(str(file), task="grade")
