"""Whole label files, from bytes to a LabelSet."""

import csv
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgec.errors import InputError, UserError
from judgec.labels.labels import read_item_file, read_label_file, read_labels
from judgec.labels.reading import EVERYBODY, as_reading
from judgec.records.label import LabelSet
from judgec.records.scale import ACCEPT_SCALE
from judgec.report.label_report import label_report

Rows = Sequence[dict[str, object]]


def jsonl(folder: Path, rows: Rows, name: str = "t.jsonl") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


ALL = as_reading(annotators=EVERYBODY)


def text(folder: Path, content: str, name: str = "t.csv") -> str:
    (folder / name).write_text(content)
    return str(folder / name)


def graded(*grades: object, **more: object) -> list[dict[str, object]]:
    return [{"query": f"q{i}", "answer": f"a{i}", "grade": grade, **more} for i, grade in enumerate(grades)]


def refused(path: str, *said: str, texts: bool = True, **options: object) -> None:
    """Each fault begins with the first part of its line of ``said`` and has the others."""
    with pytest.raises(InputError) as caught:
        read_label_file(path, as_reading(**options), texts=texts)
    faults = [fault.replace(str(Path(path).parent) + "/", "") for fault in caught.value.faults]
    for fault, (first, *others) in zip(faults, (one.split("|") for one in said), strict=True):
        assert fault.startswith(first), fault
        assert [part for part in others if part not in fault] == [], fault


def grades_of(labels: LabelSet, aspect: str = "grade") -> list[object]:
    return [None if aspect not in x.grades else labels.scale.grades[x.grades[aspect]] for x in labels.labels]


def has_note(labels: LabelSet, *parts: str) -> bool:
    return any(all(part in note for part in parts) for note in labels.notes)


def test_own_column_that_holds_grades_of_its_scale_alone_is_declared_and_said(tmp_path: Path) -> None:
    labels = read_labels(jsonl(tmp_path, graded(1, 1, 1, "5", 3.0, "3.0", "3")))
    assert (labels.task, labels.scale.grades, labels.scale.accept_at) == ("grade", (1, 2, 3, 4, 5), 4)
    assert grades_of(labels) == [1, 1, 1, 5, 3, 3, 3]
    assert has_note(labels, "Column grade", "1 is the worst", "5 the best", "accepted from 4")
    assert has_note(labels, "Task grade", "query, answer, grade")
    assert has_note(labels, "7 items", "under 30")


@pytest.mark.parametrize(
    ("grades", "said", "best", "scale"),
    [
        ((0, 1, 3, 3), "0 (1), 1 (1), 3 (2)|0 or 3|--best ?|best=", "3", (0, 1, 2, 3)),
        ((1, 2, 3, 4, 5, 5, 55), "5 (2), 55 (1)|1 or 55|--best ?", "55", tuple(range(1, 56))),
        (range(0, 110, 10), "0 (1), 10 (1)|0 or 100|--best ?", "0", tuple(map(str, range(100, -1, -1)))),
        (range(20), "11 (1) and 8 more|0 or 19|--best ?", "19", tuple(range(20))),
        ((1, 2, 7, "good"), "7 (1), good (1)|1 or 7|--best ?", None, ()),
        ((7, 7, 7), "7 (3)|--grades ?|grades=", None, ()),
        (("bad", "good", "bad"), "bad (2), good (1)|the worst|--grades ?|grades=", None, ()),
        ((0.2, 0.9, 0.5), "0.2 (1), 0.5 (1)|--scale 0..1|scale=", None, ()),
        ((1, 4.5, 2), "4.5 (1)|--scale 1..5|--round nearest --best ?", None, ()),
    ],
)
def test_scale_that_nobody_declared_is_asked_for_with_the_grades_and_the_line_to_type(
    tmp_path: Path, grades: Sequence[object], said: str, best: str | None, scale: tuple[object, ...]
) -> None:
    path = jsonl(tmp_path, graded(*grades))
    refused(path, f"t.jsonl:1: |datasheet.toml|{said}")
    if best is not None:
        assert read_labels(path, as_reading(best=best)).scale.grades == scale
    listed = list(dict.fromkeys(map(str, grades)))
    assert read_labels(path, as_reading(scale={"grades": [*listed, "other"]})).scale.grades[: len(listed)] == tuple(
        listed
    )


