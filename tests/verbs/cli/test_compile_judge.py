"""``judgec compile-judge`` as a user runs it: what it prints, writes and tracks."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from judgec.stats.agreement.registry import STATISTICS
from tests.compile.small import write
from tests.service import grading_world
from tests.service.fake_openai import FakeOpenAI
from tests.verbs.cli.process import CANARY, ROOT, Shared, judgec, judgec_here

TEST = ("majority", "evidence_only", "uncompiled", "compiled_prompt", "compiled", "compiled_loo", "ceiling")
KEYS = {
    *("program", "version", "promoted", "reason", "task", "objective", "split", "test", "difference", "prompt_gain"),
    *("lm_calls", "cost_usd", "seconds", "mlflow_run_id"),
}
Json = dict[str, Any]  # a report


def check_estimate(estimate: Json) -> None:
    """The form E."""
    assert {"value", "low", "high"} <= set(estimate) <= {"value", "low", "high", "p", "note"}
    assert estimate["value"] is not None or estimate["note"]
    if estimate["low"] is not None:
        assert estimate["low"] <= estimate["value"] <= estimate["high"]


def check_agreement(agreement: Json) -> None:
    """The form M."""
    assert set(agreement) - {"aspects"} == {
        *STATISTICS, "bland_altman", "reject_rate", "n", "n_clusters", "unscored"
    }  # fmt: skip
    for name in STATISTICS:
        check_estimate(agreement[name])
    assert set(agreement["bland_altman"]) == {"bias", "low", "high"}
    assert set(agreement["reject_rate"]) == {"expert", "judge"}
    for part in agreement.get("aspects", {}).values():
        check_agreement(part)


def test_json_is_one_object_of_the_contract_and_nothing_else_is_said(shared: Shared) -> None:
    assert shared.first["stdout"].count("\n") == 1
    assert shared.first["stderr"] == ""
    report = shared.report
    assert set(report) >= KEYS
    assert (report["program"], report["version"], report["task"], report["objective"]) == ("world", 1, "grade", "tau_b")
    assert tuple(report["test"]) == TEST
    for agreement in report["test"].values():
        check_agreement(agreement)
        assert "aspects" not in agreement
    assert report["test"]["evidence_only"]["tau_b"]["note"] == "evidence was left out (--no-evidence)"
    assert "one annotator" in report["test"]["ceiling"]["qwk"]["note"]
    assert set(report["difference"]) >= {"to", *STATISTICS}
    assert set(report["prompt_gain"]) == set(STATISTICS)
    for name in STATISTICS:
        check_estimate(report["difference"][name])
        check_estimate(report["prompt_gain"][name])
    assert report["cost_usd"] is None  # nobody knows what this model costs
    assert report["lm_calls"] == shared.server["calls"][0] > 100
    assert report["seconds"] > 0
    assert report["prompt_gain"]["tau_b"]["low"] > 0


def test_judge_that_is_better_is_promoted_and_its_split_is_to_quotas(shared: Shared) -> None:
    report, family = shared.report, shared.home / "programs" / "world"
    assert report["promoted"] is True
    assert report["reason"].startswith("better: tau-b +")
    rows = [json.loads(line) for line in shared.labels.read_text().splitlines()]
    saved = json.loads((family / "0001" / "split.json").read_text())
    queries = list(saved["queries"].values())
    for name, share in (("train", 0.5), ("dev", 0.2), ("test", 0.3)):
        assert abs(queries.count(name) - share * len(queries)) < 1
    counts = [saved["queries"][row["query_id"]] for row in rows]
    assert report["split"] == {name: counts.count(name) for name in ("train", "dev", "test")}
    assert report["test"]["compiled"]["n"] == counts.count("test")
    assert json.loads((family / "aliases.json").read_text()) == {"champion": 1, "challenger": 2}
    assert [look["version"] for look in json.loads((family / "family.json").read_text())["looks"]] == ["0001", "0002"]
    stems = ("program", "calibration", "card", "split", "report", "manifest")
    names = {*(f"{stem}.json" for stem in stems), "report.html", "items.jsonl"}
    assert {path.name for path in (family / "0001").iterdir()} == names
    assert not list(family.glob(".*partial*"))


def test_rerun_costs_nothing_is_saved_as_challenger_and_the_gate_exits_one(shared: Shared) -> None:
    again = json.loads(shared.again["stdout"])
    assert shared.again["code"] == 1
    assert shared.server["calls"][1] <= 1  # at most a preflight
    assert (again["version"], again["promoted"], again["difference"]["to"]) == (2, False, "champion")
    assert again["difference"]["tau_b"]["value"] == 0
    assert again["test"] == shared.report["test"]
    assert shared.again["stderr"].startswith("error: world@2: not promoted; not shown to be better: tau-b .00")
    assert (shared.home / "programs" / "world" / "0002" / "card.json").is_file()


def test_key_is_sent_and_written_nowhere(shared: Shared) -> None:
    assert shared.server["key_sent"]
    files = [path for path in shared.folder.rglob("*") if path.is_file()]
    assert {"journal.db", "mlflow.db", "card.json"} <= {path.name for path in files}
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]


def all_numbers(client: Any, run_id: str) -> dict[str, tuple[Any, ...]]:
    """The table of a run's numbers: value, low, high and note by name."""
    table = json.loads(Path(client.download_artifacts(run_id, "metrics.json")).read_text())
    return {row[0]: tuple(row[2:]) for row in table["data"]}


