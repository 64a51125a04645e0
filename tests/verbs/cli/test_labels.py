"""``judgec labels`` as a user runs it: a real process."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.table.spreadsheets import Rows, write_xlsx
from tests.verbs.cli.process import ROOT, judgec, judgec_here

CSV = "Question,Reply,alice,bob\n" + "".join(f"q{i},reply {i},{1 + i % 5},{1 + i % 4}\n" for i in range(40))


def run(folder: Path, *arguments: str, code: int = 0, **environment: str) -> tuple[str, str]:
    done = judgec(folder, "labels", *arguments, code=code, **environment)
    return done.stdout, done.stderr


def test_one_column_per_rater_with_odd_names_gives_one_json_object(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_bytes(b"\xef\xbb\xbf" + CSV.encode())
    options = ["--map", "Question=query", "--map", "Reply=answer", "--annotators", "alice,bob", "--best", "5"]
    stdout, stderr = run(tmp_path, "mine.csv", *options, "--accept-at", "3", "--json")
    assert stderr == ""
    report = json.loads(stdout)
    assert (report["items"], report["rows"], report["labels"], report["queries"]) == (40, 40, 80, 40)
    assert report["task"] == "grade"
    assert report["scale"]["grades"] == [1, 2, 3, 4, 5]
    assert (report["scale"]["accept_at"], report["scale"]["inferred"]) == (3, False)
    assert report["annotators"] == ["alice", "bob"]
    assert report["histogram"]["alice"] == dict.fromkeys("12345", 8)
    assert report["histogram"]["bob"] == {"1": 10, "2": 10, "3": 10, "4": 10, "5": 0}
    assert report["split"] == {"train": 20, "dev": 8, "test": 12}
    assert {"duplicates", "empty_answers", "groups", "notes", "agreement"} <= set(report)
    assert list(tmp_path.iterdir()) == [tmp_path / "mine.csv"]


def test_labels_without_texts_name_no_command_that_needs_some(tmp_path: Path) -> None:
    rows = "".join(f"{n},{who},{1 + n % 3}\n" for n in range(6) for who in ("ann", "bob"))
    (tmp_path / "ids.csv").write_text(f"item_id,annotator,grade\n{rows}")
    stdout, stderr = run(tmp_path, "ids.csv", "--annotators", "*")
    assert "Krippendorff" in run(tmp_path, "ids.csv", "--annotators", "*", "-v")[0]
    assert "Ceiling" in stdout
    assert "compile-judge" not in stderr


def test_tables_on_stdout_and_notes_and_next_command_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(CSV)
    options = ["--map", "Question=query", "--map", "Reply=answer", "--annotators", "alice,bob", "--best", "5"]
    options += ["--name", "our-judge"]
    stdout, stderr = run(tmp_path, "mine.csv", *options, "-v")
    for part in (
        "our-judge",
        "Grades by annotator",
        "alice - bob",
        "Fleiss kappa [95 %]",
        "Krippendorff alpha",
        "train / dev / test",
    ):
        assert part in stdout
    assert "note: Task grade, inferred from the columns query, answer, grade." in stderr
    assert f"Next: judgec compile-judge mine.csv {shlex.join(options)}\n" in stderr
    _, stderr = run(tmp_path, "mine.csv", *options, "--home", "my home")
    assert f"Next: judgec compile-judge mine.csv {shlex.join(options)} --home 'my home'\n" in stderr


def test_screen_is_one_table_of_agents_where_rows_say_who_answered(tmp_path: Path) -> None:
    rows = "".join(
        f"q{i},r{i} of {agent},{agent},{grade},{grade}\n"
        for i in range(40)
        for agent, grade in (("old", 1 + i % 4), ("new", 2 + i % 4))
    )
    (tmp_path / "t.csv").write_text("query,answer,agent,ann,bob\n" + rows)
    options = ["--annotators", "ann,bob", "--best", "5"]
    short = judgec_here(tmp_path, "labels", "t.csv", *options)
    old, new = short.stdout.index(" old "), short.stdout.index(" new ")
    assert new < old
    assert "3.50 [" in short.stdout[new:old]  # (2 + 3 + 4 + 5) / 4
    assert ".50 [" in short.stdout[new:old].replace("3.50 [", "")  # accepted from 4
    assert "Grades by annotator" not in short.stdout
    assert len((short.stdout + short.stderr).splitlines()) <= 24
    full = judgec_here(tmp_path, "labels", "t.csv", *options, "-v").stdout
    assert "Grades by annotator" in full
    report = json.loads(judgec_here(tmp_path, "labels", "t.csv", *options, "--json").stdout)
    assert [(one["agent"], one["mean"]["value"]) for one in report["by_agent"]] == [("new", 3.5), ("old", 2.5)]
    assert report["agents"] == {"old": 40, "new": 40}


@pytest.mark.parametrize(
    ("content", "options", "seen"),
    [
        ("query,answer,grade\nq,a,1\nq,a,2\n", [], "t.csv:3: annotator expert labels item"),
        ("query,answer,grade\nq,a,7\nr,b,7\n", [], "t.csv:1: the grades are 7 (2)"),
        ("", [], "t.csv:1: the file is empty"),
        ("q,a,grade\nx,y,1\n", [], "t.csv:1: the columns q, a, grade fit no task"),
        (
            "query,answer,grade\nq,a,1\nr,b,2\n",
            ["--task", "relevance"],
            "t.csv:1: task relevance needs document",
        ),
        ("query,answer,grade\nq,a,1\nr,b,2\n", ["--accept-at", "9"], "the grades are 1, 2"),
        ("query,answer,grade\nq,a,1\nr,b,2\n", ["--map", "query"], "--map query: not of the form"),
        ("query,answer,grade\nq,a,1\nr,b,2\n", ["--name", "a/b"], "--name 'a/b': not a name"),
    ],
)
def test_bad_input_exits_2_with_nothing_on_stdout(tmp_path: Path, content: str, options: list[str], seen: str) -> None:
    (tmp_path / "t.csv").write_text(content)
    stdout, stderr = run(tmp_path, "t.csv", *options, "--json", code=2)
    assert stdout == ""
    assert stderr.startswith("error: ")
    assert seen in stderr


def test_first_ten_faults_and_the_count_are_shown(tmp_path: Path) -> None:
    (tmp_path / "t.datasheet.toml").write_text("[scale]\ngrades = [0, 1]\n")
    (tmp_path / "t.csv").write_text("query,answer,grade\n" + "".join(f"q{i},a,{i}\n" for i in range(14)))
    _, stderr = run(tmp_path, "t.csv", code=2)
    assert len([line for line in stderr.splitlines() if "is not on scale" in line]) == 10
    assert stderr.splitlines()[-1] == "... and 2 more, 12 in all."


def test_hub_data_set_offline_exits_3_and_says_why(tmp_path: Path) -> None:
    cache = {"HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    stdout, stderr = run(tmp_path, "hf:nobody/nothing@train", code=3, **cache)
    assert stdout == ""
    assert stderr.startswith("error: hf:nobody/nothing@train: the Hugging Face Hub did not give the data set")


def test_reading_text_files_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("query,answer,grade\nq,a,1\nr,b,2\n")
    script = (
        "import sys; from judgec.labels.labels import read_labels; read_labels('t.csv'); "
        "print([m for m in ('datasets', 'pandas', 'pyarrow', 'scipy', 'dspy', 'mlflow') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_next_command_reads_the_file_as_this_one_did(tmp_path: Path) -> None:
    rows = "".join(f"q{n},x{n},y{n},{n % 2 + 1 if n % 5 else 'keine'}\n" for n in range(20))
    (tmp_path / "t.csv").write_text("query,answer_a,answer_b,preference\n" + rows)
    words = ["--winner-words", "1=a,2=b"]
    _, stderr = run(tmp_path, "t.csv", "--winner-words", "1=a,2=b,keine=unscored")
    assert "Next: judgec compile-judge t.csv --winner-words 1=a,2=b,keine=unscored\n" in stderr
    _, stderr = run(tmp_path, "t.csv", *words, "--missing", "keine")
    assert "Next: judgec compile-judge t.csv --missing keine --winner-words 1=a,2=b\n" in stderr


def test_words_behind_labels_take_the_file_and_a_file_of_such_a_name_is_typed_with_its_folder(tmp_path: Path) -> None:
    rows = "query,answer,annotator,grade\nq,a,x,1\nq,b,x,2\nr,c,x,3\nr,d,x,1\n"
    (tmp_path / "t.csv").write_text(rows, encoding="utf-8")
    task = ("--task", "grade", "--json")
    assert json.loads(run(tmp_path, "export", "t.csv", "sheet.csv", *task)[0])["items"] == 4
    assert json.loads(run(tmp_path, "import", "t.csv", "sheet.csv", *task)[0])["items"] == 4
    assert run(tmp_path, "./import", *task, code=2)[1].startswith("error: ./import: ")  # a file of this name


def test_sheet_that_is_read_of_several_is_said_on_the_screen(tmp_path: Path) -> None:
    rows: Rows = [["query", "answer", "Xenia"], *([f"q{i}?", f"a{i}.", i % 4 + 1] for i in range(25))]
    write_xlsx(tmp_path / "t.xlsx", {"pilot": rows[:9], "main": rows})
    _, stderr = run(tmp_path, "t.xlsx", "--annotators", "Xenia", "--best", "4")
    assert "note: Sheet 'main' is read, not pilot; t.xlsx#SHEET names another.\n" in stderr