def test_grades_of_renamed_columns_and_of_columns_an_annotator_are_on_no_scale_unasked(tmp_path: Path) -> None:
    path = text(tmp_path, "query,answer,mark,mia\nq,a,1,2\nr,b,5,4\n")
    refused(path, "t.csv:1: the grades are 1 (1), 5 (1)|--best ?", columns={"mark": "grade"})
    refused(path, "t.csv:1: the grades are 2 (1), 4 (1)|--best ?", annotators=["mia"])
    assert read_labels(path, as_reading(annotators=["mia"], best="2")).scale.grades == ("4", "3", "2")


def test_zeros_and_ones_of_annotators_are_no_accepts_unasked(tmp_path: Path) -> None:
    path = text(tmp_path, "query,answer,mia,noah\nq,a,1,0\nr,b,0,1\n")
    refused(path, "t.csv:1: the grades are 0 (2), 1 (2)|0 or 1|--best ?", annotators=["mia", "noah"])
    labels = read_labels(path, as_reading(annotators=["mia", "noah"], best="1", accept_at="1"))
    assert (labels.accept_only, labels.scale.grades, labels.scale.accept_at) == (False, (0, 1), 1)


def test_scale_other_than_one_to_five_has_no_threshold(tmp_path: Path) -> None:
    path = jsonl(tmp_path, graded(0, 3, 1))
    labels = read_labels(path, as_reading(best="3"))
    assert (labels.scale.grades, labels.scale.accept_at) == ((0, 1, 2, 3), None)
    assert has_note(labels, "--accept-at")
    assert read_labels(path, as_reading(best="3", accept_at="2")).scale.accept_at == 2


def test_half_grades_are_kept_as_declared(tmp_path: Path) -> None:
    path = jsonl(tmp_path, graded(0.5, 2, "1.5"))
    assert grades_of(read_labels(path, as_reading(scale={"grades": [0.5, 1, 1.5, 2]}))) == [0.5, 2, 1.5]


@pytest.mark.parametrize("threshold", ["7", "good", "2.5"])
def test_accept_at_off_the_scale_lists_the_grades(tmp_path: Path, threshold: str) -> None:
    with pytest.raises(UserError, match=rf"--accept-at {threshold}: not a grade .* the grades are 1, 2, 3"):
        read_labels(jsonl(tmp_path, graded(1, 2, 3)), as_reading(accept_at=threshold))


def test_accept_only_in_any_words_is_read_as_accept_scale(tmp_path: Path) -> None:
    words: list[object] = [True, False, 1, 0, "Yes", "no", "ACCEPT", "reject", "pass", "F", None]
    labels = read_labels(jsonl(tmp_path, [{"query": f"q{i}", "answer": "a", "accept": w} for i, w in enumerate(words)]))
    assert (labels.accept_only, labels.scale, len(labels.items)) == (True, ACCEPT_SCALE, 11)
    assert [label.accept for label in labels.labels] == [True, False] * 5
    assert grades_of(labels) == [1, 0] * 5
    assert has_note(labels, "1 row", "1 item")
    labels = read_labels(jsonl(tmp_path, graded("pass", "fail", "pass")))
    assert labels.accept_only
    assert has_note(labels, "Column grade", "fail, pass")


def test_accept_beside_grades_is_kept_apart(tmp_path: Path) -> None:
    rows = graded(1, 2, 3)
    rows[0]["accept"] = "yes"
    labels = read_labels(jsonl(tmp_path, rows))
    assert not labels.accept_only
    assert [label.accept for label in labels.labels] == [True, None, None]


def test_declared_scale_of_words_matches_without_case(tmp_path: Path) -> None:
    text(tmp_path, '[scale]\ngrades = ["none", "some", "full"]\naccept_at = "some"\n', "t.datasheet.toml")
    labels = read_labels(jsonl(tmp_path, graded("Full", "some ", "NONE")))
    assert [label.grades["grade"] for label in labels.labels] == [2, 1, 0]
    assert labels.scale.accept_index == 1


