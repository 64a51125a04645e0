"""Peers of the rows of a table, on answers that can be counted by hand."""

import pytest

from judgec.errors import InputError
from judgec.table.table import Row, Table
from judgec.verbs.add_peers import peers_of


def table(*rows: Row) -> Table:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return Table("labels.jsonl", columns, rows, tuple(range(1, len(rows) + 1)))


def row(answer: str, query: str = "q", **more: object) -> Row:
    return {"query": query, "answer": answer, **more}


def test_peers_are_the_answers_of_the_others_to_the_same_query() -> None:
    rows = [row("x", agent="a"), row("y", agent="b"), row("x", agent="c"), row("z", query="other", agent="a")]
    assert peers_of(table(*rows)) == [("y", "x"), ("x", "x"), ("x", "y"), ()]


def test_rows_of_several_annotators_count_once() -> None:
    rows = [row("x", agent="a", annotator="ann"), row("x", agent="a", annotator="bob"), row("y", agent="b")]
    assert peers_of(table(*rows)) == [("y",), ("y",), ("x",)]


def test_an_answer_that_several_systems_gave_counts_once_for_each_of_the_others() -> None:
    rows = [row("x", agents=["a", "b", "c"]), row("y", agents=["d"])]
    assert peers_of(table(*rows)) == [("x", "x", "y"), ("x", "x", "x")]


def test_a_second_answer_of_a_system_is_no_peer_of_its_first() -> None:
    rows = [row("x", agent="a"), row("y", agent="a"), row("z", agent="b")]
    assert peers_of(table(*rows)) == [("z",), ("z",), ("x", "y")]


def test_without_agents_each_different_answer_is_a_peer_and_empty_ones_are_none() -> None:
    assert peers_of(table(row("x"), row("x"), row(""), row("y"))) == [("y",), ("y",), ("x", "y"), ("x",)]


def test_query_id_groups_where_it_is_there() -> None:
    rows = [row("x", query="one", query_id="1"), row("y", query="One?", query_id="1")]
    assert peers_of(table(*rows)) == [("y",), ("x",)]


def test_a_table_without_answers_is_refused() -> None:
    with pytest.raises(InputError, match="no column answer"):
        peers_of(table({"query": "q", "response": "x"}))
