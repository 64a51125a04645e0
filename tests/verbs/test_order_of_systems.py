"""Where an agent is named, every verb says whether the judge ranks agents as people do, and where it does not."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, spearmanr

import judgec
from judgec.raters import programs
from judgec.verbs.agreement import agreement_report
from judgec.verbs.audit import audit_report
from judgec.verbs.options.agreement import AgreementOptions
from judgec.verbs.options.audit import AuditOptions

Json = dict[str, Any]  # Any: JSON
HANNA = Path(__file__).parents[2] / "trainsets" / "hanna"
SYSTEMS, QUERIES = 6, 90


def world() -> tuple[pd.DataFrame, pd.DataFrame]:
    """``items`` follows each grade closely, moved half a grade a rank; ``systems`` is noisy, mild and fair."""
    rng = np.random.default_rng(3)
    query, agent = np.repeat(np.arange(QUERIES), SYSTEMS), np.tile(np.arange(SYSTEMS), QUERIES)
    rank = agent - (SYSTEMS - 1) / 2
    grade = np.clip(np.round(3 + 0.3 * rank + 1.3 * rng.normal(size=len(agent))), 1, 5).astype(int)
    labels = pd.DataFrame(
        {
            "item_id": [f"q{q}-s{a}" for q, a in zip(query, agent, strict=True)],
            "query_id": [f"q{q}" for q in query],
            "query": [f"question {q}" for q in query],
            "answer": [f"answer {a} to {q}" for q, a in zip(query, agent, strict=True)],
            "agent": [f"s{a}" for a in agent],
            "grade": grade,
        }
    )
    said = {
        "items": grade + -0.5 * rank + 0.2 * rng.normal(size=len(agent)),
        "systems": grade + 1.0 + 1.5 * rng.normal(size=len(agent)),
    }
    verdicts = [
        pd.DataFrame({"item_id": labels["item_id"], "judge": name, "grade": np.clip(np.round(score), 1, 5).astype(int)})
        for name, score in said.items()
    ]
    return labels, pd.concat(verdicts)


@pytest.fixture(scope="module")
def labelled() -> tuple[pd.DataFrame, pd.DataFrame]:
    return world()


def test_agreement_of_recorded_verdicts_has_the_order_of_each_judge(
    labelled: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    labels, verdicts = labelled
    found = judgec.agreement(verdicts, labels=labels, home=tmp_path)
    by: Json = json.loads(json.dumps(found.report))["judges"]
    assert by["items"]["systems"]["tau_b"]["value"] == by["items"]["system_tau"]["value"] < -0.5
    assert by["systems"]["systems"]["tau_b"]["value"] > 0.7
    assert by["items"]["systems"]["queries"] == 90
    assert by["items"]["systems"]["share_same"] < by["systems"]["systems"]["share_same"]
    assert by["items"]["systems"]["people_on_halves"] > 0.5
    worst = by["items"]["systems"]["differing"][0]
    assert {worst["a"], worst["b"]} == {"s0", "s5"}
    assert worst["judge"]["low"] > 0 > worst["people"]["high"]
    assert len(by["items"]["systems"]["differing"]) > 5 > len(by["systems"]["systems"]["differing"])
    assert sum("order of 6 systems" in note for note in found.notes) == 2
    shown = agreement_report(found, AgreementOptions(file=verdicts, labels=labels))
    heads = [table.heads for table in shown.full or ()]
    assert ("one less the other", "judge [95 %]", "people [95 %]", "adjusted p") in heads
    assert [row for table in shown.further for row in table.rows if row[0] == "s0 - s5"]


def test_a_compile_says_that_the_better_judge_of_items_ranks_systems_wrongly(
    labelled: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    labels, verdicts = labelled
    verdicts.to_parquet(tmp_path / "verdicts.parquet")
    made = judgec.compile_judge(
        labels, lm=f"recorded:{tmp_path / 'verdicts.parquet'}", evidence=False, panel="best", name="ranked",
        home=tmp_path, folds=1, progress=False,
    )  # fmt: skip
    report: Json = dict(made.saved.report)
    assert report["prompt"] == "items"
    assert report["systems"]["tau_b"]["value"] == report["test"]["compiled"]["system_tau"]["value"] < 0
    assert "system_tau" in report["difference"]
    page = made.report_path.read_text(encoding="utf-8")
    assert "Pairs of systems" in page
    assert report["systems"]["differing"][0]["a"] in page


def test_columns_beside_each_other_say_the_same_as_recorded_verdicts(
    labelled: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    labels, verdicts = labelled
    wide = labels.merge(verdicts.pivot_table(index="item_id", columns="judge", values="grade"), on="item_id")
    beside = judgec.agreement(wide, judges=("items", "systems"), home=tmp_path).systems
    recorded = judgec.agreement(verdicts, labels=labels, home=tmp_path).systems
    assert {name: one.to_json() for name, one in beside.items()} == {
        name: one.to_json() for name, one in recorded.items()
    }


def test_orders_of_hannas_writers_are_those_of_scipy_on_the_raw_files(tmp_path: Path) -> None:
    labels = pd.read_csv(HANNA / "labels.csv")[["item_id", "query_id", "agent", "query", "answer", "grade.relevance"]]
    said = pd.read_parquet(HANNA / "verdicts.parquet")
    said = said[said["judge"].isin(["ChatGPT/prompt-2", "ChatGPT/prompt-3"]) & (said["aspect"] == "relevance")]
    found = judgec.agreement(said, labels=labels, best=5, home=tmp_path).systems
    for judge, own in said.groupby("judge"):
        both = labels.merge(own[["item_id", "grade"]], on="item_id")
        whole = both.dropna().groupby("query_id")["agent"].transform("nunique").eq(both["agent"].nunique())
        per_query = both.dropna()[whole].groupby("agent")[["grade.relevance", "grade"]].mean()
        tau, rho = found[str(judge)].tau_b.value, found[str(judge)].spearman.value
        assert tau == pytest.approx(kendalltau(per_query["grade.relevance"], per_query["grade"]).statistic, abs=1e-12)
        assert rho == pytest.approx(spearmanr(per_query["grade.relevance"], per_query["grade"]).statistic, abs=1e-12)
    assert 0.1 < (found["ChatGPT/prompt-2"].tau_b.value or 0) < 0.2
    assert found["ChatGPT/prompt-2"].people == pytest.approx(0.69, abs=0.02)


def test_the_column_agent_is_mapped(labelled: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path) -> None:
    labels, verdicts = labelled
    wide = labels.merge(verdicts.pivot_table(index="item_id", columns="judge", values="grade"), on="item_id")
    by = [
        judgec.agreement(
            wide.rename(columns={"agent": name}),
            judges="items",
            columns={} if name == "agent" else {name: "agent"},
            home=tmp_path,
        ).systems
        for name in ("agent", "Model Name")
    ]
    assert by[0]["items"].systems == tuple(f"s{k}" for k in range(6))
    assert by[1] == by[0]


def test_many_recorded_judges_are_one_line(labelled: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path) -> None:
    labels, verdicts = labelled
    more = [verdicts.assign(judge=verdicts["judge"] + mark) for mark in ("", "-2")]
    found = judgec.agreement(pd.concat(more), labels=labels, home=tmp_path)
    said = [note for note in found.notes if "6 systems" in note]
    assert len(said) == 1
    assert "by 4 judges" in said[0]
    assert "-.73 (items)" in said[0]


def test_audit_and_evaluate_say_how_the_judge_ranked_agents(
    labelled: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    labels = labelled[0].assign(answer=lambda rows: [f"{'Yes. ' * g}" for g in rows["grade"]])
    labels = labels[labels["query_id"].isin([f"q{n}" for n in range(40)])]
    made = judgec.compile_judge(labels, name="ranks", home=tmp_path, progress=False, folds=1)
    audit = judgec.audit("ranks@1", labels=labels, only=["groups"], home=tmp_path)
    ranked, tested = (json.loads(json.dumps(one["systems"])) for one in (audit.report, made.saved.report))
    assert ranked["systems"] == [f"s{k}" for k in range(6)]
    assert ranked["tau_b"]["value"] == tested["tau_b"]["value"]
    assert any("order of 6 systems" in line for line in audit_report(audit, AuditOptions(judge="ranks@1")).lines)
    assert "order of 6 systems" in made.report_path.read_text(encoding="utf-8")
    judgec.audit("ranks@1", labels=labels, only=["length"], home=tmp_path)
    kept = programs.load(tmp_path, "ranks@1").card.audit
    assert kept is not None
    assert kept.systems == ranked

    accepts = labels.assign(accept=labels["grade"] >= 4).drop(columns="grade")
    said = judgec.audit("ranks@1", labels=accepts, only=["groups"], home=tmp_path)
    by_accept: Json = json.loads(json.dumps(said.report))["systems"]
    assert by_accept["queries"] == ranked["queries"]
    assert by_accept["tau_b"]["value"] > 0.5
    assert all(abs(one["people"]["value"]) <= 1 and abs(one["judge"]["value"]) <= 1 for one in by_accept["differing"])

    board = judgec.evaluate(
        queries=labels[["query_id", "query"]].drop_duplicates(),
        answers=labels[["query_id", "agent", "answer"]],
        judge="ranks@1", unproven=True, home=tmp_path, out=tmp_path / "league",
    )  # fmt: skip
    for told in (str(board.report["notes"]), (tmp_path / "league" / "report.html").read_text(encoding="utf-8")):
        assert "order of 6 systems" in told
