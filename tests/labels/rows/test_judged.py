"""What judges said in a table of labels: columns of theirs, or their rows among the annotators'."""

import pytest

from judgec.errors import InputError
from judgec.labels.labels import label_file
from judgec.labels.reading import Datasheet, as_reading
from judgec.labels.rows.judged import verdicts_in
from judgec.raters.verdicts import as_recorded
from judgec.table.table import Row, Table


def table(*rows: Row) -> Table:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return Table("labels.csv", columns, rows, tuple(range(2, len(rows) + 2)))


def test_columns_are_one_verdict_an_item_and_judge_whatever_the_annotators() -> None:
    rows: tuple[Row, ...] = (
        {"query": "q", "document": "d", "grade": 1, "annotator": "ann", "gpt": 1, "gpt.reply": "r", "mini": 0},
        {"query": "q", "document": "d", "grade": 2, "annotator": "bob", "gpt": 1, "gpt.reply": "r", "mini": 0},
        {"query": "p", "document": "d", "grade": 2, "annotator": "bob", "gpt": 2, "mini": None},
    )
    judged = verdicts_in(table(*rows), ["gpt", "mini", "claude"], "relevance", ("grade",))
    assert {name: [one.cell for one in own] for name, own in judged.items()} == {"gpt": [1, 2], "mini": [0, None]}
    for failed, said in ((False, ["gpt", "gpt", "mini"]), (True, ["gpt", "gpt", "mini", "mini"])):
        found = as_recorded("labels.csv", judged, "relevance", failed=failed)
        assert [row["judge"] for row in found.rows] == said
    assert (found.rows[0]["reply"], found.lines) == ("r", (2, 4, 2, 4))
    with pytest.raises(InputError, match=r"csv:3: gpt is 2 .* 1 at labels.csv:2"):
        verdicts_in(table(rows[0], rows[1] | {"gpt": 2}), ["gpt"], "relevance", ("grade",))


@pytest.mark.parametrize(
    ("task", "labels", "expected"),
    [
        ("grade", ["grade"], [("grade", 0), ("grade", 1)]),
        ("grade", ["accept"], [("grade", 0), ("grade", 1)]),
        ("answer", ["grade.a", "grade.b"], [("a", 0), ("b", 0), ("a", 1), ("b", 1)]),
    ],
)
def test_rows_of_a_judge_among_the_annotators_are_its_verdicts(
    task: str, labels: list[str], expected: list[tuple[str, int]]
) -> None:
    given = [("q", "Mia", 1), ("q", "gpt-4", 0), ("p", "Mia", 0), ("p", "gpt-4", 1)]
    rows: list[Row] = [
        {"query": query, "answer": "a", "annotator": who, **dict.fromkeys(labels, grade), "reply": f"by {who}"}
        for query, who, grade in given
    ]
    aspects = [name.removeprefix("grade.") for name in labels] if len(labels) > 1 else ["grade"]
    (own,) = verdicts_in(table(*rows), ["gpt-4"], task, aspects).values()
    assert [(one.aspect, one.cell) for one in own] == expected
    assert {one.more["reply"] for one in own} == {"by gpt-4"}
    assert {one.line for one in own} == {3, 5}


def test_objects_by_aspect_are_a_verdict_each() -> None:
    rows: list[Row] = [{"query": f"q{n}", "answer": "a", "judge": {"x": n, "y": 1}} for n in range(2)]
    (own,) = verdicts_in(table(*rows), ["judge"], "answer", ("x", "y")).values()
    assert [(one.aspect, one.cell) for one in own] == [("x", 0), ("y", 1), ("x", 1), ("y", 1)]


def test_label_set_has_judges_beside_the_labels_and_never_among_them() -> None:
    rows: list[Row] = [
        {"query": f"q{n}", "answer": f"a{n}", "annotator": who, "grade": 1 + n % 3, "metric": n / 9}
        for n in range(9)
        for who in ("Mia", "gpt-4")
    ]
    reading = as_reading(judges={"gpt-4": "", "metric": (0, 1)})
    read = label_file(table(*rows), Datasheet(), reading).labels
    assert {one.annotator for one in read.labels} == {"Mia"}
    assert {name: len(own) for name, own in read.judged.items()} == {"gpt-4": 9, "metric": 9}
    assert "metric" not in str(read.notes)
