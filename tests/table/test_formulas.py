"""Text that a spreadsheet would run stays text in every table that judgec writes, and comes back as it was."""

import csv
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgec.labels.bulk.items import open_items
from judgec.labels.labels import read_item_file
from judgec.records.label import Item
from judgec.table.formulas import guarded, is_own, unguarded
from judgec.table.tables import read_table
from judgec.tournament.files.folder import write_folder
from judgec.verbs.next_labels import Pick, sheet
from tests.records.test_card import make_card

RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
EVIL = '=HYPERLINK("http://evil.example","x")'


@given(st.text(st.sampled_from([*RUNS, "'", "a", "1"])) | st.text())
@example("'=1")
@example("''@x")
def test_guarded_text_is_no_formula_and_unguarded_as_it_was(text: str) -> None:
    assert not guarded(text).startswith(RUNS)
    assert unguarded(guarded(text)) == text


DROPPED = (" ", "\xa0", "\u200b", "\u200d", "\u2060", "\ufeff", "\u3000", "\v", "\x1b", "\xad", " \xa0\u200b")


@pytest.mark.parametrize("sign", RUNS[:4])
@pytest.mark.parametrize("before", DROPPED)
def test_guarded_text_behind_what_programs_drop_is_no_formula(before: str, sign: str) -> None:
    text = f"{before}{sign}1+1"
    assert guarded(text) == f"'{text}"
    assert unguarded(f"'{text}") == text


def test_guarded_leaves_other_text_alone() -> None:
    others = ("", "a = b", "'tis", "5", "a@b", "(=1)", "“=1”")
    assert tuple(map(guarded, others)) == others


def test_tables_of_a_tournament_hold_no_formula_and_are_read_as_they_were(tmp_path: Path) -> None:
    head = ["query_id", "agent_a", "agent_b", "winner", "score_a", "score_b", "flipped", "reason", "unscored"]
    row = ["-q1", "@agent", "+b", "@agent", -1.5, 0.5, "false", EVIL, None]
    write_folder(tmp_path, {"games": [head, row]}, {})
    with (tmp_path / "games.csv").open(newline="") as file:
        cells = list(csv.reader(file))[1]
    assert cells == ["'-q1", "'@agent", "'+b", "'@agent", "-1.5", "0.5", "false", f"'{EVIL}", ""]
    texts = ["" if cell is None else str(cell) for cell in row]
    assert list(read_table(str(tmp_path / "games.csv")).rows[0].values()) == texts


def test_sheet_of_next_labels_holds_no_formula_and_its_items_come_back_as_they_were(tmp_path: Path) -> None:
    item = Item("-1", "=q", {"query": EVIL, "answer": "-5 °C"})
    path = tmp_path / "sheet.csv"
    path.write_text(sheet([Pick(item, "random", 0.5)], make_card(task="grade")), encoding="utf-8", newline="")

    with path.open(newline="") as file:
        assert not [cell for row in csv.reader(file) for cell in row if cell.startswith(RUNS)]
    whole, streamed = read_item_file(str(path), task="grade"), open_items(str(path), task="grade")
    assert [*whole.items, *streamed.items] == [item, item]


def test_tables_of_other_people_keep_their_apostrophes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("query,answer\n'@home,'=1\n")
    assert read_table(str(tmp_path / "t.csv")).rows == ({"query": "'@home", "answer": "'=1"},)
    assert not is_own(["query", "answer"])
