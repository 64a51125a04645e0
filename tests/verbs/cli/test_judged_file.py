"""What ``judgec judge`` writes: the rows of the input, each with its judgment, in five formats; and what reads it."""

import csv
import json
import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from xlsxwriter import Workbook

from judgec.errors import UserError
from judgec.labels.labels import item_digest, read_labels
from judgec.lm.watch import Silent
from judgec.raters import programs
from judgec.raters.piece import ROWS
from judgec.table.tables import read_table
from judgec.verbs.cli.judge import rate_asked
from judgec.verbs.estimate import estimate_judged
from judgec.verbs.judge_file import judge_file
from judgec.verbs.options.judge import JudgeFileOptions
from tests.compile.small import compiled_from, write
from tests.service import grading_world
from tests.verbs.cli.judging import ADDED, GRADED, run
from tests.verbs.cli.process import judgec, judgec_here

Row = dict[str, Any]
FORMATS = [".jsonl", ".csv", ".tsv", ".parquet", ".xlsx"]
Command = Callable[..., subprocess.CompletedProcess[str]]
LABELLED: list[Row] = [dict(row) for row in grading_world.rows(80, per_query=2)]


def bare(rows: Sequence[Row]) -> list[Row]:
    return [{name: value for name, value in row.items() if name != "grade"} for row in rows]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the judge ``w`` of one grade, compiled on ``LABELLED``, and ``two`` of two aspects."""
    home = tmp_path_factory.mktemp("judged")
    compiled_from(home, LABELLED, name="w", accept_at="4", lm="embedded")
    aspects = [{**row, "grade.claims": row["grade"] // 2, "grade.tone": k % 3} for k, row in enumerate(LABELLED)]
    compiled_from(home, [dict(row, grade=None) for row in aspects], name="two", accept_at="1", lm="embedded")
    return home


def judged(home: Path, file: Path, out: Path, judge: str = "w@1", **options: Any) -> Row:
    return run(JudgeFileOptions(file=str(file), judge=judge, out=out, home=home, **options))


def json_rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def text(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def awkward() -> list[Row]:
    """More than one piece of rows; some come again, next to each other and far away."""
    rows: list[Row] = []
    for n, row in enumerate(bare(grading_world.rows(ROWS + 40, seed=5, per_query=2))):
        mine = {**row, "Größe": n, "share": n / 7, "late": n % 2 == 0, "note": [f"ß {n}", ' "quoted",\n'][n % 2]}
        rows.append({**mine, "sum": None, "risky": ["=1+1", "+A1", "-2", "@x", "-x", " leading"][n % 6]})
    return [*rows[:3], rows[2], *rows[3:], *rows[:5], rows[ROWS + 3]]


@pytest.fixture(scope="module")
def plain(home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Row]]:
    """The awkward rows, and what is written of them as JSON lines."""
    folder = tmp_path_factory.mktemp("plain")
    file = write(folder / "in.jsonl", awkward())
    judged(home, file, folder / "out.jsonl")
    return file, json_rows(folder / "out.jsonl")


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_keeps_rows_order_and_values_and_adds_the_same_judgment(
    home: Path, plain: tuple[Path, list[Row]], tmp_path: Path, suffix: str
) -> None:
    (file, said), rows, out = plain, awkward(), tmp_path / f"out{suffix}"
    counts = judged(home, file, out)
    assert (counts["rows"], counts["items"]) == (len(rows), len(rows) - 7)
    table = read_table(str(out))
    assert list(table.columns) == [*rows[0], *ADDED]
    first: dict[object, Row] = {}
    for given, found, same in zip(rows, table.rows, said, strict=True):
        for name, value in given.items():
            if suffix in {".jsonl", ".parquet"}:
                assert found[name] == value
            elif name == "risky":
                assert found[name] == (value if value in {"-2", " leading"} else f"'{value}")
            elif isinstance(value, float | int) and not isinstance(value, bool):
                assert float(str(found[name])) == value
            else:
                assert found[name] == text(value)
        assert [float(str(found[name])) for name in ("score", "grade")] == [same["score"], same["grade"]]
        assert [str(found[name]).lower() for name in ("accept", "learned")] == [
            str(same[name]).lower() for name in ("accept", "learned")
        ]
        spread = found["probabilities"]
        assert (spread if isinstance(spread, dict) else json.loads(str(spread))) == same["probabilities"]
        again = first.setdefault(found["item_id"], found)
        assert [again[name] for name in ADDED] == [found[name] for name in ADDED]


def test_workbook_says_what_it_could_not_hold(home: Path, tmp_path: Path) -> None:
    rows = [{**bare(LABELLED[:1])[0], "odd": "bell \x07"}]
    counts = judged(home, write(tmp_path / "in.jsonl", rows), tmp_path / "o.xlsx")
    assert sum("no workbook holds" in note for note in counts["notes"]) == 1


def test_workbook_keeps_the_numbers_and_dashes_of_the_one_that_was_judged(home: Path, tmp_path: Path) -> None:
    odd = [4.0, 2.5, "-", "007", "1.10", "++", "491701234567", -3.0]
    with Workbook(tmp_path / "in.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["query", "answer", "odd", "contexts"])
        for n, (row, cell) in enumerate(zip(LABELLED, odd, strict=False), 1):
            sheet.write_row(n, 0, [row["query"], row["answer"]])
            sheet.write_string(n, 3, json.dumps(row["contexts"]))
            (sheet.write_string if isinstance(cell, str) else sheet.write_number)(n, 2, cell)
    judged(home, tmp_path / "in.xlsx", tmp_path / "o.xlsx")
    found = pd.read_excel(tmp_path / "o.xlsx", dtype=object)
    assert found["odd"].tolist() == odd
    assert [type(cell) is str for cell in found["odd"]] == [isinstance(cell, str) for cell in odd]


@pytest.mark.parametrize("out", ["o.csv", "o.jsonl"])
def test_renamed_columns_keep_their_own_names_and_the_item_id_stands_before_them(
    home: Path, tmp_path: Path, out: str
) -> None:
    file = tmp_path / "in.csv"
    with file.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows(
            [
                ["Frage", "reply", "stars", "contexts"],
                *([row["query"], row["answer"], "4", json.dumps(row["contexts"])] for row in LABELLED[:9]),
            ]
        )
    judged(home, file, tmp_path / out, columns={"Frage": "query", "reply": "answer", "stars": "grade"})
    table = read_table(str(tmp_path / out))
    assert list(table.columns) == ["item_id", "Frage", "reply", "stars", "contexts", *ADDED]
    assert [row["Frage"] for row in table.rows] == [row["query"] for row in LABELLED[:9]]
    assert all(row["item_id"] for row in table.rows)


def test_parquet_in_and_out_keeps_the_types_of_columns(home: Path, tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    day = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    rows = [{**row, "n": k, "x": k / 3, "on": k > 1, "at": day, "odd": [1, 2]} for k, row in enumerate(LABELLED[:5])]
    parquet.write_table(pa.Table.from_pylist([*rows, rows[0]]), tmp_path / "in.parquet")
    judged(home, tmp_path / "in.parquet", tmp_path / "o.parquet")
    written = parquet.read_table(tmp_path / "o.parquet")
    found = written.to_pylist()
    for given, row in zip([*rows, rows[0]], found, strict=True):
        assert {name: row[name] for name in given} == {**given, "odd": "[1, 2]"}
    types = {name: str(written.schema.field(name).type) for name in ("n", "x", "on", "judge_grade", "judge_score")}
    assert types == {"n": "int64", "x": "double", "on": "bool", "judge_grade": "int64", "judge_score": "double"}
    judged(home, tmp_path / "in.parquet", tmp_path / "o.jsonl")
    assert [row["odd"] for row in json_rows(tmp_path / "o.jsonl")] == [[1, 2]] * 6


@pytest.mark.parametrize("taken", ["grade", "unscored", "stated_confidence"])
def test_a_name_that_is_taken_puts_a_prefix_before_all_names(home: Path, tmp_path: Path, taken: str) -> None:
    rows = [{**row, taken: "mine"} for row in bare(LABELLED[:4])]
    counts = judged(home, write(tmp_path / "in.jsonl", rows), tmp_path / "o.jsonl")
    for given, found in zip(rows, json_rows(tmp_path / "o.jsonl"), strict=True):
        assert list(found) == [*given, *(f"judge_{name}" for name in ADDED)]
        assert found[taken] == "mine"
    assert counts["columns"]["grade"] == "judge_grade"
    judged(home, tmp_path / "o.jsonl", tmp_path / "again.csv")
    again = read_table(str(tmp_path / "again.csv"))
    assert again.columns[-len(ADDED) :] == tuple(f"judge_judge_{name}" for name in ADDED)


def test_no_inputs_leaves_the_judgments_alone_and_estimate_reads_what_was_written(home: Path, tmp_path: Path) -> None:
    week = [
        {**row, "item_id": f"x{n}", "query_id": f"x{n // 2}", "query": f"Now {row['query']}"}
        for n, row in enumerate(grading_world.rows(60, seed=3))
    ]
    items = write(tmp_path / "week.jsonl", [*bare(week), bare(week)[0]])
    labels = write(tmp_path / "labels.jsonl", week)
    for suffix, inputs in ((".jsonl", False), (".xlsx", False), (".xlsx", True)):
        out = tmp_path / f"o{suffix}"
        options = JudgeFileOptions(file=str(items), judge="w@1", out=out, home=home, inputs=inputs)
        rate = rate_asked(options, "accept_rate", str(labels), None)
        assert rate is not None
        written = judge_file.run(options, Silent())
        found, counts = estimate_judged(written, rate).to_json(), written.report
        assert (found["n"], found["n_labelled"]) == (60, 60)
        accepted, rejected = int(str(counts["accepted"])), int(str(counts["rejected"]))
        assert isinstance(found["raw"], dict)
        assert found["raw"]["value"] == pytest.approx(accepted / (accepted + rejected))
        table = read_table(str(out))
        assert inputs or list(table.columns) == ["item_id", *ADDED]
        assert [row["item_id"] for row in table.rows] == [row["item_id"] for row in (*week, week[0])]


def test_tables_have_a_column_an_aspect_and_json_lines_keep_their_plural_keys(home: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "in.jsonl", bare(LABELLED[:20]))
    counts = judged(home, file, tmp_path / "o.jsonl", "two@1")
    judged(home, file, tmp_path / "o.parquet", "two@1")
    names = [f"{name}.{aspect}" for name in ADDED[:4] for aspect in ("claims", "tone")]
    table = read_table(str(tmp_path / "o.parquet"))
    assert list(table.columns) == [*bare(LABELLED[:1])[0], *names, *ADDED[4:]]
    for plain, row in zip(json_rows(tmp_path / "o.jsonl"), table.rows, strict=True):
        for aspect in ("claims", "tone"):
            assert row[f"grade.{aspect}"] == plain["grades"][aspect]
            assert row[f"confidence.{aspect}"] == plain["confidences"][aspect]
        assert list(plain) == [*bare(LABELLED[:1])[0], *(f"{name}s" if name in GRADED else name for name in ADDED)]
        assert json.loads(str(row["probabilities"])) == plain["probabilities"]
    accepts = [row["accepts"] for row in json_rows(tmp_path / "o.jsonl")]
    for outcome, wanted in (("accepted", True), ("rejected", False)):
        assert counts[outcome] == {one: sum(row[one] is wanted for row in accepts) for one in ("claims", "tone")}


def test_missing_answer_is_an_empty_answer_and_repeated_rows_are_judged_once(home: Path, tmp_path: Path) -> None:
    one, other, third = bare(LABELLED[:3])
    rows = [{name: one[name] for name in one if name != "answer"} | {"item_id": "x"}, {**other, "answer": None}]
    counts = judged(home, write(tmp_path / "i.jsonl", [*rows, third, third]), tmp_path / "out.jsonl", "two@1")
    assert (counts["rows"], counts["items"], counts["unscored"]) == (4, 3, 0)
    written = json_rows(tmp_path / "out.jsonl")
    assert [row["item_id"] for row in written] == ["x", other["item_id"], *[third["item_id"]] * 2]
    assert written[2] == written[3]
    learned = sum(row["learned"] for row in written[:3])
    assert learned > 0
    starts = (
        "1 row repeats",
        "2 rows without an answer",
        f"{learned} of 3 items",
        "two@1: evidence alone",
        "two@1 was not",
    )
    assert [note.startswith(start) for note, start in zip(counts["notes"], starts, strict=True)] == [True] * 5


def test_output_never_replaces_the_input_or_what_is_no_file(home: Path, tmp_path: Path) -> None:
    items = write(tmp_path / "i.jsonl", LABELLED[:2])
    before = items.read_bytes()
    for out, seen in (
        (tmp_path / ".." / tmp_path.name / "i.jsonl", "its judgments would replace it"),
        (tmp_path / "folder.jsonl", "not a file that can be replaced"),
        (tmp_path / "none" / "out.jsonl", "no such folder"),
    ):
        (tmp_path / "folder.jsonl").mkdir(exist_ok=True)
        with pytest.raises(UserError, match=seen):
            judged(home, items, out)
    with pytest.raises(UserError, match="not a file that can be replaced"):
        judged(home, items, Path("/dev/null"))
    assert items.read_bytes() == before


def test_numbers_in_json_lines_keep_every_digit_and_a_missing_item_id_is_filled_in(home: Path, tmp_path: Path) -> None:
    rows = bare(LABELLED[:3])
    rows[1]["item_id"] = None
    for big, same in ((10**30, True), (1.10, True)):
        file = write(tmp_path / "in.jsonl", [{**row, "big": big} for row in rows])
        judged(home, file, tmp_path / "o.jsonl")
        found = json_rows(tmp_path / "o.jsonl")
        assert all((row["big"] == big) is same for row in found)
        assert re.fullmatch("[0-9a-f]{16}", found[1]["item_id"])


@pytest.mark.parametrize("name", ["o.json", "o.txt", "o", "o.CSVX"])
def test_another_ending_is_refused_before_anything_is_read(home: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"\.jsonl, \.csv, \.tsv, \.parquet, \.xlsx are valid"):
        judged(home, tmp_path / "not there.jsonl", tmp_path / name)


def test_learned_is_true_for_queries_of_train_and_dev_alone(home: Path, tmp_path: Path) -> None:
    fresh = [
        {**row, "query_id": f"new{row['query_id']}", "query": f"Now {row['query']}"}
        for row in bare(grading_world.rows(10, seed=9))
    ]
    fresh = [{**row, "item_id": f"new{n}"} for n, row in enumerate(fresh)]
    counts = judged(home, write(tmp_path / "in.jsonl", [*bare(LABELLED), *fresh]), tmp_path / "o.jsonl")
    split = programs.load(home, "w@1").split["queries"]
    known = {query_id for query_id, side in split.items() if side in {"train", "dev"}}
    found = json_rows(tmp_path / "o.jsonl")
    assert [row["learned"] for row in found] == [row["query_id"] in known for row in found]
    assert counts["learned"] == sum(row["learned"] for row in found) > 10
    assert any("items are of queries that the judge has learned from" in note for note in counts["notes"])


def printed(stderr: str) -> list[str]:
    """The next command, as it is printed."""
    (line,) = (line for line in stderr.splitlines() if line.startswith("Next: judgec "))
    return shlex.split(line.removeprefix("Next: judgec "))


@pytest.mark.parametrize(("suffix", "judgec"), [(".jsonl", judgec), (".xlsx", judgec_here)])
def test_printed_next_command_measures_on_what_the_judge_has_not_learned_from(
    home: Path, tmp_path: Path, suffix: str, judgec: Command
) -> None:
    people = [{**row, "annotator": ("ann", "bob")[n % 2]} for n, row in enumerate(LABELLED)]
    write(tmp_path / "the labels.jsonl", people)
    (tmp_path / "the labels.datasheet.toml").write_text('annotators = ["*"]\n')
    command = ["judge", "the labels.jsonl", "--judge", "w@1", "--home", home, "--out", f"my out{suffix}"]
    said = judgec(tmp_path, *command).stderr
    step = printed(said)
    assert step == [
        "agreement",
        f"my out{suffix}",
        *shlex.split("--annotators '*' --judges judge_grade --cluster query_id"),
    ]
    split = programs.load(home, "w@1").split["queries"]
    new = sum(split[row["query_id"]] == "test" for row in LABELLED)
    assert 0 < new < len(LABELLED)
    note = (
        f"the judge has learned from the queries of {len(LABELLED) - new} of {len(LABELLED)} items: "
        f"{len(LABELLED) - new} are left out, {new} are measured"
    )
    assert note in judgec(tmp_path, *step).stderr
    found = json.loads(judgec(tmp_path, *step, "--json").stdout)["judges"]["judge_grade"]
    assert (found["n"], found["learned"]) == (new, {"rows": len(LABELLED) - new, "kept": False, "out_of_fold": 0})
    every = json.loads(judgec(tmp_path, *step, "--all", "--json").stdout)["judges"]["judge_grade"]
    assert (every["n"], every["learned"]["kept"]) == (len(LABELLED), True)
    rows = [
        row
        for row in read_table(str(tmp_path / f"my out{suffix}")).rows
        if str(row["judge_learned"]).lower() == "false"
    ]
    assert found["exact"]["value"] == pytest.approx(
        sum(str(row["grade"]) == str(row["judge_grade"]) for row in rows) / new
    )


FOLDED = grading_world.rows(40, per_query=2)


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the judge ``f``, compiled on ``FOLDED`` and tested in five folds."""
    home = tmp_path_factory.mktemp("folded") / "ho me"
    compiled_from(home, FOLDED, name="f", folds=5, lm="embedded")
    return home