@pytest.mark.parametrize(
    ("rows", "scale", "said"),
    [
        (
            "query,answer,grade\nq,a,1\nr,a,5\ns,a,good\nt,a,\n",
            'name = "fit"\ngrades = [0, 1, 2]',
            ["t.csv:3: grade 5|fit (0, 1, 2)|'grades' in t.datasheet.toml", "t.csv:4: grade good|fit"],
        ),
        (graded(1, "n/a", "good", 2), "grades = [1, 2]", ["t.jsonl:3: grade good|(1, 2)"]),
        (graded(None, "", "nan"), "grades = [1, 2, 3]", ["t.jsonl:1: no row of 3"]),
        ("query,answer,accept\nq,a,good\nr,b,bad\ns,c,\n", "", ["t.csv:2: accept 'good'", "t.csv:3: accept 'bad'"]),
        ("query,answer,grade.fit,grade.style\nq,a,0,\nr,a,1,\n", "", ["t.csv:1: column grade.style|2 rows"]),
    ],
)  # fmt: skip
def test_labels_that_cannot_be_are_refused_with_their_lines(
    tmp_path: Path, rows: str | Rows, scale: str, said: Sequence[str]
) -> None:
    if scale:
        text(tmp_path, f"[scale]\n{scale}\n", "t.datasheet.toml")
    refused(text(tmp_path, rows) if isinstance(rows, str) else jsonl(tmp_path, rows), *said)


def test_items_graded_again_are_refused_where_that_is_said_or_nobody_knows_by_whom(tmp_path: Path) -> None:
    path = text(tmp_path, "query,answer,annotator,grade\nq,a,x,1\nq,a,y,2\nq,a,x,1\nr,a,,1\nr,a,,1\n")
    refused(path, "t.csv:6: annotator expert|--repeats median", annotators=EVERYBODY)
    refused(path, "t.csv:4: annotator x|t.csv:2", "t.csv:6: annotator expert", repeats="error", annotators=EVERYBODY)
    assert len(read_label_file(path, as_reading(repeats="median", annotators=EVERYBODY)).labels.labels) == 3


def test_median_of_what_one_person_gave_an_item_is_the_label_by_item_and_agent(tmp_path: Path) -> None:
    given = {("q", "m"): [1, 3, 2], ("q", "n"): [3, 1], ("r", "m"): [2, 2, 1, 1], ("s", "m"): [1]}
    rows = [f"{query},a,{agent},x,{grade}" for (query, agent), own in given.items() for grade in own]
    file = read_label_file(text(tmp_path, "\n".join(["query,answer,agent,annotator,grade", *rows])))
    assert len(file.labels.items) == 4
    assert grades_of(file.labels) == [2, 1, 1, 1]  # of two middle grades the lower, in any order of the rows
    turned = read_label_file(text(tmp_path, "\n".join(["query,answer,agent,annotator,grade", *reversed(rows)])))
    assert Counter(grades_of(turned.labels)) == {1: 3, 2: 1}
    assert [(one.n, one.same) for one in turned.repeats] == [(6, 1)]
    assert [(one.annotator, one.n, one.same) for one in file.repeats] == [("x", 6, 1)]
    assert has_note(file.labels, "1 of 6 times")


@pytest.mark.parametrize(("first", "second"), [("2026-09-20", "2026-09-03T08:00"), ("20", "3"), ("2026-09-20", "")])
def test_latest_of_repeated_gradings_is_the_label_where_a_column_says_when(
    tmp_path: Path, first: str, second: str
) -> None:
    rows = [f"q,a,x,3,{first}", f"q,a,x,1,{second}", f"r,a,x,2,{first}"]
    for order in (rows, rows[::-1]):
        path = text(tmp_path, "\n".join(["query,answer,annotator,grade,created", *order]))
        found = read_label_file(path, as_reading(columns={"created": "graded_at"}, repeats="median"))
        assert set(grades_of(found.labels)) == {2, 3}
        assert has_note(found.labels, "latest by graded_at")
    path = text(tmp_path, f"query,answer,annotator,grade,graded_at\n{rows[0]}\nq,a,x,1,yesterday\n")
    refused(path, "t.csv:3: graded_at 'yesterday'")


def test_faults_of_every_kind_are_collected_in_line_order(tmp_path: Path) -> None:
    text(tmp_path, "[scale]\ngrades = [1, 2]\n", "t.datasheet.toml")
    rows = ["item_id,query,answer,grade,accept", "1,q,a,9,", "2,,a,1,", "3,r,a,1,maybe", "4,s,a,1,no"]
    said = ["2:|not on scale", "3:|no query", "4:|neither accept nor reject", "6:|another answer"]
    said += ["6:|labels item 4 again", "7:|labels item 4 again"]
    path = text(tmp_path, "\n".join([*rows, "4,s,other,2,no", "4,s,a,2,no"]))
    refused(path, *(f"t.csv:{one}" for one in said))


