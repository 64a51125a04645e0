"""The benchmark of known judges: every fitting set is a row, others are named, and a killed run goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.real_judges import ALL_ASPECTS, Row, aspects_of, between, mean_difference, section, tasks_in
from sklearn.metrics import cohen_kappa_score

from judgec.labels.labels import read_label_file
from judgec.records.ratings import GradePairs
from tests.compile.recorded_world import labels, verdicts

SHEET = 'task = "relevance"\n[scale]\nname = "relevance"\ngrades = [0, 1, 2, 3]\naccept_at = 2\n'
ORIGIN = '[source]\norigin = "made up for a test, CC0"\n'


def write_sets(folder: Path) -> None:
    """One set of two models that fits, and five that do not."""
    rows = labels(40, 2)
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    said = pd.DataFrame([one for one in verdicts(rows) if one["judge"] in {"gpt/clear", "llama/vague"}])
    kept = said[["item_id", "judge", "grade"]]
    for stem in ("fits", "damaged", "unnamed", "strangers", "few"):
        (folder / f"{stem}.jsonl").write_text(lines)
        (folder / f"{stem}.datasheet.toml").write_text(SHEET + ORIGIN)
        kept.to_parquet(folder / f"{stem}.verdicts.parquet")
    (folder / "damaged.verdicts.parquet").write_bytes(b"not a table")
    kept.drop(columns="judge").to_parquet(folder / "unnamed.verdicts.parquet")
    kept.assign(item_id="nobody").drop_duplicates("judge").to_parquet(folder / "strangers.verdicts.parquet")
    kept[kept["judge"] == "gpt/clear"].head(9).to_parquet(folder / "few.verdicts.parquet")
    kept.to_parquet(folder / "orphan.verdicts.parquet")
    (folder / "fits.judges.json").write_text(json.dumps({"gpt/clear": {"model": "gpt-9"}}))


def pairs(expert: np.ndarray, judge: np.ndarray) -> GradePairs:
    accepts = [np.asarray(grade >= 2, dtype=np.int64) for grade in (expert, judge)]
    values, cluster = (0.0, 1.0, 2.0, 3.0), np.arange(len(expert)) // 2
    return GradePairs(
        expert[:, None], judge, judge.astype(float), accepts[0][:, None], accepts[1], cluster, values, len(expert) // 2
    )


def test_tasks_of_a_folder_name_models_and_what_does_not_fit(tmp_path: Path) -> None:
    write_sets(tmp_path)
    skipped: list[str] = []
    found = list(tasks_in(tmp_path, [], "qwk", evidence=False, skipped=skipped))
    assert [one.model for one in found if one.group == "fits"] == ["gpt-9", "llama/vague", "all models"]
    assert [reason.partition(":")[0] for reason in skipped] == ["damaged", "orphan", "unnamed"]
    assert "no column judge" in skipped[-1]
    keys = {one.key for one in found}
    (tmp_path / "fits.datasheet.toml").write_text(SHEET)
    again = {one.key for one in tasks_in(tmp_path, [], "qwk", evidence=False, skipped=[])}
    assert len(keys - again) == 3  # another datasheet is another compile


def test_set_asked_for_that_is_not_there_is_named(tmp_path: Path) -> None:
    skipped: list[str] = []
    assert not list(tasks_in(tmp_path, ["absent"], "qwk", evidence=False, skipped=skipped))
    assert skipped == [f"absent: no absent.verdicts.parquet in {tmp_path}"]


def test_mean_over_aspects_is_that_of_scikit_learn_and_not_of_pooled_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    # aspect "hard" is graded low and "easy" high, so that a judge who knows only that is right when pooled
    expert = {"hard": rng.integers(0, 2, 80), "easy": rng.integers(2, 4, 80)}
    blind = {"hard": rng.integers(0, 2, 80), "easy": rng.integers(2, 4, 80)}
    plain = {aspect: rng.integers(0, 4, 80) for aspect in expert}
    joined = [np.concatenate([side[aspect] for aspect in expert]) for side in (expert, plain, blind)]

    def row(aspect: str, model: str, truth: np.ndarray, raw: np.ndarray, compiled: np.ndarray) -> Row:
        ratings = {"raw": pairs(truth, raw), "compiled": pairs(truth, compiled)}
        return Row("made", aspect, model, 1, "qwk", ratings, False, None, 160, True, 1.0)

    rows = []
    for model, raw, compiled in (("one", plain, blind), ("two", blind, plain)):
        first, second = (joined[1], joined[2]) if model == "one" else (joined[2], joined[1])
        rows.append(row(ALL_ASPECTS, model, joined[0], first, second))
        rows += [row(aspect, model, expert[aspect], raw[aspect], compiled[aspect]) for aspect in expert]

    def qwk(judge: dict[str, np.ndarray]) -> float:
        grades = [0, 1, 2, 3]
        return float(
            np.mean([cohen_kappa_score(expert[a], judge[a], weights="quadratic", labels=grades) for a in expert])
        )

    ours, theirs = aspects_of(rows, "made", "one"), aspects_of(rows, "made", "two")
    assert mean_difference(ours, ours, "qwk").value == pytest.approx(qwk(blind) - qwk(plain))
    assert mean_difference(ours, theirs, "qwk").value == pytest.approx(0.0)
    (tmp_path / "made.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in labels(4, 2)))
    (tmp_path / "made.datasheet.toml").write_text(SHEET + ORIGIN)
    about = read_label_file(str(tmp_path / "made.jsonl")).labels
    text = section(rows, about)
    assert "made up for a test, CC0." in text
    pooled = next(line for line in text.splitlines() if line.startswith("| one (1) | all"))
    mean = next(line for line in text.splitlines() if line.startswith("| one (1) | mean"))
    assert "**better**" in pooled
    assert "**better**" not in mean
    assert between(rows, brief=True).count("\n| one |") == 1
    table = between(rows)
    assert table.count("\n| one |") == table.count("\n| two |") == 2  # qwk and tau-b
    assert "+.000 [+.000, +.000] (0 better, 0 worse)" in table  # one shipped is what two is raw


@pytest.mark.soak
def test_killed_run_goes_on_and_every_set_is_a_row_or_named(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    write_sets(data)
    command = [sys.executable, "-m", "benchmarks.real_judges", "--data", str(data), "--out", str(out)]
    first = subprocess.Popen(  # our own script
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 300
    while not list(out.glob("*.json")) and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.json")}
    assert before
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=True)  # our own script
    after = {path.name: path.stat().st_mtime_ns for path in out.glob("*.json")}
    assert before.items() <= after.items()  # not made again
    assert {name.partition(".")[0] for name in after} == {"fits"}  # no failure is kept
    assert len(after) == 3
    assert "| gpt-9 (1) | all |" in done.stdout
    assert "| llama/vague (1) | all |" in done.stdout
    named = [line.removeprefix("- ") for line in done.stdout.splitlines() if line.startswith("- ")]
    assert [line.partition(":")[0].split()[0] for line in named] == [
        "damaged",
        "orphan",
        "unnamed",
        "few",
        *("strangers", "strangers", "strangers"),  # two models, and both together
    ]
    saved = "gpt-9 80, llama/vague 80, all models 160."
    assert f"LM calls saved, one a recorded verdict that was read: {saved}" in done.stdout