def test_run_read_back_from_mlflow_holds_the_report(shared: Shared) -> None:
    from mlflow import MlflowClient

    report = shared.report
    client = MlflowClient(tracking_uri=f"sqlite:///{shared.home / 'mlruns' / 'mlflow.db'}")
    run = client.get_run(report["mlflow_run_id"])
    compiled = report["test"]["compiled"]
    metrics, table = run.data.metrics, all_numbers(client, report["mlflow_run_id"])
    for name in STATISTICS:
        value, low, high, note = table[f"test.{name}"]
        assert (value, low, high) == tuple(
            None if (number := compiled[name][key]) is None else pytest.approx(number)
            for key in ("value", "low", "high")
        )
        assert note == compiled[name].get("note", "")
        if name in {"tau_b", "accept_agreement", "kappa", "qwk", "exact"} and value is not None:
            assert metrics[f"test.{name}"] == pytest.approx(value)
    assert table["test.auc"][3] == "the labels are not binary"
    assert table["test.uncompiled.tau_b"][0] == pytest.approx(report["test"]["uncompiled"]["tau_b"]["value"])
    assert table["prompt_gain.tau_b"][1] == pytest.approx(report["prompt_gain"]["tau_b"]["low"])
    assert "one grade only" in table["test.majority.tau_b"][3]
    assert len(metrics) <= 15
    assert (metrics["test.n"], metrics["lm_calls"]) == (compiled["n"], report["lm_calls"])
    assert metrics["test.gain"] == pytest.approx(report["difference"]["objective"]["value"])
    assert not [tag for tag in run.data.tags if tag.startswith("undefined")]
    assert (run.data.params["lm"], run.data.params["version"]) == ("openai/fake", "0001")
    contexts = [tag.value for given in run.inputs.dataset_inputs for tag in given.tags]
    assert sorted(contexts) == ["dev", "test", "train"]
    rows = {given.tags[0].value: json.loads(given.dataset.profile)["num_rows"] for given in run.inputs.dataset_inputs}
    assert rows == report["split"]
    judge = {file.path for file in client.list_artifacts(run.info.run_id, "judge")}
    assert judge >= {f"judge/{name}.json" for name in ("program", "calibration", "card", "split", "report")}
    children = client.search_runs([run.info.experiment_id], f"tags.mlflow.parentRunId = '{run.info.run_id}'")
    assert len(children) >= len(report["candidates"])
    champion = client.get_model_version_by_alias("world", "champion")
    assert champion.run_id == run.info.run_id
    assert champion.tags["version"] == "0001"
    assert float(champion.tags["test.tau_b"]) == pytest.approx(compiled["tau_b"]["value"])
    assert client.get_model_version_by_alias("world", "challenger").tags["version"] == "0002"


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        (["nowhere.csv"], "nowhere.csv"),
        pytest.param(["labels.jsonl", "--objective", "accuracy"], "objective 'accuracy'", marks=pytest.mark.full),
        pytest.param(["labels.jsonl", "--name", "a/b"], "--name 'a/b'", marks=pytest.mark.full),
        pytest.param(["labels.jsonl", "--lm", "gpt-4o"], "--lm: 'gpt-4o' names no model", marks=pytest.mark.full),
    ],
)
def test_bad_usage_exits_two_and_writes_nothing(tmp_path: Path, arguments: list[str], seen: str) -> None:
    write(tmp_path / "labels.jsonl", grading_world.rows(40))
    done = judgec(tmp_path, "compile-judge", *arguments, "--json", code=2)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert seen in done.stderr
    assert not (tmp_path / "programs").exists()