@pytest.mark.parametrize(("suffix", "judgec"), [(".jsonl", judgec), (".csv", judgec_here)])
def test_agreement_of_a_judge_tested_in_folds_measures_what_it_said_before_it_learned(
    folded: Path, tmp_path: Path, suffix: str, judgec: Command
) -> None:
    home, out, rows = folded, tmp_path / f"o{suffix}", FOLDED
    labels = write(tmp_path / "labels.jsonl", rows)
    fresh = [{**row, "item_id": f"n{n}", "query_id": f"n{n}", "query": f"Now {n}?"} for n, row in enumerate(rows[:6])]
    file = write(labels, [*rows, *fresh])
    said = judgec(tmp_path, "judge", file, "--judge", "f@1", "--home", home, "--out", out).stderr
    step = printed(said)
    assert step[-2:] == ["--home", str(home)]
    measured = judgec(tmp_path, *step, "--json").stdout
    found = json.loads(measured)["judges"]["judge_grade"]
    assert found["learned"] == {"rows": 40, "kept": False, "out_of_fold": 40}
    table = programs.load(home, "f@1").report["judgments"]
    assert isinstance(table, dict)
    judged_now = {str(row["item_id"]): int(str(row["judge_grade"])) for row in read_table(str(out)).rows[40:]}
    items = read_labels(str(write(tmp_path / "again.jsonl", rows))).items
    before = {item.item_id: 1 + table[item_digest(item)]["grade"][0] for item in items}
    right = [{**before, **judged_now}[str(row["item_id"])] == row["grade"] for row in [*rows, *fresh]]
    assert found["exact"]["value"] == pytest.approx(sum(right) / 46)
    notes = judgec(tmp_path, *step).stderr
    assert "for 40 of them the out-of-fold judgments of f@1" in notes
    outside = judgec(tmp_path, *step[:-2], "--json").stdout  # the program is not in this folder
    alone = json.loads(outside)["judges"]["judge_grade"]
    assert (alone["n"], alone["learned"]["out_of_fold"]) == (6, 0)


def test_printed_next_command_without_labels_makes_a_sheet_to_grade_on(home: Path, tmp_path: Path) -> None:
    fresh = [{"Frage": f"Is {n} even?", "answer": f"{n}", "contexts": ["Some are."]} for n in range(4)]
    write(tmp_path / "new.jsonl", fresh)
    command = ["judge", "new.jsonl", "--map", "Frage=query", "--judge", "w@1", "--home", home, "--out", "o.csv"]
    step = printed(judgec(tmp_path, *command).stderr)
    judgec(tmp_path, *step)
    assert len(read_table(str(tmp_path / "o.to-grade.csv")).rows) == 4


def test_labels_of_a_judged_file_are_the_experts(home: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "in.jsonl", LABELLED)
    for suffix in FORMATS:
        judged(home, file, tmp_path / f"o{suffix}")
        before, after = read_labels(str(file)), read_labels(str(tmp_path / f"o{suffix}"))
        assert [(one.item_id, one.grades) for one in after.labels] == [
            (one.item_id, one.grades) for one in before.labels
        ]
