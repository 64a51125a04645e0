"""``labels import OUT TOOL:FILE`` as a command: a label file, recorded verdicts, nothing overwritten."""

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from judgec.errors import InputError, UserError
from judgec.labels.labels import read_label_file, read_labels
from judgec.labels.reading import as_reading
from judgec.raters.verdicts import read_verdicts
from judgec.verbs.import_labels import import_export
from judgec.verbs.options.labels import LabelImportOptions
from tests.verbs.cli.process import judgec


def responses(n: int) -> list[dict[str, object]]:
    """Records of Argilla that two people and a model graded."""
    return [
        {
            "id": f"r{number}",
            "question": f"How many, {number}?",
            "answer": f"There are {number}.",
            "quality.responses": [1 + number % 3, 1 + (number + 1) % 3],
            "quality.responses.users": ["anna", "ben"],
            "quality.responses.status": ["submitted", "submitted"],
            "quality.suggestion": 2,
            "quality.suggestion.agent": "gpt",
            "region": "north",
        }
        for number in range(n)
    ]


def test_import_writes_labels_and_verdicts_that_judgec_reads(tmp_path: Path) -> None:
    (tmp_path / "records.json").write_text(json.dumps(responses(9)), encoding="utf-8")
    done = judgec(tmp_path, "labels", "import", "out.jsonl", "argilla:records.json", "--json")
    report = json.loads(done.stdout)
    assert (report["records"], report["labels"], report["verdicts"], report["skipped"]) == (27, 18, 9, {})
    labels = read_labels(str(tmp_path / "out.jsonl"))
    assert (len(labels.items), {label.annotator for label in labels.labels}) == (9, {"anna", "ben"})
    assert json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()[0])["region"] == "north"
    verdicts = read_verdicts(str(tmp_path / report["verdicts_out"]), (1, 2, 3))
    assert verdicts.coded["judge"].values == ["gpt"]  # noqa: PD011  # no frame
    again = judgec(tmp_path, "labels", "import", "out.jsonl", "argilla:records.json", code=2)
    assert "is there and may hold labels" in again.stderr


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_import_into_every_format_gives_the_same_labels(tmp_path: Path, name: str) -> None:
    (tmp_path / "records.json").write_text(json.dumps(responses(9)), encoding="utf-8")
    source = f"argilla:{tmp_path / 'records.json'}"
    for out in ("out.jsonl", name):
        import_export(LabelImportOptions(file=str(tmp_path / out), import_=source))
    assert read_labels(str(tmp_path / name)).digest == read_labels(str(tmp_path / "out.jsonl")).digest


def test_import_into_csv_holds_no_formula_and_is_read_as_it_was(tmp_path: Path) -> None:
    texts = ("=cmd()", "-1 or so", "+x", "@y", "-1")
    by = {"name": "q", "source": "ANNOTATION", "authorUserId": "@anna", "comment": "=1+1"}
    export = [
        {"id": f"t{n}", "input": text, "output": "A", "=field": "x", "scores": [{**by, "value": n % 2}]}
        for n, text in enumerate(texts)
    ]
    (tmp_path / "t.json").write_text(json.dumps(export), encoding="utf-8")
    out = tmp_path / "out.csv"
    import_export(LabelImportOptions(file=str(out), import_=f"langfuse:{tmp_path / 't.json'}"))
    with out.open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == ["-1"]  # a number runs nothing
    read = read_labels(str(out), as_reading(best="1"))
    assert [item.inputs["query"] for item in read.items] == list(texts)
    assert {label.annotator for label in read.labels} == {"@anna"}


def test_import_into_what_cannot_be_written_says_what_can(tmp_path: Path) -> None:
    (tmp_path / "records.json").write_text(json.dumps(responses(1)), encoding="utf-8")
    source = f"argilla:{tmp_path / 'records.json'}"
    for out, seen in (
        (tmp_path / "out.xlsx", "written to .jsonl"),
        (tmp_path / "none" / "out.jsonl", "no such folder"),
    ):
        with pytest.raises(UserError, match=seen):
            import_export(LabelImportOptions(file=str(out), import_=source))


def imported(folder: Path, content: object, columns: dict[str, str], **more: object) -> list[dict[str, object]]:
    """The label rows of any file of one JSON document, whose scores are people's."""
    (folder / "export.json").write_text(json.dumps(content), encoding="utf-8")
    out, source = folder / "labels.jsonl", f"other:{folder / 'export.json'}"
    import_export(LabelImportOptions(file=str(out), import_=source, columns=columns, as_="labels", **more))  # type: ignore[arg-type]  # its options
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_objects_by_their_id_are_a_row_each(tmp_path: Path) -> None:
    content = {f"r{n}": {"asked": f"Pump {n}?", "reply": f"Floor {n}.", "stars": n} for n in range(3)}
    rows = imported(tmp_path, content, {"asked": "query", "reply": "answer", "stars": "grade"})
    assert [(row["item_id"], row["query"], row["answer"], row["grade"]) for row in rows] == [
        (f"r{n}", f"Pump {n}?", f"Floor {n}.", n) for n in range(3)
    ]


def test_grades_by_annotator_and_item_end_in_the_line_of_pandas_that_makes_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"ann": {"r1": 3, "r2": 4, "r3": 1}, "ben": {"r1": 3, "r2": 5}}
    with pytest.raises(InputError) as caught:
        imported(tmp_path, given, {})
    line = caught.value.faults[0].partition("makes rows: ")[2].partition(";")[0]
    exec(line, {"pd": pd})  # noqa: S102  # the line as somebody would type it
    found = read_label_file("labels.csv", as_reading(annotators=["*"]), texts=False).labels
    assert {(label.item_id, label.annotator, label.grades["grade"] + 1) for label in found.labels} == {
        (item, name, grade) for name, own in given.items() for item, grade in own.items()
    }


PAIRS = [{"q": f"Pump {n}?", "one": "Floor 1.", "two": "Floor 2.", "better": n - 2, "again": 2 - n} for n in range(5)]
SIDES = {"q": "query", "one": "answer_a", "two": "answer_b", "better": "preference"}


def test_numbers_of_a_preference_are_the_sides_that_somebody_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown words for the winner: '-2', '-1', '0', '1', '2'.* --winner-words"):
        imported(tmp_path, PAIRS, SIDES)
    words = {"-2": "a", "-1": "a", "0": "tie", "1": "b", "2": "b"}
    rows = imported(tmp_path, PAIRS, SIDES, winner_words=words)
    assert [row["preference"] for row in rows] == ["a", "a", "tie", "b", "b"]
    assert read_labels(str(tmp_path / "labels.jsonl")).task == "preference"


def test_several_games_a_row_are_refused_with_what_makes_a_row_of_each(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"better, again are several games a row") as caught:
        imported(tmp_path, PAIRS, {**SIDES, "again": "preference"})
    made = caught.value.faults[0].partition("of the file: ")[2].partition(";")[0]
    rows = eval(made, {"pd": pd, "t": pd.DataFrame(PAIRS)})  # noqa: S307  # the line as somebody would type it
    assert rows["order"].tolist() == ["ab"] * 5 + ["ba"] * 5
    assert rows["preference"].tolist() == [-2, -1, 0, 1, 2, 2, 1, 0, -1, -2]
