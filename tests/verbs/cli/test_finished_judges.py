"""``compare``, ``labels next`` and ``judge --abstain-below`` on judges that are compiled already."""

import csv
import json
import shlex
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest

from judgec.compile.abstain import EXACT, graded_rows
from judgec.compile.report import Saved
from judgec.compile.settings import CompileSettings
from judgec.compile.track import run_of
from judgec.labels.labels import read_labels
from judgec.labels.split.draw import split_labels
from judgec.labels.split.family import read_family
from judgec.labels.split.memory import read_memory
from judgec.lm.prices import price
from judgec.lm.spec import LMSpec
from judgec.raters import programs
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.report.words import CONSTRUCTED
from judgec.table.datasheet import read_datasheet
from judgec.table.seal import seal
from judgec.verbs.cli.app import main
from judgec.verbs.next_labels import datasheet
from tests.report.page.html import Page
from tests.service.grading_world import rows
from tests.verbs.cli.conftest import Home


class Run(Protocol):
    """Runs ``judgec`` in this process, which has imported everything already."""

    def __call__(self, *arguments: str, code: int = 0) -> tuple[str, str]: ...


def sides(home: Home) -> dict[str, str]:
    """The split of each query, as the judge remembers it."""
    split = json.loads((home.folder / "programs" / "world" / "0001" / "split.json").read_text())
    return {str(query): str(side) for query, side in split["queries"].items()}


@pytest.fixture
def run(home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str, code: int = 0) -> tuple[str, str]:
        given = () if "--home" in arguments else ("--home", str(home.folder))
        monkeypatch.setattr(sys, "argv", ["judgec", *arguments, *given])
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("COLUMNS", "120")
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert (end.value.code or 0) == code, said.err
        return said.out, said.err

    return call


def test_compare_on_the_common_test_split_asks_nothing_and_pairs_every_item(
    home: Home, run: Run, tmp_path: Path
) -> None:
    before = home.server.calls
    out = tmp_path / "items.jsonl"
    page = tmp_path / "compared.html"
    options = ["--api-base", home.server.base_url, "--out", str(out), "--json", "--report", str(page)]
    stdout, stderr = run("compare", "world@1", "world@2", *options)
    assert stderr == ""
    report = json.loads(stdout)
    assert home.server.calls == before  # every verdict was in the journal
    assert report["lm_calls"] == 0
    tested = home.report["test"]
    assert isinstance(tested, dict)
    assert report["test"]["a"]["tau_b"]["value"] == pytest.approx(tested["compiled"]["tau_b"]["value"])
    assert report["test"]["a"]["n"] == report["test"]["b"]["n"] == len(home.first.dataset.test)
    difference = report["test"]["a"]["exact"]["value"] - report["test"]["b"]["exact"]["value"]
    assert report["difference"]["exact"]["value"] == pytest.approx(difference)
    assert report["a"]["looks"] == 2
    assert report["a"]["level_spent"] == pytest.approx(0.025 + 0.05 / 6)
    differing = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(differing) == report["differ"]
    assert [row["distance"] for row in differing] == sorted((row["distance"] for row in differing), reverse=True)
    assert all(row["a"]["rationale"] and row["b"]["rationale"] for row in differing)
    assert Page(page.read_text(encoding="utf-8")).faults == []
    assert '<p class="verdict' in page.read_text(encoding="utf-8")
    assert (tmp_path / "compared.items.jsonl").exists() == bool(differing)
    assert "grades of experts that neither has learned from" in page.read_text(encoding="utf-8")
    assert CONSTRUCTED not in report["notes"]


def test_compare_on_other_labels_leaves_out_what_either_was_compiled_on(home: Home, run: Run, tmp_path: Path) -> None:
    # The old queries 60-79 and forty new ones: of the old, only those of the test split may be used.
    file = tmp_path / "more.jsonl"
    made = [row for row in rows(240, per_query=2) if int(str(row["query_id"])[1:]) >= 60]
    file.write_text("".join(json.dumps(row) + "\n" for row in made))
    split = sides(home)
    allowed = [row for row in made if split.get(str(row["query_id"]), "test") == "test"]
    assert any(str(row["query_id"]) < "q0080" for row in allowed)
    options = ["--labels", str(file), "--api-base", home.server.base_url, "--json"]
    report = json.loads(run("compare", "world@1", "world@2", *options)[0])
    assert report["test"]["a"]["n"] == len(allowed)
    assert len(allowed) < len(made)
    assert report["lm_calls"] > 0


