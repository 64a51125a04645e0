"""Tries the recommended changes on judgec's own agents: what each mends of the failed cases, and what it breaks."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judgec.rag.agents.rag import AgentSettings
from judgec.rag.agents.registry import kind_of
from judgec.rag.probes.systems import Agent, ProbedSystem, asked
from judgec.records.estimate import Estimate
from judgec.records.scenario.outcome import Probed, SystemReply
from judgec.records.scenario.schema import Component, Question
from judgec.stats.intervals.proportion import share

MORE = 3  # times as many passages
STRICT = (
    "You are strict: you say nothing that the passages do not state, you answer every part of the question, you check "
    "what the question takes for granted, and where the passages do not answer you refuse and add nothing"
)
_NUMBERED = re.compile(r"(?:^|\s)\d\) ")
_QUESTION = re.compile(r"[^?]*\?")


@dataclass(frozen=True)
class Rewriting:
    """An agent that asks itself each question of a message, or, of a single one, searches with further queries.

    Args:
        single: Answers one question of several.
        fusion: Answers a message that asks one thing: RAG-Fusion, which writes further queries.
    """

    single: Agent
    fusion: Agent

    @property
    def name(self) -> str:
        """Of the agent that it was made of."""
        return self.single.name

    @property
    def identity(self) -> str:
        """Text that tells it from that one."""
        return f"rewriting {self.single.identity} {self.fusion.identity}"

    def replies(self, questions: Sequence[Question], keep: Callable[[SystemReply], None]) -> list[SystemReply]:
        """Its replies in order."""
        split = {question.query_id: singles(asked(question)) for question in questions}
        alone = [question for question in questions if not split[question.query_id]]
        parts = [
            question.model_copy(update={"query_id": f"{question.query_id}/{at}", "query": text, "history": ()})
            for question in questions
            for at, text in enumerate(split[question.query_id])
        ]
        known = {reply.query_id: reply for reply in self.fusion.replies(alone, lambda _: None)}
        said = {reply.query_id: reply for reply in self.single.replies(parts, lambda _: None)}
        for question in questions:
            if own := split[question.query_id]:
                found = [said[f"{question.query_id}/{at}"] for at in range(len(own))]
                known[question.query_id] = _joined(question.query_id, self.name, found)
            keep(known[question.query_id])
        return [known[question.query_id] for question in questions]


def singles(text: str) -> tuple[str, ...]:
    """The questions of a message that asks several; empty where it asks one, or lists options."""
    if re.search(r"^[A-H]\) ", text, re.MULTILINE):
        return ()
    listed = [part.strip() for part in _NUMBERED.split(text)[1:]]
    found = listed or [part.strip() for part in _QUESTION.findall(text)]
    return tuple(found) if len(found) > 1 else ()


def _joined(query_id: str, system: str, found: Sequence[SystemReply]) -> SystemReply:
    """The answers of the parts as one; an error of one part is the error of all."""
    error = next((reply.error for reply in found if reply.answer is None), None)
    answers = [f"{number}) {reply.answer}" for number, reply in enumerate(found, 1)]
    return SystemReply(
        query_id=query_id,
        system=system,
        answer=None if error else "\n".join(answers),
        contexts=tuple(dict.fromkeys(text for reply in found for text in reply.contexts or ())),
        error=error,
        seconds=sum(reply.seconds for reply in found),
    )


@dataclass(frozen=True)
class Change:
    """Something to change in an agent.

    Args:
        name: For reports.
        component: Failures of which part it is recommended for.
        make: The changed system and what was set, or why there is none.
    """

    name: str
    component: Component
    make: Callable[[Agent], tuple[ProbedSystem, str] | str]


@dataclass(frozen=True)
class TriedFix:
    """A change, tried on the failed cases of one system.

    Args:
        system: Its name.
        data_set: The corpus.
        component: Where the cases were lost.
        change: What was changed.
        setting: What it was set to; or why it was not tried.
        tried: How many failed cases were asked again.
        mended: The share of these that pass now, with an interval over source documents.
        unsure: How many got no answer or no verdict this time; they count as not mended.
        by_scenario: Of each scenario, how many were mended and how many were tried.
        broken: Of the cases that had passed, the share that fails with the change; of the change that mends most alone.
    """

    system: str
    data_set: str
    component: Component
    change: str
    setting: str
    tried: int
    mended: Estimate
    unsure: int = 0
    by_scenario: dict[str, tuple[int, int]] = field(default_factory=dict)
    broken: Estimate | None = None

    def to_json(self) -> dict[str, object]:
        """For ``report.json``."""
        return {
            "system": self.system,
            "data_set": self.data_set,
            "component": self.component,
            "change": self.change,
            "setting": self.setting,
            "tried": self.tried,
            "mended": self.mended.to_json(),
            "unsure": self.unsure,
            "by_scenario": {name: {"mended": good, "tried": of} for name, (good, of) in self.by_scenario.items()},
            "broken": None if self.broken is None else self.broken.to_json(),
        }


Again = Callable[[ProbedSystem, Sequence[Question]], list[Probed]]


def try_fixes(subject: Agent, probed: Sequence[Probed], again: Again) -> list[TriedFix]:
    """Ask the failed cases of one of judgec's agents again, with each change that is recommended for them.

    A mended case shows what a change can do to cases that were chosen because they failed. So the change that mends
    most, and any, is also asked what had passed.

    Args:
        subject: The agent.
        probed: All its cases on one data set, with verdicts.
        again: Puts questions to a system and judges its replies.
    """
    found: list[tuple[ProbedSystem | None, TriedFix]] = []
    for change in CHANGES:
        cases = [one for one in probed if one.verdict.outcome == "fail" and one.verdict.component == change.component]
        if not cases:
            continue
        blank = TriedFix(
            subject.name, cases[0].verdict.data_set, change.component, change.name, "", 0, Estimate(value=None)
        )
        made = change.make(subject)
        if isinstance(made, str):
            found.append((None, replace(blank, setting=f"not tried: {made}")))
            continue
        changed, setting = made
        found.append(
            (changed, _tried(replace(blank, setting=setting), again(changed, [one.question for one in cases])))
        )
    mending = [at for at, (_, fix) in enumerate(found) if fix.mended.value]
    if mending:
        best = max(mending, key=lambda at: found[at][1].mended.value or 0.0)
        system, fix = found[best]
        assert system is not None  # what mends was tried
        passed = [one.question for one in probed if one.verdict.outcome == "pass"]
        found[best] = system, replace(fix, broken=_share(again(system, passed), "fail"))
    return [fix for _, fix in found]


def _tried(blank: TriedFix, anew: Sequence[Probed]) -> TriedFix:
    tried = Counter(one.verdict.scenario for one in anew)
    mended = Counter(one.verdict.scenario for one in anew if one.verdict.outcome == "pass")
    return replace(
        blank,
        tried=len(anew),
        mended=_share(anew, "pass"),
        unsure=sum(one.verdict.outcome in {"error", "unscored"} for one in anew),
        by_scenario={name: (mended[name], tried[name]) for name in tried},
    )


def _share(cases: Sequence[Probed], outcome: str) -> Estimate:
    codes = {source: code for code, source in enumerate(dict.fromkeys(one.verdict.source for one in cases))}
    return share(
        np.array([one.verdict.outcome == outcome for one in cases], dtype=np.int64),
        np.array([codes[one.verdict.source] for one in cases], dtype=np.int64),
    )


def _more(agent: Agent) -> tuple[ProbedSystem, str]:
    k = MORE * agent.settings.k
    return _with(agent, agent.name, replace(agent.settings, k=k)), f"k = {k} in the place of {agent.settings.k}"


def _hybrid(agent: Agent) -> tuple[ProbedSystem, str] | str:
    kind, retriever, reranker = _parts(agent.name)
    if retriever == "hybrid":
        return "it is hybrid"
    name = f"{kind}-hybrid{reranker}"
    return _with(agent, name, agent.settings), f"{name} in the place of {agent.name}"


def _rewritten(agent: Agent) -> tuple[ProbedSystem, str]:
    kind, retriever, reranker = _parts(agent.name)
    name = f"rag-fusion-{retriever}{reranker}" if kind == "rag" else agent.name
    fusion = _with(agent, name, agent.settings)
    return Rewriting(agent, fusion), f"each question of a message by itself; a single one by {name}"


def _stricter(agent: Agent) -> tuple[ProbedSystem, str] | str:
    if agent.model.no_model:
        return "without a model there is no prompt; name one with --agents-lm"
    persona = ". ".join(filter(None, (agent.settings.persona, STRICT)))
    return _with(agent, agent.name, replace(agent.settings, persona=persona)), f'told "{STRICT}"'


CHANGES: tuple[Change, ...] = (
    Change("bigger k", "retrieval", _more),
    Change("hybrid retrieval", "retrieval", _hybrid),
    Change("query rewriting", "retrieval", _rewritten),
    Change("stricter prompt", "generator", _stricter),
)


def _with(agent: Agent, name: str, settings: AgentSettings) -> Agent:
    return replace(agent, name=name, settings=settings)


def _parts(name: str) -> tuple[str, str, str]:
    """Kind, retriever and reranker with its plus of an agent's name."""
    _, found = kind_of(name)
    kind = name.removesuffix(f"-{found}")
    retriever, plus, reranker = found.partition("+")
    return kind, retriever, f"{plus}{reranker}"
