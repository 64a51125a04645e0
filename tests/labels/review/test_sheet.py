"""The file that experts grade into: nothing lost, nothing else changed, and readable by every other command."""

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given as property_of
from hypothesis import settings
from hypothesis import strategies as st

from judgec.errors import InputError, UserError
from judgec.labels.labels import read_label_file
from judgec.labels.reading import read_datasheet
from judgec.labels.review.form import Form
from judgec.labels.review.sheet import Given, LabelSheet, declare_people, open_sheet
from judgec.records.scale import Scale

ROWS: Sequence[dict[str, object]] = [
    {"item_id": "i1", "query": "Q1", "answer": "A1", "contexts": ["one", "two"], "extra": {"kept": 1.50}},
    {"item_id": "i2", "query": "Q2", "answer": "A2", "contexts": ["one"], "annotator": "ann", "grade": 3},
    {"item_id": "i3", "query": "Q3", "answer": "A3", "contexts": []},
]


def sheet_of(folder: Path, rows: Sequence[Mapping[str, object]] = ROWS) -> LabelSheet:
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return open_sheet(str(path))[0]


def rows_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def blank(n: int, **more: object) -> list[dict[str, object]]:
    return [{"item_id": f"i{k}", "query": f"Q{k}", "answer": "A", **more} for k in range(n)]


def test_labels_fill_blank_rows_and_further_annotators_get_rows_of_their_own(tmp_path: Path) -> None:
    sheet = sheet_of(tmp_path)
    sheet.save("i1", "bob", Given({"grade": 4}, "good"))
    sheet.save("i1", "ann", Given({"grade": 0}))
    sheet.save("i2", "bob", Given({"grade": 1}))
    rows = rows_of(sheet.path)
    given = [("i1", "bob", 5), ("i1", "ann", 1), ("i2", "ann", 3), ("i2", "bob", 2)]
    found = [(row["item_id"], row.get("annotator"), row.get("grade")) for row in rows]
    assert found == [*given, ("i3", None, None)]
    assert (rows[0]["rationale"], rows[1]["extra"]) == ("good", {"kept": 1.5})
    assert sheet.annotators() == {"ann": 2, "bob": 2}
    read = read_label_file(str(sheet.path)).labels
    assert [(label.item_id, label.annotator, label.grades["grade"] + 1) for label in read.labels] == given


def test_label_that_does_not_know_what_the_file_says_is_not_saved_and_told_what_it_says(tmp_path: Path) -> None:
    sheet, other = sheet_of(tmp_path), open_sheet(str(tmp_path / "items.jsonl"))[0]
    other.save("i1", "ann", Given({"grade": 3}, "long thought"))
    before = sheet.path.read_bytes()
    assert sheet.save("i1", "ann", Given({"grade": 0}), known=[Given({})]) == Given({"grade": 3}, "long thought")
    assert sheet.save("i1", "ann", Given({}), known=[]) == Given({"grade": 3}, "long thought")
    assert sheet.path.read_bytes() == before
    assert sheet.save("i1", "ann", Given({"grade": 3}, "long thought"), known=[]) is None  # it says so already
    assert sheet.save("i1", "ann", Given({"grade": 0}), known=[Given({}), Given({"grade": 3}, "long thought")]) is None
    assert sheet.save("i1", "ann", Given({}, "no grade, no row"), known=[Given({"grade": 0}, "  ")]) is None
    assert sheet.given("ann") == {"i2": Given({"grade": 2})}


def test_rows_that_are_not_concerned_keep_their_bytes(tmp_path: Path) -> None:
    odd = '{"query":"Q4",   "answer" : "caf\\u00e9", "item_id": "i4", "n": 1e3}'
    sheet = sheet_of(tmp_path)
    sheet.path.write_text(sheet.path.read_text() + odd + "\n")
    sheet.path.chmod(0o600)
    sheet.save("i1", "bob", Given({"grade": 4}))
    assert odd in sheet.path.read_text(encoding="utf-8").splitlines()
    assert sheet.path.stat().st_mode & 0o777 == 0o600


def test_label_that_is_given_again_replaces_the_first_and_taking_it_back_leaves_the_item(tmp_path: Path) -> None:
    sheet = sheet_of(tmp_path)
    for position in (4, 2):
        sheet.save("i3", "ann", Given({"grade": position}))
    assert sheet.given("ann")["i3"] == Given({"grade": 2})
    sheet.save("i3", "bob", Given({"grade": 0}))
    sheet.save("i3", "ann", Given({}))
    assert [row.get("annotator") for row in rows_of(sheet.path) if row["item_id"] == "i3"] == ["bob"]
    sheet.save("i3", "bob", Given({}))
    assert rows_of(sheet.path)[-1] == ROWS[2]
    assert sheet.given("bob") == {}


