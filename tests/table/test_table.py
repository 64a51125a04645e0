"""Columns of a table are those of its rows."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from judgec.table.table import Row, Table

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([0.0, -0.0, 1.0, 0.5]),
    st.sampled_from(["", "1", "a", "True"]),
    st.lists(st.integers(0, 1), max_size=2),
)
ROWS = st.lists(st.dictionaries(st.sampled_from("abc"), CELLS), max_size=8)


def written(rows: object) -> list[str]:
    """Rows as text, which tells 1 from 1.0 and true, and 0.0 from -0.0."""
    assert isinstance(rows, list | tuple)
    return [repr(sorted(row.items())) for row in rows]


def table(rows: list[Row]) -> Table:
    return Table("t.csv", ("a", "b", "c"), tuple(rows), tuple(range(1, len(rows) + 1)))


@given(ROWS, st.data())
def test_chosen_rows_and_cells_are_those_of_the_rows(rows: list[Row], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(range(len(rows))), max_size=9)) if rows else []
    whole = table(rows)
    part = whole.only(chosen)
    assert written(part.rows) == written([rows[i] for i in chosen])
    assert list(part.lines) == [i + 1 for i in chosen]
    for name in "abcd":
        assert list(map(repr, part.column(name).cells())) == [repr(rows[i].get(name)) for i in chosen]
        assert sum(part.column(name).counts) == sum(name in rows[i] for i in chosen)


@given(ROWS)
def test_columns_in_place_of_others_are_the_rows_again(rows: list[Row]) -> None:
    found = table([{} for _ in rows]).with_columns(table(rows).coded)
    assert written(found.rows) == written(rows)


def test_not_a_number_stands_once_and_is_missing() -> None:
    column = table([{"a": math.nan}, {"a": math.nan}, {}, {"a": 1.0}]).column("a")
    assert len(column.values) == 2
    assert np.array_equal(column.missing, [True, True, True, False])