def test_missing_columns_say_what_there_is_and_how_to_map(tmp_path: Path) -> None:
    path = text(tmp_path, "question,said,score\nq,a,1\nr,b,2\n")
    refused(path, "t.csv:1: |question, said, score|query, answer, grade or accept|--map question=query|init t.csv")
    refused(path, "t.csv|preference|query, answer_a, answer_b, preference", task="preference")
    rename = {"question": "query", "said": "answer", "score": "grade"}
    assert grades_of(read_labels(path, as_reading(columns=rename, best="2"))) == [1, 2]
    path = text(tmp_path, "query,answer,response,grade\nq,a,b,1\nr,a,b,2\n")
    refused(path, "t.csv|no column 'reply'|query, answer, response, grade", columns={"reply": "answer"})
    refused(path, "t.csv|a second column 'answer'", columns={"response": "answer"})
    swapped = read_labels(path, as_reading(columns={"response": "answer", "answer": "response"}))
    assert [item.inputs["answer"] for item in swapped.items] == ["b", "b"]


def test_unknown_task_lists_the_tasks(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"relevance is valid"):
        read_labels(jsonl(tmp_path, graded(1, 2)), as_reading(task="rating"))


def test_missing_answers_are_empty_and_counted_and_other_types_become_text(tmp_path: Path) -> None:
    rows: Rows = [
        {"query": "q", "grade": 1},
        {"query": "r", "answer": None, "grade": 2},
        {"query": "s", "answer": " ", "grade": 2},
        {"query": "t", "answer": True, "grade": 1},
        {"query": 7, "answer": 2.5, "grade": 1, "reference": ["x", "y"], "contexts": ["c", 4, None]},
        {"query": "u", "answer": {"k": "é"}, "grade": 1, "contexts": "one text"},
        {"query": "v", "answer": "a\ud800b", "grade": 1, "contexts": '["p", "q"]'},
        {"query": "w", "answer": "a", "grade": 1, "contexts": "[1] a cited text", "reference": float("nan")},
    ]
    file = read_label_file(jsonl(tmp_path, rows))
    items = file.labels.items
    assert [item.text("answer") for item in items] == ["", "", "", "true", "2.5", '{"k": "é"}', "a\ufffdb", "a"]
    assert (file.empty_answers, file.not_text) == (3, 5)
    assert has_note(file.labels, "3 rows without an answer")
    assert (items[4].inputs["query"], items[4].inputs["reference"]) == ("7", "x | y")
    contexts = [item.texts("contexts") for item in items[4:]]
    assert contexts == [("c", "4"), ("one text",), ("p", "q"), ("[1] a cited text",)]
    assert "reference" not in items[7].inputs


def test_default_ids_group_annotators_and_keep_agents_apart(tmp_path: Path) -> None:
    rows = ["query,answer,agent,annotator,grade", "q,same,one,x,1", "q,same,one,y,2", "q,same,two,x,1"]
    labels = read_labels(text(tmp_path, "\n".join([*rows, "q,other,two,x,2"])), ALL)
    assert len(labels.items) == 3
    assert len({item.query_id for item in labels.items}) == 1
    assert [label.line for label in labels.labels] == [2, 3, 4, 5]


def test_digest_is_the_same_from_any_format_order_and_way_of_writing(tmp_path: Path) -> None:
    rows = [{**row, "item_id": i} for i, row in enumerate(graded(1, 5, 3, contexts=["c", "d"], annotator="x"))]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "contexts": json.dumps(row["contexts"])} for row in reversed(rows))
    floats = [{**row, "item_id": float(i)} for i, row in enumerate(rows)]
    pq.write_table(pa.Table.from_pylist(floats), tmp_path / "t.parquet")
    paths = (jsonl(tmp_path, rows), str(tmp_path / "t.csv"), str(tmp_path / "t.parquet"))
    (digest,) = {read_labels(path).digest for path in paths}
    rows[0]["grade"] = 2
    assert read_labels(jsonl(tmp_path, rows)).digest != digest


