"""``--objective system_tau``: the candidate that ranks systems right is chosen over one that orders items better."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import judgec
from judgec.errors import UserError

SYSTEMS, QUERIES = 6, 90


def world(*, bias: float = -0.5, systems: int = SYSTEMS) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``items`` follows each grade closely and moves ``bias`` a rank; ``systems`` is noisy, mild and fair."""
    rng = np.random.default_rng(3)
    query, agent = np.repeat(np.arange(QUERIES), systems), np.tile(np.arange(systems), QUERIES)
    rank = agent - (systems - 1) / 2
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
        "items": grade + bias * rank + 0.2 * rng.normal(size=len(agent)),
        "systems": grade + 1.0 + 1.5 * rng.normal(size=len(agent)),
    }
    verdicts = [
        pd.DataFrame({"item_id": labels["item_id"], "judge": name, "grade": np.clip(np.round(score), 1, 5).astype(int)})
        for name, score in said.items()
    ]
    return labels, pd.concat(verdicts)


def compiled(home: Path, objective: str, labels: pd.DataFrame, verdicts: pd.DataFrame) -> judgec.Compilation:
    verdicts.to_parquet(home / "verdicts.parquet")
    return judgec.compile_judge(
        labels, lm=f"recorded:{home / 'verdicts.parquet'}", objective=objective, evidence=False,
        panel="best", name=objective.replace("+", "-").replace("*", "-"), home=home, folds=1, progress=False,
    )  # fmt: skip


def _report(found: judgec.Compilation) -> dict[str, Any]:  # Any: JSON
    return dict(found.saved.report)


@pytest.mark.full
def test_the_candidate_that_ranks_systems_right_is_chosen_over_one_that_orders_items_better(tmp_path: Path) -> None:
    labels, verdicts = world()
    by_items, by_systems = (compiled(tmp_path, name, labels, verdicts) for name in ("tau_b", "system_tau"))
    chosen = [str(one.saved.report["prompt"]) for one in (by_items, by_systems)]
    assert chosen == ["items", "systems"]
    one, other = (_report(found) for found in (by_items, by_systems))
    assert one["test"]["compiled"]["tau_b"]["value"] > other["test"]["compiled"]["tau_b"]["value"] + 0.1
    assert one["systems"]["tau_b"]["value"] < 0
    assert other["systems"]["tau_b"]["value"] > 0.5
    assert other["systems"]["tau_b"] == other["test"]["compiled"]["system_tau"]
    raw, shipped = other["test"]["best_alone"], other["test"]["compiled"]  # no order of systems tells rules apart
    assert shipped["qwk"]["value"] > raw["qwk"]["value"] + 0.03
    assert "system tau" in by_systems.saved.card.reason
    assert {pair["a"] for pair in one["systems"]["differing"]} & {"s0", "s1", "s5"}
    page = by_items.report_path.read_text(encoding="utf-8")
    assert "Pairs of systems" in page
    assert one["systems"]["differing"][0]["a"] in page


def test_a_sum_is_read_and_reported_by_both_terms(tmp_path: Path) -> None:
    labels, verdicts = world(bias=0.0)
    found = compiled(tmp_path, "tau_b+0.5*system_tau", labels, verdicts)
    assert found.saved.card.objective == "tau_b+0.5*system_tau"
    assert {"tau_b", "system_tau"} <= set(_report(found)["prompt_gain"])


@pytest.mark.parametrize(
    ("systems", "drop", "said"),
    [
        (5, False, "5 systems answered, by the column 'agent'; an order of systems needs 6"),
        (6, True, " train queries that all 6 systems answered (s0 "),
    ],
)
def test_too_few_systems_or_common_queries_are_refused_with_the_way_out(
    tmp_path: Path, systems: int, drop: bool, said: str
) -> None:
    labels, verdicts = world(systems=systems)
    if drop:
        labels = labels[(labels["agent"] != "s0") | (labels["query_id"] == "q1")]
        verdicts = verdicts[verdicts["item_id"].isin(labels["item_id"])]
    with pytest.raises(UserError, match="take 'tau_b'") as seen:
        compiled(tmp_path, "system_tau", labels, verdicts)
    assert said in str(seen.value)