def test_file_that_somebody_else_changed_is_read_again_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    sheet = sheet_of(tmp_path)
    other = LabelSheet(sheet.path, open_sheet(str(sheet.path))[0].form)
    sheet.save("i1", "ann", Given({"grade": 4}))
    other.save("i3", "bob", Given({"grade": 1}))
    sheet.save("i3", "ann", Given({"grade": 2}))
    assert other.given("ann") == {"i1": Given({"grade": 4}), "i2": Given({"grade": 2}), "i3": Given({"grade": 2})}
    assert sheet.given("bob") == {"i3": Given({"grade": 1})}


def test_many_people_at_once_lose_nothing(tmp_path: Path) -> None:
    sheet, people = sheet_of(tmp_path, blank(12)), ("ann", "bob", "cem")
    work = [(f"i{n}", name, n % 5) for n in range(12) for name in people]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: sheet.save(one[0], one[1], Given({"grade": one[2]})), work))
    fresh, _ = open_sheet(str(sheet.path))
    found = {(item, name, label.grades["grade"]) for name in people for item, label in fresh.given(name).items()}
    assert found == set(work)


def test_two_programs_that_save_into_one_file_at_once_lose_nothing(tmp_path: Path) -> None:
    path = sheet_of(tmp_path, blank(25)).path

    def grading(name: str) -> None:
        sheet = open_sheet(str(path))[0]  # nothing in common with the other one but the file
        for n in range(25):
            sheet.save(f"i{n}", name, Given({"grade": n % 5}))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(grading, ("ann", "bob", "cem")))
    assert open_sheet(str(path))[0].annotators() == {"ann": 25, "bob": 25, "cem": 25}


def test_save_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = sheet_of(tmp_path)
    before = sheet.path.read_bytes()

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        sheet.save("i1", "ann", Given({"grade": 4}))
    monkeypatch.undo()
    assert sheet.path.read_bytes() == before
    assert sheet.given("ann").keys() == {"i2"}  # what is shown is what is in the file
    assert {path.name for path in tmp_path.iterdir()} == {"items.jsonl", "items.datasheet.toml"}


@pytest.mark.parametrize(
    ("item", "annotator", "grades", "seen"),
    [
        ("i9", "ann", {"grade": 1}, "no such item"),
        ("i1", " ", {"grade": 1}, "a name is needed"),
        ("i1", "ann", {"grade": 5}, "positions 0-4"),
        ("i1", "ann", {"other": 1}, "aspects are grade"),
    ],
)
def test_label_that_does_not_fit_the_form_is_refused_whole(
    tmp_path: Path, item: str, annotator: str, grades: dict[str, int], seen: str
) -> None:
    sheet = sheet_of(tmp_path)
    with pytest.raises(UserError, match=seen):
        sheet.save_all([("i3", "ann", Given({"grade": 1})), (item, annotator, Given(grades))])
    assert rows_of(sheet.path) == list(ROWS)


def test_table_of_another_format_is_copied_once_and_then_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "my items.csv").write_text(
        'Question,answer,contexts\nQ1,A1,"[""a"", ""b""]"\nQ2,A2,\n', encoding="utf-8"
    )
    (tmp_path / "my items.datasheet.toml").write_text('[scale]\ngrades = ["bad", "good"]\n')
    sheet, notes = open_sheet(str(tmp_path / "my items.csv"), rename={"Question": "query"})
    assert sheet.path == (tmp_path / "my items.labels.jsonl").resolve()
    assert notes[0].startswith("labels go to ")
    assert sheet.items[0].texts("contexts") == ("a", "b")
    sheet.save(sheet.items[0].item_id, "ann", Given({"grade": 1}))
    sheet.save(sheet.items[1].item_id, "ann", Given({"grade": 0}))
    again, notes = open_sheet(str(tmp_path / "my items.csv"), rename={"Question": "query"})
    assert notes == [f"grading goes on in {tmp_path / 'my items.labels.jsonl'}"]
    assert again.annotators() == {"ann": 2}
    assert read_label_file(str(sheet.path)).labels.scale.grades == ("bad", "good")


@pytest.mark.parametrize(
    ("columns", "task", "grades", "asked"),
    [
        ("query answer", "grade", (1, 2, 3, 4, 5), "grade"),
        ("query answer accept", "grade", (0, 1), "accept"),
        ("query document", "relevance", (0, 1, 2), "grade"),
        ("query answer_a answer_b", "preference", ("a", "b", "tie"), "preference"),
        ("query answer grade.tone", "answer", (0, 1, 2), "grade.tone"),
        (
            "query passage answer",
            *("reliability", (0, 1), "grade.question_in_passage grade.answer_in_passage grade.self_contained"),
        ),
    ],
)
def test_form_of_unlabelled_items_follows_their_columns(
    tmp_path: Path, columns: str, task: str, grades: tuple[object, ...], asked: str
) -> None:
    row = {name: "" if name == "accept" or "." in name else "Text" for name in columns.split()}
    form = sheet_of(tmp_path, [row]).form
    assert (form.task, form.scale.grades, form.columns) == (task, grades, tuple(asked.split()))


