"""``judgec compile-judge`` as a user runs it: what it prints, writes and tracks."""

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from judgec.stats.agreement.registry import STATISTICS
from tests.compile.small import write
from tests.service import grading_world
from tests.verbs.cli.process import CANARY, Shared, judgec

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
    stems = ("tree", "card", "split", "report", "manifest")
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


def test_run_read_back_from_mlflow_holds_the_report(shared: Shared) -> None:
    from mlflow import MlflowClient

    report = shared.report
    client = MlflowClient(tracking_uri=f"sqlite:///{shared.home / 'mlruns' / 'mlflow.db'}")
    run = client.get_run(report["mlflow_run_id"])
    compiled, metrics = report["test"]["compiled"], run.data.metrics
    rows = json.loads(Path(client.download_artifacts(run.info.run_id, "metrics.json")).read_text())["data"]
    table = {row[0]: row[2:] for row in rows}
    for name in STATISTICS:
        wanted = [compiled[name][key] for key in ("value", "low", "high")]
        assert table[f"test.{name}"] == [*(None if one is None else pytest.approx(one) for one in wanted), mock.ANY]
        assert table[f"test.{name}"][3] == compiled[name].get("note", "")
    assert table["test.uncompiled.tau_b"][0] == pytest.approx(report["test"]["uncompiled"]["tau_b"]["value"])
    assert table["prompt_gain.tau_b"][1] == pytest.approx(report["prompt_gain"]["tau_b"]["low"])
    assert len(metrics) <= 15
    assert (metrics["test.n"], metrics["lm_calls"]) == (compiled["n"], report["lm_calls"])
    assert metrics["test.gain"] == pytest.approx(report["difference"]["objective"]["value"])
    assert (run.data.params["lm"], run.data.params["version"]) == ("openai/fake", "0001")
    sizes = {given.tags[0].value: json.loads(given.dataset.profile)["num_rows"] for given in run.inputs.dataset_inputs}
    assert sizes == report["split"]
    judge = {file.path for file in client.list_artifacts(run.info.run_id, "judge")}
    assert judge >= {f"judge/{name}.json" for name in ("tree", "card", "split", "report")}
    children = client.search_runs([run.info.experiment_id], f"tags.mlflow.parentRunId = '{run.info.run_id}'")
    assert len(children) >= len(report["candidates"])
    champion = client.get_model_version_by_alias("world", "champion")
    assert (champion.run_id, champion.tags["version"]) == (run.info.run_id, "0001")
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
