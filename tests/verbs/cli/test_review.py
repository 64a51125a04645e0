"""``judgec labels review``, ``export`` and ``import`` as real processes."""

import csv
import http.client
import json
import shlex
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from judgec.errors import InputError, UserError
from judgec.labels.labels import read_labels
from judgec.labels.reading import as_reading
from judgec.labels.review.desk import Desk
from judgec.labels.review.sheet import Given
from judgec.verbs.label_sheets import ExportedSheets, export_labels, import_labels, open_labels
from judgec.verbs.options.labels import LabelExportOptions, LabelImportOptions, ReviewOptions
from tests.compile.small import write
from tests.table.spreadsheets import write_xlsx
from tests.verbs.cli.process import ROOT, judgec

ROWS = [{"item_id": f"i{n}", "query": f"Q{n}", "answer": f"A{n}"} for n in range(3)]


@pytest.fixture
def items(tmp_path: Path) -> Path:
    return write(tmp_path / "my items.jsonl", ROWS)


@contextmanager
def reviewing(file: Path) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """``judgec labels review``, where it answers and its token."""
    command = [sys.executable, str(ROOT / "cli.py"), "labels", "review", file.name, "--json"]
    with subprocess.Popen(
        command, cwd=file.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            base, token = next(line.split()[1] for line in process.stderr if line.startswith("open ")).split("/?token=")
            yield process, base.removeprefix("http://"), token
        finally:
            process.kill()


def grade(connection: http.client.HTTPConnection, token: str, number: int, annotator: str, given: int) -> Any:
    body = json.dumps({"number": number, "annotator": annotator, "grades": {"grade": given}})
    headers = {"X-Judgec-Token": token, "Content-Type": "application/json"}
    connection.request("POST", "/api/label", body, headers)
    return json.loads(connection.getresponse().read())


def test_review_serves_until_it_is_stopped_and_says_what_was_graded(items: Path) -> None:
    with reviewing(items) as (process, base, token):
        with closing(http.client.HTTPConnection(base, timeout=60)) as connection:
            assert grade(connection, token, 1, "ann", 3) == {"progress": {"ann": 1}}
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(stdout) == {"out": str(items.resolve()), "items": 3, "graded": {"ann": 1}}
    assert token not in stdout + stderr
    assert json.loads(items.read_text().splitlines()[1])["grade"] == 4


@pytest.mark.full
def test_server_that_is_killed_keeps_every_grade_it_confirmed(tmp_path: Path) -> None:
    path = write(tmp_path / "many.jsonl", [{"item_id": f"i{n}", "query": f"Q{n}", "answer": "A"} for n in range(200)])
    confirmed: set[tuple[str, str]] = set()
    with reviewing(path) as (process, base, token):

        def grading(name: str) -> None:
            with (
                closing(http.client.HTTPConnection(base, timeout=60)) as connection,
                suppress(OSError, http.client.HTTPException),  # killed in the middle of a request
            ):
                for number in range(200):
                    if grade(connection, token, number, name, number % 5)["progress"]:
                        confirmed.add((f"i{number}", name))
                    if len(confirmed) >= 60:
                        process.kill()

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(grading, ("ann", "bob")))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    kept = {(row["item_id"], row["annotator"]): row["grade"] for row in rows if row.get("annotator")}
    assert len(confirmed) >= 60
    assert confirmed <= kept.keys()
    assert all(grade == int(item.removeprefix("i")) % 5 + 1 for (item, _), grade in kept.items())
    assert {row["item_id"] for row in rows} == {f"i{n}" for n in range(200)}


def test_sheets_go_out_for_each_annotator_and_come_back(items: Path) -> None:
    folder = items.parent
    out = export_labels(LabelExportOptions(file=str(items), annotators=("ann", "bob b"), export=str(folder / "s.csv")))
    assert out.to_json() == {"items": 3, "blank": {str(folder / "s.ann.csv"): 3, str(folder / "s.bob-b.csv"): 3}}
    for name, given in (("ann", "5"), ("bob-b", "2")):
        sheet = folder / f"s.{name}.csv"
        sheet.write_text(sheet.read_text(encoding="utf-8-sig").replace(",,,", f",{given},,"))
        back = import_labels(LabelImportOptions(file=str(items), import_=str(sheet)))
    assert back.graded == {"ann": 3, "bob b": 3}
    labels = read_labels(str(items))
    assert {(label.annotator, label.grades["grade"]) for label in labels.labels} == {("ann", 4), ("bob b", 1)}


def test_sheet_that_is_there_is_not_written_over_and_none_of_the_others_is_written(items: Path) -> None:
    filled = items.parent / "s.bob.csv"
    filled.write_text("item_id,grade\ni0,5\n")
    with pytest.raises(UserError, match=r"labels export: .*s\.bob\.csv is there and may hold labels\. Move it"):
        export_labels(
            LabelExportOptions(file=str(items), annotators=("ann", "bob"), export=str(items.parent / "s.csv"))
        )
    assert filled.read_text() == "item_id,grade\ni0,5\n"
    assert not (items.parent / "s.ann.csv").exists()