def unseen(folder: Path, start: int, graded: bool = True) -> Path:
    """Thirty items of queries that no judge here has seen, from query ``start`` on; ``start`` keeps calls apart."""
    made = [row for row in rows(2 * start + 30, per_query=2) if int(str(row["query_id"])[1:]) >= start]
    kept = made if graded else [{key: value for key, value in row.items() if key != "grade"} for row in made]
    labelled = [] if graded else rows(2, per_query=2)
    file = folder / "unseen.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in [*kept, *labelled]))
    return file


@pytest.fixture
def priced(home: Home, tmp_path: Path) -> Path:
    """The home again, its judges compiled for a model that has a list price."""
    copy = tmp_path / "priced"
    shutil.copytree(home.folder / "programs", copy / "programs")
    for card in copy.glob("programs/*/*/card.json"):
        card.write_text(card.read_text().replace("openai/fake", "openai/gpt-4o-mini"))
        seal(card.parent)
    return copy


def test_compare_keeps_both_judges_together_within_the_budget(home: Home, run: Run, tmp_path: Path) -> None:
    options = ["--labels", str(unseen(tmp_path, 200)), "--api-base", home.server.base_url]
    before = home.server.calls
    _, stderr = run("compare", "world@1", "world@2", *options, "--budget", "40", code=3)
    assert home.server.calls - before == 40  # of sixty
    assert "--budget: 40 calls made; 40 are allowed" in stderr


@pytest.mark.parametrize("command", ["compare", "next"])
def test_max_cost_is_never_passed_and_is_the_whole_commands(
    home: Home, run: Run, priced: Path, tmp_path: Path, command: str
) -> None:
    file = unseen(tmp_path, {"compare": 300, "next": 400}[command], graded=command == "compare")
    cap = 0.006
    arguments = {
        "compare": ("compare", "world@1", "world@2", "--labels", str(file)),
        "next": ("labels", "next", str(file), "3", "--judge", "world@1", "--out", str(tmp_path / "next.csv")),
    }[command]
    before = len(home.server.bodies)
    at = ("--api-base", home.server.base_url, "--home", str(priced))
    _, stderr = run(*arguments, *at, "--max-cost", str(cap), code=3)
    assert "--max-cost: $" in stderr
    bodies = home.server.bodies[before:]
    assert len(bodies) > 1
    rate = price("openai/gpt-4o-mini")
    assert rate is not None
    with closing(sqlite3.connect(priced / ".judgec" / "journal.db")) as journal, journal:
        (spent,) = journal.execute("SELECT SUM(usd) FROM replies").fetchone()
    assert 0 < spent <= cap


def test_max_cost_of_a_model_without_a_list_price_is_refused(home: Home, run: Run) -> None:
    before = home.server.calls
    options = ["--api-base", home.server.base_url, "--max-cost", "1"]
    _, stderr = run("compare", "world@1", "world@2", *options, code=2)
    assert "no list price for openai/fake" in stderr
    assert home.server.calls == before


def test_compare_shows_tables_for_people_and_the_next_command(home: Home, run: Run) -> None:
    stdout, stderr = run("compare", "world@1", "world@2", "--api-base", home.server.base_url)
    assert "difference" in stdout
    assert "world@1 against world@2" in stdout
    assert "2 uses of this test split have spent 0.033 of .05" in stderr


