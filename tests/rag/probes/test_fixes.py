"""Recommended changes, tried: what is asked again of whom, and what is counted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import judgec
from judgec.lm.spec import LMSpec
from judgec.rag.agents.rag import AgentSettings
from judgec.rag.probes.fixes import MORE, Rewriting, TriedFix, singles, try_fixes
from judgec.rag.probes.systems import Agent, ProbedSystem
from judgec.records.scenario.outcome import Outcome, Probed, ReplyVerdict, SystemReply, Where
from judgec.records.scenario.schema import Question
from judgec.report.kit import whole
from tests.stats.known import known
from tests.verbs.cli.process import ROOT

CATALOGUE = ROOT / "trainsets" / "sensors" / "catalogue"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I have 2 questions. 1) How heavy is it? 2) How old is it?", ("How heavy is it?", "How old is it?")),
        ("How heavy is it? And how old?", ("How heavy is it?", "And how old?")),
        ("How heavy is the M12?", ()),
        ("What is right? How?\nA) this\nB) that", ()),
        ("Tell me about 1) the pump", ()),
    ],
)
def test_singles_are_the_questions_of_a_message_that_asks_several(text: str, found: tuple[str, ...]) -> None:
    assert singles(text) == found


@dataclass
class Says:
    """Answers with the question; knows nothing of what is in ``fails``."""

    name: str
    fails: tuple[str, ...] = ()
    identity: str = "1"

    def replies(self, questions: Sequence[Question], keep: Callable[[SystemReply], None]) -> list[SystemReply]:
        return [
            SystemReply(
                query_id=one.query_id,
                system=self.name,
                answer=None if one.query in self.fails else f"{self.name}: {one.query}",
                error="down" if one.query in self.fails else None,
                contexts=("shared", one.query),
            )
            for one in questions
        ]


def test_rewriting_asks_each_question_by_itself_and_a_single_one_of_the_fusion() -> None:
    questions = [
        Question(query_id="a", query="How heavy? How old?"),
        Question(query_id="b", query="How far?"),
        Question(query_id="c", query="Who? Where?"),
    ]
    kept: list[SystemReply] = []
    rewriting = Rewriting(Says("rag", fails=("Where?",)), Says("fusion"))  # type: ignore[arg-type]  # no index needed
    found = rewriting.replies(questions, kept.append)
    assert [reply.query_id for reply in found] == ["a", "b", "c"]
    assert kept == found
    assert found[0].answer == "1) rag: How heavy?\n2) rag: How old?"
    assert found[0].contexts == ("shared", "How heavy?", "How old?")
    assert found[1].answer == "fusion: How far?"
    assert (found[2].answer, found[2].error) == (None, "down")


def case(number: int, outcome: Outcome, component: Where = "", scenario: str = "S1") -> Probed:
    name = f"q{number}"
    return Probed(
        question=Question(query_id=name, query=f"How far is {number}?", scenario=scenario, doc_ids=(f"d{number}",)),
        reply=SystemReply(query_id=name, system="rag-bm25", answer="x"),
        verdict=ReplyVerdict(
            query_id=name, system="rag-bm25", data_set="d", scenario=scenario, source=f"d{number}", outcome=outcome,
            component=component,
        ),
    )  # fmt: skip


def agent(model: str, name: str = "rag-bm25") -> Agent:
    settings = AgentSettings(k=4)
    return Agent(name, LMSpec.parse(model), index=None, settings=settings, ask=None)  # type: ignore[arg-type]  # not asked


class Again:
    """Mends question 1 by more passages, 1 and 2 by hybrid search, 3 by a strict prompt; hybrid search breaks 9."""

    def __init__(self) -> None:
        self.asked: list[tuple[ProbedSystem, list[str]]] = []

    def __call__(self, system: ProbedSystem, questions: Sequence[Question]) -> list[Probed]:
        self.asked.append((system, [one.query_id for one in questions]))
        good = {"q8"} if "hybrid" in system.name else {"q8", "q9"}
        if isinstance(system, Agent):
            good |= {"q1"} if system.settings.k == 4 * MORE else set()
            good |= {"q1", "q2"} if system.name == "rag-hybrid" else set()
            good |= {"q3"} if "strict" in system.settings.persona else set()
        return [
            case(int(one.query_id[1:]), "pass" if one.query_id in good else "fail", scenario=one.scenario)
            for one in questions
        ]


PROBED = (
    case(1, "fail", "retrieval"), case(2, "fail", "retrieval", "S4"), case(3, "fail", "generator"),
    case(4, "fail", "not tested"), case(5, "error"), case(8, "pass"), case(9, "pass"),
)  # fmt: skip


def counts(fix: TriedFix) -> tuple[str, int, float | None, float | None]:
    return fix.change, fix.tried, fix.mended.value, None if fix.broken is None else fix.broken.value


def test_each_change_is_tried_on_the_failures_that_it_is_recommended_for() -> None:
    again = Again()
    found = try_fixes(agent("openai/any"), PROBED, again)
    assert [counts(fix) for fix in found] == [
        ("bigger k", 2, 0.5, None),
        ("hybrid retrieval", 2, 1.0, 0.5),
        ("query rewriting", 2, 0.0, None),
        ("stricter prompt", 1, 1.0, None),
    ]
    assert found[1].by_scenario == {"S1": (1, 1), "S4": (1, 1)}
    assert (found[0].mended.low, found[0].mended.high) == pytest.approx((0.0126, 0.9874), abs=1e-4)  # 1 of 2, exact
    assert [asked for _, asked in again.asked] == [["q1", "q2"], ["q1", "q2"], ["q1", "q2"], ["q3"], ["q8", "q9"]]
    assert again.asked[-1][0] is again.asked[1][0]  # what had passed is asked of the change that mends most


def test_what_cannot_be_changed_is_said_and_nothing_is_asked_of_it() -> None:
    again = Again()
    found = {fix.change: fix for fix in try_fixes(agent("embedded", "rag-hybrid"), PROBED, again)}
    assert found["hybrid retrieval"].setting.startswith("not tried: ")
    assert found["stricter prompt"].setting.startswith("not tried: without a model")
    assert found["stricter prompt"].mended.value is None
    assert not try_fixes(agent("embedded"), PROBED[-2:], again)


@pytest.mark.full
def test_probe_that_tries_fixes_counts_what_a_probe_of_the_changed_agent_counts(tmp_path: Path) -> None:
    home = tmp_path
    index = judgec.index(CATALOGUE, out=home / "index", home=home)
    found = judgec.probe(
        scenarios="S1,S4", n=8, k=1, try_fix=True, out=home / "p", index=index, home=home, system="rag-bm25"
    )
    tried = {fix.change: fix for fix in found.summary.tried}
    lost = [one for one in found.probed if one.verdict.component == "retrieval"]
    assert len(lost) >= 6
    asked = [one.question.model_dump(mode="json") for one in lost]
    anew = judgec.probe(questions=asked, k=MORE, out=home / "q", index=index, home=home, system="rag-bm25")
    assert tried["bigger k"].tried == len(lost)
    more = sum(one.verdict.outcome == "pass" for one in anew.probed) / len(lost)
    assert tried["bigger k"].mended.value == pytest.approx(more)
    rewritten = tried["query rewriting"]
    assert (rewritten.mended.value or 0) > more
    assert known(rewritten.broken).n == sum(one.verdict.outcome == "pass" for one in found.probed)
    assert found.report["tried_fixes"] == [fix.to_json() for fix in found.summary.tried]
    assert whole(found.verdict) in (home / "p" / "report.html").read_text(encoding="utf-8")


def test_probe_of_a_system_of_somebody_elses_says_that_nothing_was_changed(tmp_path: Path) -> None:
    found = judgec.probe(
        questions=[{"query": "How old is it?", "reference": "12 years"}], system="python:builtins:str", try_fix=True,
        out=tmp_path / "p", home=tmp_path,
    )  # fmt: skip
    assert any(note.startswith("--try-fix: none") for note in found.summary.notes)
    assert found.report["tried_fixes"] == []
