"""Labels within objects and lists."""

from judgec.table.rows.nested import with_nested, with_raters
from judgec.table.table import Row, Table


def table(*rows: Row) -> Table:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return Table("t.jsonl", columns, rows, tuple(range(1, len(rows) + 1)))


def test_feedback_gives_label_annotator_and_reason() -> None:
    found = with_nested(table({"query": "q", "answer": "a", "feedback": {"score": 4, "by": "mia", "comment": "fine"}}))
    assert found.rows[0] == {"query": "q", "answer": "a", "grade": 4, "annotator": "mia", "rationale": "fine"}


def test_list_of_feedback_gives_a_row_each() -> None:
    found = with_nested(table({"query": "q", "annotations": [{"rating": 4, "user": "a"}, {"rating": 2, "user": "b"}]}))
    assert [(row["annotator"], row["grade"]) for row in found.rows] == [("a", 4), ("b", 2)]


def test_score_of_a_retriever_is_no_label() -> None:
    given = table(
        {"query": "q", "answer": "a", "meta": {"score": 0.3, "model": "m"}, "contexts": [{"text": "x", "score": 1}]}
    )
    assert with_nested(given) is given


def test_grades_of_several_aspects_are_not_made_one() -> None:
    given = table({"query": "q", "answer": "a", "labels": {"relevance": 2, "accuracy": 1}})
    assert with_nested(given) is given


def test_label_of_the_row_itself_stays() -> None:
    given = table({"query": "q", "answer": "a", "grade": 1, "feedback": {"score": 4}})
    assert with_nested(given) is given


def test_list_of_scores_gives_raters() -> None:
    found = with_raters(table({"query": "q", "scores": [4, 5]}, {"query": "r", "scores": "[1, 2, 3]"}))
    assert [(row["annotator"], row["grade"]) for row in found.rows] == [
        *(("rater-1", 4), ("rater-2", 5)),
        *(("rater-1", 1), ("rater-2", 2), ("rater-3", 3)),
    ]


def test_list_of_one_score_is_the_score() -> None:
    found = with_raters(
        table({"query": "q", "grade": [1], "annotator": "a"}, {"query": "r", "grade": [2], "annotator": "b"})
    )
    assert [(row["annotator"], row["grade"]) for row in found.rows] == [("a", 1), ("b", 2)]