def test_compare_of_judges_that_differ_names_the_command_that_writes_where(
    home: Home, run: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "with a space"
    shutil.copytree(home.folder, folder)
    calibration = folder / "programs" / "world" / "0002" / "calibration.json"
    bare = json.loads(calibration.read_text())
    worst = {"family": "prior", "prior": [1.0, 0.0, 0.0, 0.0, 0.0], "rule": {"name": "likeliest", "cuts": []}}
    bare["calibrators"]["grade"] |= worst
    calibration.write_text(json.dumps(bare))
    seal(calibration.parent)
    options = ["--api-base", home.server.base_url]
    _, stderr = run("compare", "world@1", "world@2", *options, "--home", str(folder))
    assert f"Next: {shlex.join(['judgec', 'compare', 'world@1', 'world@2', *options])} --out items.jsonl" in stderr
    assert f"--home '{folder}'\n" in stderr


def test_compare_after_the_label_file_changed_says_so(home: Home, run: Run, tmp_path: Path) -> None:
    text, split = home.labels.read_text(), sides(home)
    try:
        test_row = next(line for line in text.splitlines() if split[json.loads(line)["query_id"]] == "test")
        home.labels.write_text(text.replace(test_row + "\n", ""))
        _, stderr = run("compare", "world@1", "world@2", "--api-base", home.server.base_url, code=2)
    finally:
        home.labels.write_text(text)
    assert "the file has changed" in stderr
    assert "--labels FILE" in stderr


def test_labels_next_writes_a_sheet_that_reads_back_as_the_same_items(home: Home, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "more.jsonl"
    made = rows(300, per_query=2)
    for row in made[160:]:
        del row["grade"]
    file.write_text("".join(json.dumps(row) + "\n" for row in made))
    out = tmp_path / "next.csv"
    options = ["20", "--judge", "world@1", "--api-base", home.server.base_url, "--out", str(out), "--json"]
    report = json.loads(run("labels", "next", str(file), *options)[0])
    assert (report["unlabelled"], report["labelled"], report["picked"]) == (140, 160, 20)
    with out.open(newline="", encoding="utf-8") as lines:
        sheet = list(csv.DictReader(lines))
    assert {row["grade"] for row in sheet} == {""}
    assert report["strata"] == {"random": 10, "uncertain": 10}
    # Chosen for being hard, and so of train whenever they are labelled, whatever the judge is called by then.
    hard = {row["query_id"] for row in sheet if row["stratum"] == "uncertain"}
    labelled = tmp_path / "labelled.jsonl"
    labelled.write_text("".join(json.dumps(row) + "\n" for row in rows(300, per_query=2)))
    found = read_labels(str(labelled))
    split = split_labels(found, read_memory(home.folder, "of-another-name"))
    assert hard <= {found.items[i].query_id for i in split.train}
    assert all(float(row["inclusion_probability"]) == 1 for row in sheet if row["stratum"] == "uncertain")
    # 70 queries of two items each, ten drawn: 10 / 70 / 2.
    drawn = [float(row["inclusion_probability"]) for row in sheet if row["stratum"] == "random"]
    assert drawn == pytest.approx([1 / 14] * 10, rel=1e-5)
    for number, row in enumerate(sheet):
        row["grade"] = str(2 + number % 2)  # the scale is more than what these few show
    with out.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, list(sheet[0]))
        writer.writeheader()
        writer.writerows(sheet)
    originals = {item.item_id: item for item in read_labels(str(file)).items}
    filled = read_labels(str(out))
    assert list(filled.items) == [originals[item_id] for item_id in report["item_ids"]]
    assert (filled.task, filled.scale) == ("grade", programs.load(home.folder, "world@1").card.scale)
    assert report["datasheet"] == str(tmp_path / "next.datasheet.toml")


def test_datasheet_of_a_sheet_reads_back_as_the_judges_scale(home: Home, tmp_path: Path) -> None:
    card = programs.load(home.folder, "world@1").card
    words = Scale(name='how "good"', grades=("übel", "so\\so", "good"), meanings=("a\nb", "c", "d"), accept_at="good")
    for scale in (words, Scale(name="half", grades=(0, 0.5, 1)), Scale(name="n", level="nominal", grades=("x", "y"))):
        (tmp_path / "next.datasheet.toml").write_text(datasheet(card.model_copy(update={"scale": scale})))
        read = read_datasheet(str(tmp_path / "next.csv"))
        assert (read.task, read.scale, read.notes) == ("grade", scale, ())
    (tmp_path / "next.datasheet.toml").write_text(datasheet(card.model_copy(update={"scale": ACCEPT_SCALE})))
    assert read_datasheet(str(tmp_path / "next.csv")).scale is None


def test_labels_next_without_a_judge_says_what_is_missing(home: Home, run: Run) -> None:
    _, stderr = run("labels", "next", str(home.labels), "3", code=2)
    assert "--judge" in stderr


def test_labels_next_keeps_a_sheet_that_an_expert_has_filled_in(home: Home, run: Run, tmp_path: Path) -> None:
    filled = tmp_path / "next.csv"
    filled.write_text("item_id,query,answer,grade\ni0,Q,A,4\ni1,Q,B,\n")
    before = home.server.calls, filled.read_bytes()
    options = ["3", "--judge", "world@1", "--api-base", home.server.base_url, "--out", str(filled)]
    _, stderr = run("labels", "next", str(unseen(tmp_path, 600, graded=False)), *options, code=2)
    assert "it holds labels, which would be lost. Move it, or name another" in stderr
    assert (home.server.calls, filled.read_bytes()) == before


def test_labels_next_of_a_file_without_unlabelled_items_says_so(home: Home, run: Run) -> None:
    _, stderr = run(
        "labels", "next", str(home.labels), "3", "--judge", "world@1", "--api-base", home.server.base_url, code=2
    )
    assert "all 160 items have a label" in stderr


@pytest.mark.parametrize(
    ("option", "below"), [([], None), (["--abstain-below", "0.9"], 0.9), (["--abstain-below", "0"], 0)]
)
def test_judge_abstains_as_compiled_unless_told_otherwise(
    home: Home, run: Run, tmp_path: Path, option: list[str], below: float | None
) -> None:
    out = tmp_path / "out.jsonl"
    arguments = [
        str(home.labels),
        "--judge",
        "world@1",
        "--api-base",
        home.server.base_url,
        "--out",
        str(out),
        "--json",
    ]
    report = json.loads(run("judge", *arguments, *option)[0])
    threshold = 0.85 if below is None else below
    judged = [json.loads(line) for line in out.read_text().splitlines()]
    left = [row for row in judged if row["judge_unscored"]]  # the labels have a `grade`, so all names get the prefix
    assert all(row["judge_confidence"] >= threshold for row in judged if not row["judge_unscored"])
    assert all(row["judge_unscored"].startswith("abstained: ") and row["judge_grade"] is None for row in left)
    assert report["unscored_reasons"] == ({"abstained": len(left)} if left else {})
    assert bool(left) is (threshold > 0)


def test_compile_reports_calibrators_errors_and_coverage(home: Home) -> None:
    report = home.report
    calibrators = report["calibrators"]
    assert isinstance(calibrators, dict)
    families = {choice["family"] for choice in calibrators["grade"]["choices"]}
    assert families == {"prior", "none", "isotonic", "ordinal", "multinomial"}
    assert sum(choice["chosen"] for choice in calibrators["grade"]["choices"]) == 1
    errors = report["calibration_error"]
    assert isinstance(errors, dict)
    assert 0 <= errors["grade"]["accept"] < 0.5
    abstaining = report["abstention"]
    assert isinstance(abstaining, dict)
    assert abstaining["of"] == "exact"
    assert abstaining["curve"][0]["coverage"] == 1.0
    card = programs.load(home.folder, "world@1").card
    assert card.settings["abstain_below"] == abstaining["below"] == 0.85


def test_run_of_a_compile_logs_calibration_error_and_coverage(home: Home) -> None:
    card = programs.load(home.folder, "world@1").card
    settings = CompileSettings(name="world", home=home.folder, lm=LMSpec.parse("openai/fake"))
    run = run_of(
        home.first, Saved(card, home.report, home.first), settings, source="world.jsonl", started=0.0, ended=1.0
    )
    assert {"test.ece_accept", "test.ece_confidence", "test.abstaining.coverage"} <= set(run.metrics)


def test_family_remembers_both_looks(home: Home) -> None:
    looks = read_family(home.folder, "world").looks
    assert [look.version for look in looks] == ["0001", "0002"]
    assert len({look.test for look in looks}) == 1


def test_graded_rows_of_the_tested_judge_agree_with_its_exact_agreement(home: Home) -> None:
    judged = home.first.verification.judgments["compiled"]
    rows_tested = graded_rows(home.first.dataset.test, judged, EXACT, home.first.dataset.labels.scale)
    exact = home.first.verification.agreements["compiled"].estimates["exact"].value
    assert np.mean(rows_tested.agrees) == pytest.approx(exact)
