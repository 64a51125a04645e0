"""Questions asked several times: whose verdict changes, counted by hand and of a system that changes its mind."""

import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import judgec
from judgec.rag.probes.flakiness import flakiness
from judgec.records.scenario.outcome import Outcome, Probed
from judgec.stats.intervals.proportion import clopper_pearson
from judgec.verbs.probe import probe
from tests.rag.probes.report.test_summary import one
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Text, answer
from tests.stats.known import known
from tests.verbs.cli.process import ROOT

CATALOGUE = str(ROOT / "trainsets" / "sensors" / "catalogue")
SYSTEM = """
import itertools
TURN = itertools.count()

def moody(query):
    with open("asked.txt", "a") as log:
        log.write(query + "\\n")
    return "The documents do not answer this question." if next(TURN) < 4 else "It is 4711."

def steady(query):
    return "The documents do not answer this question."
"""


def take(outcomes: Sequence[Outcome], system: str = "x", scenario: str = "S1") -> list[Probed]:
    return [one(number, outcome, system=system, scenario=scenario) for number, outcome in enumerate(outcomes)]


def test_shares_by_hand() -> None:
    first = take(["pass", "fail", "pass", "error", "unscored", "pass"])
    second = take(["pass", "fail", "fail", "pass", "pass", "pass"])
    third = take(["pass", "fail", "pass", "error", "pass", "pass"])
    steady = take(["fail", "fail"], "y", "S4")
    found = flakiness([[*first, *steady], [*second, *steady], [*third, *steady]])
    overall, *others = found.shares
    assert (found.repeat, overall.verdicts_changed, overall.n, overall.unscored) == (3, 2, 7, 1)
    assert overall.changed.value == pytest.approx(2 / 7)
    by = {(share.by, share.name): share for share in others}
    assert (by["system", "x"].verdicts_changed, by["system", "x"].n) == (2, 5)
    assert by["system", "y"].changed.value == 0.0
    assert by["scenario", "S4"].n == 2
    low, high = clopper_pearson(2, 5)  # each question has a document of its own
    assert (by["system", "x"].changed.low, by["system", "x"].changed.high) == pytest.approx((low, high), abs=1e-9)
    assert [asked.outcomes for asked in found.changing] == [("pass", "fail", "pass"), ("error", "pass", "error")]
    assert "2 of 7" in found.verdict


def test_nothing_that_was_judged_each_time_is_no_share() -> None:
    found = flakiness([take(["unscored"]), take(["pass"])])
    assert found.shares[0].changed.value is None
    assert found.verdict.startswith("Asked 2 times")
    assert json.loads(json.dumps(found.to_json()))["overall"]["unscored"] == 1


def test_a_system_that_changes_its_mind_is_found_at_one_price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("moods.py").write_text(SYSTEM)
    wanted: dict[str, Any] = {
        "scenarios": "S6", "index": CATALOGUE, "n": 4, "repeat": 3, "home": tmp_path, "out": tmp_path / "p",
        "system": ["python:moods:moody", "python:moods:steady"],
    }  # fmt: skip
    found = probe(**wanted)
    by = {(share.by, share.name): share for share in known(found.flakiness).shares}
    assert (by["system", "moody"].verdicts_changed, by["system", "steady"].verdicts_changed) == (4, 0)
    assert by["system", "moody"].answers_changed == 4
    asked = Path("asked.txt").read_text().splitlines()
    assert len(asked) == 12
    assert {asked.count(query) for query in asked} == {3}
    report = json.loads((tmp_path / "p" / "report.json").read_text())
    assert report["flakiness"]["system"]["moody"]["changed"]["value"] == 1.0
    assert len(report["flakiness"]["changing"]) == 4
    rows = [json.loads(line) for line in (tmp_path / "p" / "repeats.jsonl").read_text().splitlines()]
    assert [row["take"] for row in rows] == [2] * 8 + [3] * 8
    assert "Asked 3 times" in (tmp_path / "p" / "report.html").read_text()
    assert "refused" not in report["flakiness"]["changing"][0]["outcomes"]  # outcomes are verdicts: pass, fail, error
    cells = {cell["system"]: cell["failures"] for cell in report["results"]}
    assert cells == {"moody": 0, "steady": 0}  # the first time counts
    again = probe(**wanted)
    assert again.flakiness == found.flakiness
    assert len(Path("asked.txt").read_text().splitlines()) == 12
    probe(**{**wanted, "repeat": 4})
    assert len(Path("asked.txt").read_text().splitlines()) == 16  # the fourth time only


@pytest.mark.parametrize("lm", ["openai/one", "openai/other", "embedded"])
def test_an_agent_is_asked_anew_at_its_endpoint_and_for_nothing_when_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lm: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    turn = count(1)

    def model(call: Call) -> Text:
        return answer(call, {"answer": f"It is {next(turn)}."})

    judgec.index(CATALOGUE, out=tmp_path / "index")
    (tmp_path / "q.csv").write_text("query,reference\nHow much is it?,1\nHow old is it?,12 years\n")
    with FakeOpenAI(model) as server:
        wanted: dict[str, Any] = {
            "questions": tmp_path / "q.csv", "index": tmp_path / "index", "system": "rag-bm25",
            "agents_lm": "openai/one", "api_base": server.base_url, "repeat": 3, "lm": lm,
            "home": tmp_path, "out": tmp_path / "p",
        }  # fmt: skip
        found = probe(**wanted)
        answers = server.calls
        assert found.flakiness is not None
        assert found.flakiness.shares[0].n + found.flakiness.shares[0].unscored == 2
        rows = [json.loads(line) for line in (tmp_path / "p" / "repeats.jsonl").read_text().splitlines()]
        said = {row["reply"]["answer"] for row in rows} | {one.reply.answer for one in found.probed}
        assert len(said) == 6  # two questions, three times: no reply was taken from an earlier time
        probe(**{**wanted, "out": tmp_path / "other"})
        assert server.calls == answers  # every reply was in the journal
