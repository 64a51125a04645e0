"""Annotators of a table: from one column each, from a column ``annotator``, and where nothing tells of them."""

import numpy as np
import pytest

import judgec
from judgec.errors import UserError
from judgec.labels.rows.graded import ComparedColumns, Graded, graded_of
from judgec.labels.rows.panel import AnnotatorPanel
from judgec.table.table import Row, Table

LABELS: dict[str, list[int | None]] = {"ann": [1, 2, 3, 4], "bob": [2, 2, 3, 5], "cem": [1, None, 4, 5]}
JUDGE: list[int | None] = [1, 3, 3, None]


def wide() -> list[Row]:
    return [
        {"item_id": f"i{i}", "query_id": f"q{i // 2}", "judge": JUDGE[i], **{n: of[i] for n, of in LABELS.items()}}
        for i in range(4)
    ]


def long() -> list[Row]:
    return [
        {"item_id": row["item_id"], "query_id": row["query_id"], "annotator": n, "grade": row[n], "judge": row["judge"]}
        for n in LABELS
        for row in wide()
    ]


def read(rows: list[Row], expert: str, annotators: tuple[str, ...] = (), cluster: str | None = None) -> Graded:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    table = Table("t.csv", columns, tuple(rows), tuple(range(2, len(rows) + 2)), by_line=True)
    return graded_of(table, ComparedColumns(experts=(expert,), judge="judge", cluster=cluster, annotators=annotators))


def panel(rows: list[Row], expert: str, annotators: tuple[str, ...] = (), cluster: str | None = None) -> AnnotatorPanel:
    found = read(rows, expert, annotators, cluster).panel
    assert isinstance(found, AnnotatorPanel)
    return found


def test_wide_and_long_tables_give_the_same_panel() -> None:
    for found in (panel(wide(), "ann", ("ann", "bob", "cem")), panel(long(), "grade")):
        assert (found.annotators, found.clustered_by) == (("ann", "bob", "cem"), "query_id")
        assert found.values == (1.0, 2.0, 3.0, 4.0, 5.0)
        assert found.by.tolist() == [[0, 1, 2, 3], [1, 1, 2, 4], [0, -1, 3, 4]]
        assert found.judge.tolist() == [0, 2, 2, -1]
        assert found.cluster is not None
        assert (found.cluster.tolist(), found.notes) == ([0, 0, 1, 1], ())


def test_column_of_the_experts_is_measured_as_before_beside_annotators() -> None:
    plain, beside = read(wide(), "ann"), read(wide(), "ann", ("bob", "cem"))
    assert plain.panel is None
    assert np.array_equal(plain.ratings.expert, beside.ratings.expert)
    assert plain.notes == beside.notes


def test_named_annotators_of_a_long_table_are_the_only_ones() -> None:
    assert panel(long(), "grade", ("bob", "cem")).annotators == ("bob", "cem")
    with pytest.raises(UserError, match=r"--annotators dan: .* annotators ann, bob, cem"):
        read(long(), "grade", ("dan",))
    with pytest.raises(UserError, match=r"--annotators dan: .* item_id"):
        read(wide(), "ann", ("ann", "dan"))


def test_items_are_told_apart_by_their_inputs_where_no_id_is() -> None:
    rows: list[Row] = [{"query": row["query_id"], "answer": row["item_id"], **row} for row in long()]
    found = panel([{k: v for k, v in row.items() if not k.endswith("_id")} for row in rows], "grade")
    assert (found.by.shape, found.clustered_by) == ((3, 4), "query")
    untold: list[Row] = [{k: row[k] for k in ("annotator", "grade", "judge")} for row in long()]
    assert isinstance(said := read(untold, "grade").panel, str)
    assert "no column says" in said


def test_repeated_labels_and_differing_judgments_are_counted() -> None:
    rows = long()
    rows.append({**rows[0], "grade": 5, "judge": 4})
    found = panel(rows, "grade")
    assert (found.by[0, 0], found.judge[0], len(found.notes)) == (0, 0, 2)
    assert found.notes[0].startswith("annotators: 1 row repeats")


def test_own_cluster_column_groups_items() -> None:
    found = panel([{**row, "topic": "one"} for row in wide()], "ann", ("ann", "bob"), cluster="topic")
    assert found.clustered_by == "topic"
    assert found.cluster is not None
    assert set(found.cluster.tolist()) == {0}


def test_classes_are_aligned_by_accuracy() -> None:
    words = ["bad", "fine", "good", "odd"]
    rows: list[Row] = [{"item_id": f"i{i}", "ann": words[i], "bob": words[-i], "judge": words[i]} for i in range(4)]
    assert panel(rows, "ann", ("ann", "bob")).values is None


@pytest.mark.parametrize(
    "heads", [{}, {"query": "Question", "answer": "Answer", "grade": "Rating", "annotator": "Rater"}]
)
def test_row_an_item_and_annotator_is_measured_as_a_column_each(heads: dict[str, str]) -> None:
    people = ("Ines", "Tom", "Uta")
    rows: list[Row] = [
        {"query": f"Which pump {i // 2}?", "answer": f"The {i}th.", "judge": 1 + i % 5}
        | {name: 1 + (i * (n + 2) + i // 5) % 5 for n, name in enumerate(people)}
        for i in range(30)
    ]
    each: list[Row] = [
        {"query": row["query"], "answer": row["answer"], "judge": row["judge"], "annotator": name, "grade": row[name]}
        for row in rows
        for name in people
    ]
    columns = judgec.agreement(rows, annotators=people, judge="judge")
    found = judgec.agreement([{heads.get(k, k): v for k, v in row.items()} for row in each], judge="judge")
    assert (found.agreement, found.ceilings) == (columns.agreement, columns.ceilings)
    assert found.agreement.n == 30
    assert any("90 labels of 30 items" in note for note in found.notes)


def test_items_that_no_column_tells_apart_stay_rows() -> None:
    rows: list[Row] = [
        {"query": f"Which pump {i // 4}?", "annotator": name, "grade": 1 + i % 5, "judge": 1 + (i + i // 3) % 5}
        for i in range(20)
        for name in ("Ines", "Tom")
    ]
    assert judgec.agreement(rows, judge="judge").agreement.n == 40
