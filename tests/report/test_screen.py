"""Tables on narrow screens: nothing is lost and nothing that belongs together is torn apart."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.report.screen import TextTable, blocks, print_tables

HEADS = ("agent", "rating [95 %]", "rank", "group", "Elo", "wins : losses", "tokens a query", "median ms", "$ a query")
ROWS = [
    ("rag-fusion-hybrid", "1043 [1001, 1088]", "1 (1-2)", "A", "1052", "41 : 7", "12,429", "1234.5", "0.0012"),
    ("rag-bm25", "957 [912, 999]", "2 (1-2)", "A", "948", "7 : 41", "2,429", "12.0", "0.0001"),
]


Printed = Callable[[TextTable, int], list[str]]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Printed:
    """The lines of a table on a screen of this width."""

    def lines(table: TextTable, width: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        print_tables(table)
        return capsys.readouterr().out.split("\n")

    return lines


BOARD = TextTable("Leaderboard", HEADS, ROWS)


@pytest.mark.parametrize("width", [42, 60, 80, 100, 200])
def test_every_cell_is_whole_and_no_line_is_longer_than_the_screen(width: int, printed: Printed) -> None:
    lines = printed(BOARD, width)
    assert max(map(len, lines)) <= width
    assert [cell for row in ROWS for cell in row if not any(cell in line for line in lines)] == []


def test_wide_screen_has_one_line_a_row_and_a_narrow_one_the_first_column_in_each_block(printed: Printed) -> None:
    assert sum("rag-bm25" in line for line in printed(BOARD, 200)) == 1
    narrow = printed(BOARD, 50)
    assert sum("rag-bm25" in line for line in narrow) > 1
    assert sum("Leaderboard" in line for line in narrow) == 1


def test_heads_wrap_before_cells_and_texts_wrap_between_words(printed: Printed) -> None:
    advice = "ask for shorter answers, and index the catalogue in smaller passages than now"
    row = ("numbers", ".31 [.22, .42]", advice)
    lines = printed(TextTable("What to do", ("scenario", "share that failed", "advice"), [row]), 60)
    assert any(".31 [.22, .42]" in line for line in lines)
    said = " ".join(re.sub(r"numbers|\.31 \[\.22, \.42\]", "", line).strip() for line in lines[4:])
    assert advice in " ".join(said.split())


def test_names_of_rows_and_shares_with_their_intervals_are_never_broken(printed: Printed) -> None:
    names = ("tau-b of the score", "accept agreement", "bias [limits of agreement]", "reject rate, experts")
    cells = ("55 % [45, 64]", "+.02 [-1.87, 1.91]", "+12 points [+4, +20]", "104 (26)")
    heads = ("", "compiled", "compiled, one annotator left out", "ceiling")
    table = TextTable("in full", heads, [(n, *3 * (c,)) for n in names for c in cells])
    for width in (60, 70, 76, 80):
        lines = printed(table, width)
        assert max(map(len, lines)) <= width
        for whole in (*names, *cells):
            assert sum(whole in line for line in lines) >= 4, (width, whole)
        halves = {name.split()[0] for name in names} | {"55 % [45,", "+12 points"}
        assert not [line for line in lines if line.strip() in halves]


def test_name_longer_than_the_screen_stays_whole(printed: Printed) -> None:
    name = "llama3.2/" + "very-long-name-" * 6
    lines = printed(TextTable("Judges", ("judge", "QWK"), [(name, ".46 [.40, .52]")]), 40)
    for whole in (name, ".46 [.40, .52]"):
        assert any(whole in line for line in lines)


def test_legend_stands_under_the_table_and_is_wrapped(printed: Printed) -> None:
    legend = {"ceiling": "each expert, against all the others"}
    lines = printed(TextTable("T", ("judge", "n"), [("ceiling", "3")], legend=legend), 36)
    assert [line.split()[0] for line in lines if "each" in line] == ["ceiling"]
    assert max(map(len, lines)) <= 36


def test_column_of_nothing_has_a_place(printed: Printed) -> None:
    assert any(line.split() == ["3"] for line in printed(TextTable("T", (" ", "n"), [("", "3")]), 40))


@given(
    st.lists(st.lists(st.text("ab [],.1%", max_size=20), min_size=3, max_size=3), min_size=1, max_size=4),
    st.integers(10, 120),
)
def test_every_column_is_in_a_block_and_the_first_in_all_of_them(columns: list[list[str]], width: int) -> None:
    found = list(blocks(columns, width))
    assert set().union(*found) == set(range(len(columns)))
    assert all(0 in block for block in found)
    lead = set(found[0]).intersection(*found[1:])
    later = [place for block in found for place in block if place not in lead]
    assert later == sorted(set(later))


def test_rows_that_their_first_cell_does_not_tell_apart_keep_the_second_in_each_block() -> None:
    columns = [
        ["scenario", "numbers", "numbers"],
        ["system", "rag-bm25", "rag-knn"],
        *[[f"head {n}", ".31 [.22, .42]", ".31 [.22, .42]"] for n in range(5)],
    ]
    found = list(blocks(columns, 60))
    assert len(found) > 1
    assert all({0, 1} <= block.keys() for block in found)
    columns[0][2] = "names"
    assert not all(1 in block for block in blocks(columns, 60))
