"""Proposes other settings of an agent, one after another: its retriever, a reranker, how many passages, its kind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from judgec.compile.agents.candidates import AgentCandidate, AgentTask, demonstrated
from judgec.compile.agents.metric import ScoredAnswer
from judgec.rag.agents.answer import Answer
from judgec.rag.agents.grid import NO_RERANKER, GridAgent
from judgec.rag.agents.rag import RAG
from judgec.rag.agents.registry import KINDS, RERANKED, kind_of
from judgec.rag.agents.rerank import LEXICAL
from judgec.rag.retrieval.retrievers import RETRIEVERS

VALUES = {
    "retriever": RETRIEVERS,
    "rerank": (NO_RERANKER, LEXICAL),
    "k": ("3", "5", "10"),
    "agent": tuple(KINDS),
}  # in the order in which they are tried
MOST_ASKED = 120  # train queries that every value is tried on


@dataclass(frozen=True, slots=True)
class _Step:
    """An agent of the search, with what it said to the train queries."""

    settings: dict[str, str]
    module: RAG
    answers: Sequence[Answer]
    scores: Sequence[ScoredAnswer]

    @property
    def mean(self) -> float:
        return float(np.mean([score.counted for score in self.scores]))


def shaped(task: AgentTask, answers: Sequence[Answer], scores: Sequence[ScoredAnswer]) -> list[AgentCandidate]:
    """Agents with other settings that were better on train, each a step further; and the last one with examples.

    A setting's values are tried with the best of those before it, and kept where the mean score on train queries is
    higher. Dev then chooses among the steps, and test decides: what fits train alone goes no further. Where the agent
    is of a kind that judgec does not bring, or its retriever cannot be opened by name, there is nothing to try.

    Args:
        task: What is compiled.
        answers: Of the uncompiled agent to ``task.train``.
        scores: Of these answers.
    """
    kind = next((kind for kind in KINDS if kind_of_name(task.agent) == kind), None)
    if kind is None or task.retrieve is None:
        return []
    rows = sorted(Random(task.seed).sample(range(len(task.train)), min(MOST_ASKED, len(task.train))))
    tried = replace(task, train=[task.train[row] for row in rows])
    retriever, _, rerank = kind_of(task.agent)[1].partition(RERANKED)
    start = {"retriever": retriever, "rerank": rerank or NO_RERANKER, "k": str(task.module.settings.k), "agent": kind}
    best = _Step(start, task.module, [answers[row] for row in rows], [scores[row] for row in rows])
    found: list[AgentCandidate] = []
    for better in _climbed(tried, best):
        best = better
        found.append(AgentCandidate(_named(best.settings), best.module, _recorded(best.settings)))
    if not found:
        return []
    examples = demonstrated(replace(tried, module=best.module), best.answers, best.scores, accepted=bool(task.accepted))
    made = found[-1]
    found += [
        AgentCandidate(f"{made.name}, {one.name}", one.module, {**made.settings, **one.settings}) for one in examples
    ]
    return found


def kind_of_name(agent: str) -> str:
    """``rag-fusion`` of ``rag-fusion-hybrid+lexical``."""
    return agent.removesuffix(f"-{kind_of(agent)[1]}")


def _climbed(task: AgentTask, best: _Step) -> Iterator[_Step]:
    """Each setting that made the agent better."""
    for setting, values in VALUES.items():
        steps = [_asked(task, {**best.settings, setting: value}) for value in values if value != best.settings[setting]]
        highest = max(steps, key=lambda step: step.mean)
        if highest.mean > best.mean:
            best = highest
            yield best


def _asked(task: AgentTask, settings: dict[str, str]) -> _Step:
    assert task.retrieve is not None  # as ``shaped`` says
    task.watch.stage("settings", _named(settings))
    agent = GridAgent(settings)
    build, retriever = kind_of(agent.kind)
    module = build(task.retrieve(retriever), agent.shape(task.module.settings))
    return _Step(settings, module, *task.trial(module, task.train))


def _named(settings: dict[str, str]) -> str:
    return GridAgent(settings).name


def _recorded(settings: dict[str, str]) -> dict[str, str | int]:
    """For the card, from which the agent is opened again."""
    return {"kind": "settings", "agent": GridAgent(settings).kind, "k": int(settings["k"])}
