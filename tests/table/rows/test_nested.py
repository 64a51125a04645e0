"""Labels within objects and lists."""

import pytest

from judgec.table.rows.nested import with_nested, with_raters
from judgec.table.table import Row, Table


def table(*rows: Row) -> Table:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return Table("t.jsonl", columns, rows, tuple(range(1, len(rows) + 1)))


def graded(found: Table) -> list[tuple[object, object]]:
    return [(row["annotator"], row["grade"]) for row in found.rows]


def test_feedback_gives_label_annotator_and_reason_and_a_list_a_row_each() -> None:
    found = with_nested(table({"query": "q", "answer": "a", "feedback": {"score": 4, "by": "mia", "comment": "fine"}}))
    assert found.rows[0] == {"query": "q", "answer": "a", "grade": 4, "annotator": "mia", "rationale": "fine"}
    found = with_nested(table({"query": "q", "annotations": [{"rating": 4, "user": "a"}, {"rating": 2, "user": "b"}]}))
    assert graded(found) == [("a", 4), ("b", 2)]


@pytest.mark.parametrize(
    "more",
    [
        {"meta": {"score": 0.3, "model": "m"}, "contexts": [{"text": "x", "score": 1}]},  # of a retriever
        {"labels": {"relevance": 2, "accuracy": 1}},  # several aspects are not made one
        {"grade": 1, "feedback": {"score": 4}},  # the row's own label stays
    ],
)
def test_other_objects_are_no_labels(more: Row) -> None:
    given = table({"query": "q", "answer": "a", **more})
    assert with_nested(given) is given


def test_list_of_scores_gives_raters_and_one_of_one_is_the_score() -> None:
    found = with_raters(table({"query": "q", "scores": [4, 5]}, {"query": "r", "scores": "[1, 2, 3]"}))
    assert graded(found) == [*(("rater-1", 4), ("rater-2", 5)), *(("rater-1", 1), ("rater-2", 2), ("rater-3", 3))]
    rows: list[Row] = [{"query": "q", "grade": [1], "annotator": "a"}, {"query": "r", "grade": [2], "annotator": "b"}]
    assert graded(with_raters(table(*rows))) == [("a", 1), ("b", 2)]
