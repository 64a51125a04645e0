from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.tournament.files.queries import Query, read_queries
from tests.compile.small import write


def test_ids_references_and_renamed_columns_are_read(tmp_path: Path) -> None:
    rows = [{"qid": 7, "question": "Why?", "reference": ["a", "b"]}, {"qid": 8, "question": "How?"}]
    rows.append({"qid": 7, "question": "Why?"})
    found = read_queries(str(write(tmp_path / "q.jsonl", rows)), {"question": "query"})
    assert found == (Query("7", "Why?", "a | b"), Query("8", "How?"))


def test_nuggets_of_a_query_are_read_and_one_that_is_none_is_named(tmp_path: Path) -> None:
    rows = [{"query_id": "7", "query": "Why?", "nuggets": ["okay: So.", {"criterion": "Thus.", "points": 2}]}]
    assert read_queries(str(write(tmp_path / "q.jsonl", rows)), {})[0].nuggets == ("okay: So.", "+2: Thus.")

    rows[0]["nuggets"] = [{"text": ""}]
    with pytest.raises(InputError, match=r"q.jsonl:1: nuggets: text"):
        read_queries(str(write(tmp_path / "q.jsonl", rows)), {})


def test_query_without_an_id_gets_one_from_its_text(tmp_path: Path) -> None:
    path = str(write(tmp_path / "q.jsonl", [{"query": "Why?"}, {"query": "How?"}]))
    one, other = read_queries(path, {})
    assert one.query_id != other.query_id
    assert read_queries(path, {})[0] == one


def test_faults_are_collected_with_their_lines(tmp_path: Path) -> None:
    rows = [{"query_id": "1", "query": "a"}, {"query_id": "1", "query": "b"}, {"query_id": "2", "query": ""}]
    with pytest.raises(InputError, match=r"q.jsonl:2[\s\S]*q.jsonl:3"):
        read_queries(str(write(tmp_path / "q.jsonl", rows)), {})
    with pytest.raises(InputError, match="no column query"):
        read_queries(str(write(tmp_path / "p.jsonl", [{"text": "a"}])), {})