def test_aspects_are_read_by_column_and_blank_ones_are_absent(tmp_path: Path) -> None:
    path = text(tmp_path, "query,answer,grade.fit,grade.style\nq,a,0,2\nr,a,,1\ns,a,1,\n")
    labels = read_labels(path)
    assert (labels.task, labels.aspects, labels.scale.grades) == ("answer", ("fit", "style"), (0, 1, 2))
    assert (grades_of(labels, "fit"), grades_of(labels, "style")) == ([0, None, 1], [2, 1, None])
    assert has_note(labels, "2 labels", "aspect blank")


def test_preferences_are_read_without_case_and_others_refused(tmp_path: Path) -> None:
    head = "query,answer_a,answer_b,preference\n"
    labels = read_labels(text(tmp_path, head + "q,x,y,A\nr,x,y,tie\ns,x,y, b\n"))
    assert (labels.task, labels.scale.level) == ("preference", "nominal")
    assert grades_of(labels) == ["a", "tie", "b"]
    numbers = text(tmp_path, head + "q,x,y,1\nr,x,y,2\ns,x,y,0\n")
    refused(numbers, "t.csv|'1', '2', '0'")
    assert grades_of(read_labels(numbers, as_reading(winner_words={"1": "a", "2": "b", "0": "tie"}))) == [
        "a",
        "b",
        "tie",
    ]
    with pytest.raises(UserError, match="has no order"):
        read_labels(text(tmp_path, head + "q,x,y,a\nr,x,y,b\n"), as_reading(accept_at="a"))
    labels = read_labels(text(tmp_path, "query,answer,outcome\nq,a,Refused then answered\nr,b,described\n"))
    assert (labels.task, grades_of(labels)) == ("rejection", ["refused_then_answered", "described"])


def test_ambiguous_columns_choose_the_most_specific_task_and_say_so(tmp_path: Path) -> None:
    path = text(tmp_path, "query,answer,document,grade,grade.fit\nq,a,d,1,0\nr,b,d,2,1\n")
    labels = read_labels(path)
    assert labels.task == "answer"
    assert has_note(labels, "grade, relevance", "--task")
    assert read_labels(path, as_reading(task="relevance")).items[0].inputs == {"query": "q", "document": "d"}


def test_task_of_the_datasheet_beats_inference_and_the_option_beats_both(tmp_path: Path) -> None:
    path = text(tmp_path, "query,answer,document,grade\nq,a,d,1\nr,b,e,2\n")
    assert read_labels(path).task == "grade"
    text(tmp_path, 'task = "relevance"\n', "t.datasheet.toml")
    assert read_labels(path).task == "relevance"
    assert read_labels(path, as_reading(task="grade")).task == "grade"


def test_query_text_under_two_query_ids_is_pointed_out(tmp_path: Path) -> None:
    path = text(tmp_path, "query,query_id,answer,grade\nq,1,a,1\nq,2,b,2\n")
    assert has_note(read_labels(path), "1 query text", "query_ids")


def test_items_are_read_without_labels_and_rows_of_one_item_collapse(tmp_path: Path) -> None:
    rows = "query,answer,annotator,grade\nq,a,x,nonsense\nq,a,y,\nr,b,x,1\n"
    file = read_item_file(text(tmp_path, rows), task="grade")
    assert [item.inputs for item in file.items] == [{"query": "q", "answer": "a"}, {"query": "r", "answer": "b"}]
    assert file.rows == 3
    (note,) = file.notes
    assert note.startswith("1 row ")
    rename = {"prompt": "query", "reply": "answer"}
    (item,) = read_item_file(text(tmp_path, "prompt,reply\nq,a\n"), task="grade", rename=rename).items
    assert item.inputs == {"query": "q", "answer": "a"}


def test_items_with_faults_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="relevance needs document,"):
        read_item_file(text(tmp_path, "query,answer\nq,a\n"), task="relevance")
    with pytest.raises(InputError, match=r"t.csv:3: item 1 .*t.csv:2"):
        read_item_file(text(tmp_path, "item_id,query,answer\n1,q,a\n1,q,b\n"), task="grade")


