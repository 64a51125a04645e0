"""``judgec labels --review``, ``--export`` and ``--import`` as real processes."""

import http.client
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from judgec.cli.labels.labels import Request
from judgec.cli.labels.review import grade
from judgec.errors import UserError
from judgec.store.labels import read_labels
from tests.cli.process import ROOT, judgec

ROWS = [{"item_id": f"i{n}", "query": f"Q{n}", "answer": f"A{n}"} for n in range(3)]


@pytest.fixture
def items(tmp_path: Path) -> Path:
    path = tmp_path / "my items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_review_serves_until_it_is_stopped_and_says_what_was_graded(items: Path) -> None:
    command = [sys.executable, str(ROOT / "cli.py"), "labels", "--review", items.name, "--json"]
    process = subprocess.Popen(
        command, cwd=items.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    try:
        assert process.stderr is not None
        url = next(line.split()[1] for line in process.stderr if line.startswith("open "))
        base, token = url.split("/?token=")
        body = json.dumps({"number": 1, "annotator": "ann", "grades": {"grade": 3}})
        connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=60)
        headers = {"X-Judgec-Token": token, "Content-Type": "application/json"}
        connection.request("POST", "/api/label", body, headers)
        assert json.loads(connection.getresponse().read()) == {"progress": {"ann": 1}}
        connection.close()
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert json.loads(stdout) == {"out": str(items.resolve()), "items": 3, "graded": {"ann": 1}}
    assert token not in stdout + stderr
    assert json.loads(items.read_text().splitlines()[1])["grade"] == 4


@pytest.mark.full
def test_server_that_is_killed_keeps_every_grade_it_confirmed(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text(
        "".join(json.dumps({"item_id": f"i{n}", "query": f"Q{n}", "answer": "A"}) + "\n" for n in range(200))
    )
    command = [sys.executable, str(ROOT / "cli.py"), "labels", "--review", path.name, "--json"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    confirmed: set[tuple[str, str]] = set()
    try:
        assert process.stderr is not None
        base, token = next(line.split()[1] for line in process.stderr if line.startswith("open ")).split("/?token=")

        def grading(name: str) -> None:
            connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=60)
            headers = {"X-Judgec-Token": token, "Content-Type": "application/json"}
            try:
                for number in range(200):
                    body = json.dumps({"number": number, "annotator": name, "grades": {"grade": number % 5}})
                    connection.request("POST", "/api/label", body, headers)
                    if json.loads(connection.getresponse().read())["progress"]:
                        confirmed.add((f"i{number}", name))
                    if len(confirmed) >= 60:
                        process.kill()
            except (OSError, http.client.HTTPException):
                pass  # killed in the middle of a request
            finally:
                connection.close()

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(grading, ("ann", "bob")))
    finally:
        process.kill()
        process.communicate()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    kept = {(row["item_id"], row["annotator"]): row["grade"] for row in rows if row.get("annotator")}
    assert len(confirmed) >= 60
    assert confirmed <= kept.keys()
    assert all(grade == int(item.removeprefix("i")) % 5 + 1 for (item, _), grade in kept.items())
    assert {row["item_id"] for row in rows} == {f"i{n}" for n in range(200)}


def test_sheets_go_out_for_each_annotator_and_come_back(items: Path) -> None:
    folder = items.parent
    out = grade(Request(file=str(items), annotators="ann,bob b", export=str(folder / "s.csv")))
    assert out == {"items": 3, "blank": {str(folder / "s.ann.csv"): 3, str(folder / "s.bob-b.csv"): 3}}
    for name, given in (("ann", "5"), ("bob-b", "2")):
        sheet = folder / f"s.{name}.csv"
        sheet.write_text(sheet.read_text(encoding="utf-8-sig").replace(",,,", f",{given},,"))
        back = grade(Request(file=str(items), import_=str(sheet)))
    assert back["graded"] == {"ann": 3, "bob b": 3}
    labels = read_labels(str(items))
    assert {(label.annotator, label.grades["grade"]) for label in labels.labels} == {("ann", 4), ("bob b", 1)}


def test_sheet_that_is_there_is_not_written_over_and_none_of_the_others_is_written(items: Path) -> None:
    filled = items.parent / "s.bob.csv"
    filled.write_text("item_id,grade\ni0,5\n")
    with pytest.raises(UserError, match=r"--export: .*s\.bob\.csv is there and may hold labels\. Move it"):
        grade(Request(file=str(items), annotators="ann,bob", export=str(items.parent / "s.csv")))
    assert filled.read_text() == "item_id,grade\ni0,5\n"
    assert not (items.parent / "s.ann.csv").exists()


def test_two_ways_at_once_are_refused(items: Path) -> None:
    done = judgec(items.parent, "labels", items.name, "--review", "--export", "s.csv", code=2)
    assert "one at a time is valid" in done.stderr
