"""Audits and tournaments in batches: the findings of any other run, with few waits."""

import json
from pathlib import Path

import pytest

import judgec
from judgec.errors import UserError
from judgec.lm.batch import client
from tests.service.fake_batches import FakeBatches
from tests.verbs.cli.judging import KEY, save_judge


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(client, "FIRST_LOOK", 0.01)


def home_with(folder: Path) -> Path:
    save_judge(folder)
    rows = [
        {
            "item_id": f"i{n}", "query": f"How far is {n}?", "answer": f"It is {n} km.", "contexts": ["x"],
            "grade": 1 + n % 5,
        }
        for n in range(12)
    ]  # fmt: skip
    (folder / "fresh.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_audit_in_batches_finds_the_same_in_two_waits(tmp_path: Path) -> None:
    with FakeBatches() as server:

        def audited(name: str, *, batch: bool) -> judgec.JudgeAudit:
            (tmp_path / name).mkdir()
            home = home_with(tmp_path / name)
            return judgec.audit(
                "mine", only=["length", "repeat"], labels=home / "fresh.jsonl", home=home, api_base=server.base_url,
                batch=batch, progress=False,
            )  # fmt: skip

        found = audited("usual", batch=False)
        assert server.created == 0
        calls = server.calls
        batched = audited("half", batch=True)
        assert (server.created, server.calls - calls) == (2, calls - 1)  # no call to see whether somebody is there
    assert batched.findings.to_json() == found.findings.to_json()
    assert batched.report["lm_calls"] == calls - 1


def test_evaluate_in_batches_plays_all_games_in_one(tmp_path: Path) -> None:
    home = home_with(tmp_path)
    queries = [{"query_id": f"q{n}", "query": f"How far is {n}?"} for n in range(8)]
    answers = [
        {"query_id": f"q{n}", "agent": agent, "answer": f"{n + more} km"}
        for n in range(8)
        for agent, more in (("north", 0), ("south", 7))
    ]
    with FakeBatches() as server:
        board = judgec.evaluate(
            queries=queries, answers=answers, judge="mine", unproven=True, home=home, out=home / "board",
            api_base=server.base_url, batch=True, progress=False,
        )  # fmt: skip
        assert (server.created, server.single, server.paid) == (1, 0, 16)
    assert len(board.ratings) == 2


def test_judge_in_batches_on_a_cluster_is_refused(tmp_path: Path) -> None:
    home = home_with(tmp_path)
    with pytest.raises(UserError, match="--batch and --engine ray"):
        judgec.judge_file(
            home / "fresh.jsonl", judge="mine", home=home, out=home / "o.jsonl", batch=True, engine="ray",
            progress=False,
        )  # fmt: skip