def test_means_of_raters_are_said_and_rounded_when_asked(tmp_path: Path) -> None:
    means = [1.333, 2.667, 4.0, 3.333, 5.0, 2.0, 4.667, 1.0] * 5
    path = jsonl(tmp_path, graded(*means))
    numbers = as_reading(scale={"level": "interval", "grades": [1, 5]})
    assert has_note(read_labels(path, numbers), "3 annotators (thirds)", "8 different grades", "--round nearest")
    refused(path, "t.jsonl:1: the grades are 1 (5), 1.333 (5)|--scale 1..5|--round nearest --best ?")
    rounded = read_label_file(path, as_reading(round="nearest")).labels
    assert rounded.scale.grades == (1, 2, 3, 4, 5)
    assert grades_of(rounded) == [round(one) for one in means]
    assert has_note(rounded, "20 of 40 grades")
    declared = {"grades": [1, 2, 3, 4, 5]}
    with pytest.raises(InputError, match=r"--round nearest.* 3 annotators"):
        read_label_file(path, as_reading(scale=declared))
    assert read_label_file(path, as_reading(scale=declared, round="nearest")).labels.scale.grades[0] == 1


def test_decimal_commas_of_a_column_of_grades_are_numbers(tmp_path: Path) -> None:
    rows = "".join(f'q{i},a{i},"{grade}"\n' for i, grade in enumerate(["1,5", "2", "2,5", "1"] * 5))
    path = text(tmp_path, f"query,answer,grade\n{rows}")
    assert grades_of(read_labels(path, as_reading(scale={"grades": [1, 1.5, 2, 2.5]})))[:4] == [1.5, 2, 2.5, 1]


def rated(values: Sequence[Sequence[object]]) -> list[dict[str, object]]:
    """Rows of ids and labels alone: one list an annotator, two items a query."""
    return [
        {"item_id": f"i{n}", "query_id": f"q{n // 2}", "annotator": name, "grade": value}
        for name, own in zip(("ann", "bob", "cem"), values, strict=False)
        for n, value in enumerate(own)
    ]


GRADED = ((1, 2, 3, 3, 2, 1, 3, 2), (1, 3, 3, 3, 2, 1, 2, 2), (2, 2, 3, 3, 1, 1, 3, 2))


def test_labels_beside_ids_alone_agree_as_beside_their_texts(tmp_path: Path) -> None:
    rows = rated(GRADED)
    texts = [{**row, "query": row["query_id"], "answer": row["item_id"]} for row in rows]
    bare, whole = (
        label_report(read_label_file(jsonl(tmp_path, one), ALL, texts=False), "any") for one in (rows, texts)
    )
    for key in ("items", "labels", "queries", "annotators", "agreement", "ceiling", "against_others", "duplicates"):
        assert bare[key] == whole[key], key
    by_query = [{**row, "item_id": None} for row in rows if row["item_id"] in {"i0", "i2"}]
    assert len(read_label_file(jsonl(tmp_path, by_query), ALL, texts=False).labels.items) == 2


def test_classes_beside_ids_alone_have_no_order(tmp_path: Path) -> None:
    words = [["refund" if n % 3 else "billing" for n in range(8)], ["refund" if n % 4 else "other" for n in range(8)]]
    found = read_label_file(jsonl(tmp_path, rated(words)), ALL, texts=False)
    assert (found.labels.scale.level, found.labels.scale.grades) == ("nominal", ("billing", "other", "refund"))
    report = label_report(found, "any")
    assert report["agreement"]["level"] == "nominal"
    (pair,) = report["agreement"]["pairwise"]
    first, second = words
    assert pair["exact"] == pytest.approx(sum(a == b for a, b in zip(first, second, strict=True)) / 8)
    assert (pair["tau_b"], pair["kappa"] is None) == (None, False)


def test_verbs_that_need_texts_say_that_they_are_missing(tmp_path: Path) -> None:
    path = jsonl(tmp_path, rated(GRADED))
    with pytest.raises(
        UserError, match=r"no texts beside the labels; the columns are item_id, query_id, annotator, grade"
    ):
        read_label_file(path)
    rows: Rows = [{**row, "comment": "what a customer asked us about then"} for row in rated(GRADED)]
    refused(jsonl(tmp_path, rows), "t.jsonl:1: the columns|fit no task", texts=False, annotators=EVERYBODY)
    rows = [{**row, "item_id": None, "query_id": None} if n == 3 else row for n, row in enumerate(rated(GRADED))]
    refused(jsonl(tmp_path, rows), "t.jsonl:4: no item_id or query_id", texts=False, annotators=EVERYBODY)
