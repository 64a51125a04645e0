"""``compare``, ``labels next`` and ``judge --abstain-below`` on judges that are compiled already."""

import json
import sys
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
import pytest

from judgec.compile.abstain import EXACT, graded_rows
from judgec.compile.finished import items_of
from judgec.compile.release import Saved
from judgec.compile.track import run_of
from judgec.labels.labels import read_labels
from judgec.labels.reading import read_datasheet
from judgec.labels.split.draw import split_labels
from judgec.labels.split.memory import read_memory
from judgec.raters import programs
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.report.words import CONSTRUCTED
from judgec.verbs.cli.app import main
from judgec.verbs.next_labels import datasheet
from tests.compile.small import write
from tests.report.page.html import Page
from tests.service.grading_world import rows
from tests.verbs.cli.conftest import Home


class Run(Protocol):
    """Runs ``judgec`` in this process, which has imported everything already."""

    def __call__(self, *arguments: str, code: int = 0) -> tuple[str, str]: ...


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


def test_compare_after_the_label_file_changed_says_so(home: Home, run: Run, tmp_path: Path) -> None:
    text, split = home.labels.read_text(), programs.load(home.folder, "world@1").split["queries"]
    try:
        test_row = next(line for line in text.splitlines() if split[json.loads(line)["query_id"]] == "test")
        home.labels.write_text(text.replace(test_row + "\n", ""))
        _, stderr = run("compare", "world@1", "world@2", "--api-base", home.server.base_url, code=2)
    finally:
        home.labels.write_text(text)
    assert "the file has changed" in stderr
    assert "--labels FILE" in stderr


def test_labels_next_writes_a_sheet_that_reads_back_as_the_same_items(home: Home, run: Run, tmp_path: Path) -> None:
    made = rows(300, per_query=2)
    bare = [{name: value for name, value in row.items() if name != "grade"} for row in made[160:]]
    file = write(tmp_path / "more.jsonl", [*made[:160], *bare])
    out = tmp_path / "next.csv"
    options = ["20", "--judge", "world@1", "--api-base", home.server.base_url, "--out", str(out), "--json"]
    report = json.loads(run("labels", "next", str(file), *options)[0])
    assert (report["unlabelled"], report["labelled"], report["picked"]) == (140, 160, 20)
    sheet = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert set(sheet["grade"]) == {""}
    assert report["strata"] == {"random": 10, "uncertain": 10}
    # Chosen for being hard, and so of train whenever they are labelled, whatever the judge is called by then.
    hard, drawn = (sheet[sheet["stratum"] == stratum] for stratum in ("uncertain", "random"))
    found = read_labels(str(write(tmp_path / "labelled.jsonl", made)))
    split = split_labels(found, read_memory(home.folder, "of-another-name"))
    assert {*hard["query_id"]} <= {found.items[i].query_id for i in split.train}
    assert hard["inclusion_probability"].astype(float).eq(1).all()
    # 70 queries of two items each, ten drawn: 10 / 70 / 2.
    assert drawn["inclusion_probability"].astype(float).tolist() == pytest.approx([1 / 14] * 10, rel=1e-5)
    # The scale is more than what these few show.
    sheet.assign(grade=[str(2 + number % 2) for number in range(20)]).to_csv(out, index=False)
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


def test_labels_next_keeps_a_sheet_that_an_expert_has_filled_in_and_says_what_is_missing(
    home: Home, run: Run, tmp_path: Path
) -> None:
    filled = tmp_path / "next.csv"
    filled.write_text("item_id,query,answer,grade\ni0,Q,A,4\ni1,Q,B,\n")
    before = home.server.calls, filled.read_bytes()
    bare = write(tmp_path / "bare.jsonl", [{"query": "New?", "answer": f"{n}"} for n in range(9)])
    asked = ["3", "--judge", "world@1", "--api-base", home.server.base_url]
    for file, options, said in (
        (bare, [*asked, "--out", str(filled)], "it holds labels"),
        (home.labels, asked, "all 160 items have a label"),
        (home.labels, ["3"], "--judge"),
    ):
        assert said in run("labels", "next", str(file), *options, code=2)[1]
    assert (home.server.calls, filled.read_bytes()) == before


@pytest.mark.parametrize(
    ("option", "below"), [([], None), (["--abstain-below", "0.9"], 0.9), (["--abstain-below", "0"], 0)]
)
def test_judge_abstains_as_compiled_unless_told_otherwise(
    home: Home, run: Run, tmp_path: Path, option: list[str], below: float | None
) -> None:
    out = tmp_path / "out.jsonl"
    arguments = [
        str(home.labels), "--judge", "world@1", "--api-base", home.server.base_url, "--out", str(out), "--json",
    ]  # fmt: skip
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
    assert families
    assert families <= {"prior", "none", "isotonic", "ordinal", "multinomial"}
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
    saved = Saved(card, dict(home.report), home.first, items_of(home.first))
    run = run_of(saved, home.folder, source="world.jsonl", took=(0.0, 1.0))
    assert {"test.ece_accept", "test.ece_confidence", "test.abstaining.coverage"} <= set(run.metrics)


def test_graded_rows_of_the_tested_judge_agree_with_its_exact_agreement(home: Home) -> None:
    judged = home.first.verification.judgments["compiled"]
    rows_tested = graded_rows(home.first.dataset.test, judged, EXACT, home.first.dataset.labels.scale)
    exact = home.first.verification.agreements["compiled"].estimates["exact"].value
    assert np.mean(rows_tested.agrees) == pytest.approx(exact)