@pytest.mark.full
def test_people_see_stages_a_table_the_verdict_and_the_next_command(tmp_path: Path) -> None:
    write(tmp_path / "labels [1].jsonl", grading_world.rows(40, per_query=1))
    done = judgec(tmp_path, "compile-judge", "labels [1].jsonl", "--home", "my home")
    for stage in (
        "labels      labels [1].jsonl",
        "split ",
        "plan        no model",
        "calibrate ",
        "verify ",
        "track ",
    ):
        assert stage in done.stderr
    assert "labels-1@1 on" in done.stdout
    assert "note: no model: " in done.stderr
    card = json.loads(
        (tmp_path / "my home" / "programs" / "labels-1" / "0001" / "card.json").read_text(encoding="utf-8")
    )
    assert (card["cost"]["lm_calls"], card["cost"]["usd"]) == (0, 0.0)
    typed = "judgec judge 'labels [1].jsonl' --judge labels-1@latest --out judged.jsonl --home 'my home'"
    assert f"Next: {typed}\n" in done.stderr
    assert "judgec ui --home 'my home'\n" in done.stderr


RATED_WORDS = ("bad", "poor", "fair", "good", "great")


@pytest.mark.full
def test_one_column_a_rater_in_words_under_other_names_compiles_to_a_judge_of_these_words(tmp_path: Path) -> None:
    sheet = tmp_path / "rated.datasheet.toml"
    sheet.write_text(f'[scale]\nname = "tone"\ngrades = {list(RATED_WORDS)}\naccept_at = "good"\n')
    world = grading_world.rows(60, per_query=2)
    with (tmp_path / "rated.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["q_no", "Question", "Reply", "alice", "bob", "alice.rationale"])
        for number, row in enumerate(world):
            grade = int(str(row["grade"])) - 1
            other = "" if number % 5 == 0 else RATED_WORDS[max(grade - (number % 3 == 0), 0)].upper()
            said = [RATED_WORDS[grade], other, "so I say"]
            writer.writerow([row["query_id"], row["query"], row["answer"], *said])
    renamed = ["--map", "Question=query", "--map", "Reply=answer", "--map", "q_no=query_id"]
    options = [*renamed, "--annotators", "alice,bob", "--json"]
    report = json.loads(judgec(tmp_path, "compile-judge", "rated.csv", *options).stdout)
    assert sum(report["split"][name] for name in ("train", "dev", "test")) == len(world)
    assert report["task"] == "grade"
    assert report["objective"] == "tau_b"
    ceiling = report["test"]["ceiling"]
    split = json.loads((tmp_path / "programs" / "rated" / "0001" / "split.json").read_text())
    assert set(split["folds"]) == {row["query_id"] for row in world}  # so few queries are all tested, in folds
    both = [n for n in range(len(world)) if n % 5]
    assert ceiling["n"] == 2 * len(both)  # two raters against each other, where both graded
    assert 0.5 < ceiling["exact"]["value"] < 1  # bob is one word lower on every third
    assert report["test"]["compiled"]["accept_agreement"]["value"] is not None
    card = json.loads((tmp_path / "programs" / "rated" / "0001" / "card.json").read_text())
    assert card["scale"]["grades"] == list(RATED_WORDS)
    assert report["source"]["annotators"] == ["alice", "bob"]
    program = (tmp_path / "programs" / "rated" / "0001" / "program.json").read_text()
    assert all(word in program for word in RATED_WORDS)


@pytest.mark.full
def test_two_processes_at_once_get_two_versions_and_two_looks(tmp_path: Path) -> None:
    write(tmp_path / "w.jsonl", grading_world.rows(60, per_query=1))
    command = [sys.executable, str(ROOT / "cli.py"), "compile-judge", "w.jsonl", "--json"]
    both = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    reports = [json.loads(process.communicate(timeout=280)[0]) for process in both]
    assert sorted(report["version"] for report in reports) == [1, 2]
    family = tmp_path / "programs" / "w"
    assert sorted(look["version"] for look in json.loads((family / "family.json").read_text())["looks"]) == [
        "0001",
        "0002",
    ]
    assert sorted(json.loads((family / v / "card.json").read_text())["looks"] for v in ("0001", "0002")) == [1, 2]


@pytest.mark.full
def test_missing_key_exits_three_before_anything_is_saved(tmp_path: Path) -> None:
    write(tmp_path / "w.jsonl", grading_world.rows(40))
    done = judgec(tmp_path, "compile-judge", "w.jsonl", "--lm", "openai/gpt-4o-mini", "--json", code=3)
    assert done.stdout == ""
    assert "no API key found. Set OPENAI_API_KEY" in done.stderr
    assert not (tmp_path / "programs").exists()
    with FakeOpenAI("bad_key") as server:
        options = ["--lm", "openai/fake", "--api-base", server.base_url]
        done = judgec(tmp_path, "compile-judge", "w.jsonl", *options, code=3, OPENAI_API_KEY=CANARY)
    assert "refused the key" in done.stderr
    assert CANARY not in done.stdout + done.stderr


@pytest.mark.full
def test_few_items_are_pointed_out_once(tmp_path: Path) -> None:
    file = write(tmp_path / "few.jsonl", grading_world.rows(24, per_query=1))
    report = json.loads(judgec(tmp_path, "compile-judge", file.name, "--json").stdout)
    assert len([note for note in report["notes"] if "under 30" in note]) == 1


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # MLflow's imports warn; they are not ours to mend
def test_log_traces_makes_each_disagreement_a_trace_of_the_run_with_both_grades(tmp_path: Path) -> None:
    import mlflow
    from mlflow import MlflowClient

    write(tmp_path / "labels.jsonl", grading_world.rows(90, per_query=2))
    done = judgec(tmp_path, "compile-judge", "labels.jsonl", "--log-traces", "--json", "--folds", "1")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    uri = f"sqlite:///{tmp_path / 'mlruns' / 'mlflow.db'}"
    client = MlflowClient(tracking_uri=uri)
    run = client.get_run(report["mlflow_run_id"])
    table = json.loads(Path(client.download_artifacts(run.info.run_id, "disagreements.json")).read_text())
    rows = {row[0]: dict(zip(table["columns"], row, strict=True)) for row in table["data"]}
    assert rows
    mlflow.set_tracking_uri(uri)
    traces = client.search_traces(locations=[run.info.experiment_id], run_id=run.info.run_id, max_results=200)
    assert {trace.info.tags["judgec.disagreement"] for trace in traces} == set(rows)
    assert len(traces) == len(rows)
    for trace in traces:
        row = rows[trace.info.tags["judgec.disagreement"]]
        (span,) = trace.data.spans
        assert (span.inputs["query"], span.outputs) == (row["query"], row["answer"])
        said = {one.name: one for one in trace.info.assessments}
        assert said["grade"].expectation.value == row["experts"]
        assert said["judge.grade"].feedback.value == row["judge"]
        assert said["judge.grade"].rationale == row["reason"]
        assert said["judge.grade"].source.source_type == "CODE"


@pytest.mark.full
def test_use_of_the_test_queries_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    write(tmp_path / "t.jsonl", grading_world.rows(60, per_query=2))
    plans = []
    for _ in range(2):
        plans.append(json.loads(judgec_here(tmp_path, "compile-judge", "t.jsonl", "--dry-run", "--json").stdout))
        done = judgec_here(tmp_path, "compile-judge", "t.jsonl")
    assert [plan["test_use"] for plan in plans] == [1, 2]  # a plan is none
    assert any(line.startswith("test use    2 of these test queries") for line in done.stderr.splitlines())
