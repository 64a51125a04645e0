"""``labels import OUT TOOL:FILE`` as a command: a label file, recorded verdicts, nothing overwritten."""

import csv
import json
from pathlib import Path

import pytest

from judgec.errors import UserError
from judgec.labels.labels import read_labels
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
    assert verdicts.coded["judge"].values == ["gpt"]
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
    read = read_labels(str(out))
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