WIDE = """query,answer,ann,ann.rationale,bob
Q0,A0,5,fine,1
Q1,A1,4,,
Q2,A2,1,,
Q3,A3,2,,3
Q4,A4,,,
Q5,A5,,,
"""


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".xlsx"])
def test_grades_in_raters_columns_are_there_on_the_page_and_in_the_sheets(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"wide{suffix}"
    table = list(csv.reader(WIDE.splitlines()))
    if suffix == ".jsonl":
        write(file, [dict(zip(table[0], row, strict=True)) for row in table[1:]])
    elif suffix == ".xlsx":
        write_xlsx(file, {"labels": table})
    else:
        file.write_text(WIDE)
    before = file.read_bytes()
    request = ReviewOptions(file=str(file), annotators=("ann", "bob", "new"), grades=("1..5",))
    sheet, notes = open_labels(request)
    assert sheet.annotators() == {"ann": 4, "bob": 2}
    assert any("4 by ann, 2 by bob" in note for note in notes)
    said = Desk(sheet, ("ann", "bob", "new")).labels("ann")["labels"]
    assert isinstance(said, dict)
    assert said["0"] == {"grades": {"grade": 4}, "rationale": "fine"}
    assert sheet.path == tmp_path / "wide.labels.jsonl"
    assert file.read_bytes() == before
    sheet.save(sheet.items[4].item_id, "bob", Given({"grade": 0}))
    assert open_labels(request)[0].annotators() == {"ann": 4, "bob": 3}  # what was given since is kept
    done = export_labels(LabelExportOptions(file=str(file), annotators=("ann", "bob"), export=str(tmp_path / "s.csv")))
    assert isinstance(done, ExportedSheets)
    assert done.blank == {str(tmp_path / "s.ann.csv"): 2, str(tmp_path / "s.bob.csv"): 3}


def test_sheet_comes_back_with_the_same_annotators_and_is_read_with_them(tmp_path: Path) -> None:
    file = tmp_path / "my wide.csv"
    file.write_text(WIDE)
    done = judgec(
        tmp_path, "labels", "export", str(file), str(tmp_path / "s.csv"), "--annotators", "ann,bob", "--grades", "1..5"
    )
    step = shlex.split(next(line for line in done.stderr.splitlines() if line.startswith("Next: ")))[2:]
    assert step == [
        "labels",
        "import",
        str(file),
        str(tmp_path / "s.ann.csv"),
        "--annotators",
        "ann,bob",
        "--grades",
        "1..5",
    ]
    exported = tmp_path / "s.ann.csv"
    with exported.open(encoding="utf-8-sig", newline="") as handle:
        rows = list(csv.DictReader(handle))
    with exported.open("w", newline="") as handle:
        table = csv.DictWriter(handle, rows[0].keys())
        table.writeheader()
        table.writerows({**row, "grade": row["grade"] or "3"} for row in rows)
    judgec(tmp_path, *step)
    copy = tmp_path / "my wide.labels.jsonl"
    for annotators, found in (
        (("ann", "bob"), {"ann": 6, "bob": 2}),
        ((), {"ann": 6, "bob": 2}),
        (("ann",), {"ann": 6}),
    ):
        labels = read_labels(str(copy), as_reading(annotators=annotators)).labels
        assert Counter(label.annotator for label in labels) == found
    assert Counter(
        one.annotator for one in read_labels(str(exported), as_reading(annotators=("ann", "bob"))).labels
    ) == {"ann": 6}
    with pytest.raises(InputError, match="annotator ann; --annotators names bob, cem"):
        import_labels(LabelImportOptions(file=str(file), annotators=("bob", "cem"), import_=str(exported)))


def test_grades_in_raters_columns_come_into_a_copy_that_was_made_without_them(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text(WIDE)
    assert open_labels(ReviewOptions(file=str(file)))[0].annotators() == {}
    assert open_labels(ReviewOptions(file=str(file), annotators=("ann", "bob")))[0].annotators() == {"ann": 4, "bob": 2}


@pytest.mark.parametrize("labelled", [True, False])
def test_pairs_for_a_reliability_judge_are_graded_by_aspect(tmp_path: Path, labelled: bool) -> None:
    names = ["in_passage", "alone"] if labelled else ["question_in_passage", "answer_in_passage", "self_contained"]
    rows: list[dict[str, object]] = [
        {"item_id": f"i{n}", "query": "Q", "passage": f"P{n}", "answer": "A"} for n in range(4)
    ]
    if labelled:
        rows = [{**row, **{f"grade.{name}": n % 2 for name in names}} for n, row in enumerate(rows)]
    file = write(tmp_path / "pairs.jsonl", rows)
    sheet, _ = open_labels(ReviewOptions(file=str(file)))
    desk = Desk(sheet)
    about = desk.about()
    assert (about["task"], about["grades"], about["aspects"]) == ("reliability", ["0", "1"], names)
    texts = desk.item(0)["texts"]
    assert isinstance(texts, list)
    assert [text["name"] for text in texts] == ["query", "passage", "answer"]
    for number in range(4):
        desk.save(number, "ann", Given({name: (number + k) % 2 for k, name in enumerate(names)}))
    assert read_labels(str(file), as_reading(task="reliability")).aspects == tuple(names)
    done = export_labels(LabelExportOptions(file=str(file), annotators=("ann",), export=str(tmp_path / "s.csv")))
    assert isinstance(done, ExportedSheets)
    assert done.blank == {str(tmp_path / "s.csv"): 0}