def test_form_keeps_the_scale_of_labels_that_go_beyond_the_usual_one(tmp_path: Path) -> None:
    rows = [{"query": f"Q{n}", "answer": "A", "grade": n} for n in (0, 7)]
    with pytest.raises(InputError, match=r"0 \(1\), 7 \(1\).*--best \?"):
        sheet_of(tmp_path, rows)
    path = str(tmp_path / "items.jsonl")
    assert open_sheet(path, best="7")[0].form.scale == Scale(grades=tuple(range(8)))


def test_scale_that_experts_saw_is_the_scale_that_judges_are_compiled_on(tmp_path: Path) -> None:
    sheet = sheet_of(tmp_path)
    sheet.save("i1", "ann", Given({"grade": 1}))
    read = read_label_file(str(sheet.path))
    assert read.labels.scale == sheet.form.scale == Scale(grades=(1, 2, 3, 4, 5), accept_at=4)
    words = Scale(name='"quoted" \\ é', grades=("bad", "good"), meanings=("no\ngood", "good"), accept_at="good")
    path = tmp_path / "words.jsonl"
    path.write_text(json.dumps({"query": "Q", "answer": "A"}) + "\n")
    open_sheet(str(path), Form("grade", words, ("grade",), ("grade",), accept_only=False))
    assert read_datasheet(str(path)).scale == words


def test_accepts_are_saved_as_true_and_false(tmp_path: Path) -> None:
    sheet = sheet_of(tmp_path, blank(2, accept=None))
    sheet.save("i0", "ann", Given({"grade": 1}))
    sheet.save("i1", "ann", Given({"grade": 0}))
    assert [row["accept"] for row in rows_of(sheet.path)] == [True, False]
    assert read_label_file(str(sheet.path)).labels.accept_only


def test_items_with_faults_are_refused_with_their_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"items.jsonl:2: no query"):
        sheet_of(tmp_path, [{"query": "Q", "answer": "A"}, {"query": "", "answer": "A"}])


ACTIONS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["ann", "bob"]), st.one_of(st.none(), st.integers(0, 4)), st.text()),
    max_size=8,
)


@property_of(actions=ACTIONS)
@settings(max_examples=25, deadline=None)
def test_file_says_what_was_said_last_whatever_was_done_before(actions: list[tuple[int, str, int | None, str]]) -> None:
    with TemporaryDirectory() as folder:
        sheet = sheet_of(Path(folder), blank(3))
        said: dict[tuple[str, str], tuple[dict[str, int], str]] = {}
        for number, name, position, reason in actions:
            given = Given({} if position is None else {"grade": position}, reason)
            sheet.save(f"i{number}", name, given)
            said.pop((f"i{number}", name), None)
            if position is not None:
                said[f"i{number}", name] = ({"grade": position}, reason.strip())
        fresh, _ = open_sheet(str(sheet.path))
        for one in (sheet, fresh):
            found = {(item, name): label for name in ("ann", "bob") for item, label in one.given(name).items()}
            assert {key: (dict(one.grades), one.rationale.strip()) for key, one in found.items()} == said
        assert [item.item_id for item in fresh.items] == ["i0", "i1", "i2"]


SCALE_1_2 = "[scale]\ngrades = [1, 2]\n"


@pytest.mark.parametrize(
    ("said", "before", "names", "declared"),
    [
        ("", [], ["ann", "bob"], ("ann", "bob")),
        ("", ["cem"], ["ann"], ("cem", "ann")),  # who was alone in the file was read as a person
        ("", ["cem", "gpt-4o"], ["ann"], ()),  # which of the two is one somebody has to say
        ('annotators = [\n  "cem",\n]\n', ["cem", "gpt-4o"], ["ann"], ("cem", "ann")),
        ('annotators = ["*"]\n', ["cem"], ["ann"], ("*",)),
        ('judges = ["gpt-4o"]\n', ["gpt-4o", "cem"], ["ann"], ("cem", "ann")),
        ("", [], ["ann"], ()),  # one name needs no line
    ],
)
def test_people_who_grade_are_declared_beside_the_file_and_the_rest_of_the_datasheet_stays(
    tmp_path: Path, said: str, before: list[str], names: list[str], declared: tuple[str, ...]
) -> None:
    shared = tmp_path / "datasheet.toml"
    shared.write_text(said + SCALE_1_2)
    declare_people(tmp_path / "my items.jsonl", names, before)
    found = read_datasheet(str(tmp_path / "my items.jsonl"))
    assert found.annotators == declared
    assert found.scale is not None
    assert found.scale.grades == (1, 2)
    assert shared.read_text() == said + SCALE_1_2  # other files in the folder are other people's
