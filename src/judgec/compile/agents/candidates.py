"""Prompts that an agent might get: with demonstrations of good answers, with rewritten instructions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import dspy

from judgec.compile.agents.metric import ScoredAnswer
from judgec.lm.watch import Watch
from judgec.rag.agents.answer import Answer
from judgec.rag.agents.rag import FEEDBACK, RAG
from judgec.rag.retrieval.retrievers import Retriever
from judgec.raters.fencing import disarmed, escape_markers, fence
from judgec.tournament.files.queries import Query

SET_SIZES = (2, 4)  # demonstrations a set: each carries all passages of its answer
DEMO_CHARACTERS = 24_000  # of all demonstrations of a set
LEAST_VALUE = 0.5  # an answer worth less is no example


@dataclass(frozen=True, slots=True)
class AgentCandidate:
    """A prompt that might become the agent's.

    Args:
        name: Unique in a compile.
        module: The agent with it.
        settings: How it was made, for the record.
    """

    name: str
    module: RAG
    settings: Mapping[str, str | int] = field(default_factory=dict)


class AgentTrial(Protocol):
    """Lets an agent answer queries and scores the answers."""

    def __call__(self, module: RAG, queries: Sequence[Query]) -> tuple[list[Answer], list[ScoredAnswer]]:
        """Answers and scores, in the order of the queries."""
        ...


@dataclass(frozen=True, slots=True)
class AgentTask:
    """The data that an optimizer of agents works with.

    Args:
        module: The uncompiled agent.
        train: Queries that may be learned from.
        dev: Queries that prompts are compared on.
        trial: Answers and scores.
        accepted: Answers that experts accepted, by query id; empty when a judge is the metric.
        reflection: The model that rewrites instructions, or None.
        seed: Of everything random.
        watch: Told where the search is.
        agent: Its name in the registry; empty where it is in none.
        retrieve: Opens retrievers by name; None where only the agent's own is there.
        model: Whether one is asked, which reads prompts.
    """

    module: RAG
    train: Sequence[Query]
    dev: Sequence[Query]
    trial: AgentTrial
    accepted: Mapping[str, Sequence[str]]
    reflection: dspy.LM | None
    seed: int
    watch: Watch
    agent: str = ""
    retrieve: Callable[[str], Retriever] | None = None
    model: bool = True


def demonstrated(
    task: AgentTask, answers: Sequence[Answer], scores: Sequence[ScoredAnswer], *, accepted: bool
) -> list[AgentCandidate]:
    """The agent with examples from train: its own best answers, or the answers that experts accepted.

    Args:
        task: What is compiled.
        answers: Of the uncompiled agent to ``task.train``.
        scores: Of these answers.
        accepted: Show the experts' answers instead of the agent's own.
    """
    if not task.model:
        return []
    pairs = list(zip(task.train, answers, scores, strict=True))
    ranked = sorted(pairs, key=lambda pair: (-pair[2].counted, pair[0].query_id))
    examples = []
    for query, answer, score in ranked:
        known = task.accepted.get(query.query_id, ())
        text = known[0] if accepted and known else answer.text
        usable = bool(known) if accepted else score.counted >= LEAST_VALUE
        if usable and text and answer.contexts:
            examples.append((query, answer, text))
    kind = "labelled" if accepted else "bootstrapped"
    found: list[AgentCandidate] = []
    for size in SET_SIZES:
        chosen = _within(examples, size)
        if len(chosen) == size or (chosen and not found):
            found.append(
                AgentCandidate(
                    f"{kind}-{len(chosen)}", _shown(task.module, chosen), {"kind": kind, "demonstrations": len(chosen)}
                )
            )
    return found


def _within(examples: Sequence[tuple[Query, Answer, str]], size: int) -> list[tuple[Query, Answer, str]]:
    chosen: list[tuple[Query, Answer, str]] = []
    room = DEMO_CHARACTERS
    for example in examples:
        length = sum(len(context.text) for context in example[1].contexts)
        if len(chosen) < size and length <= room:
            chosen.append(example)
            room -= length
    return chosen


def _shown(module: RAG, chosen: Sequence[tuple[Query, Answer, str]]) -> RAG:
    """A copy of the agent whose predictors show these examples."""
    copy: RAG = module.deepcopy()
    copy.answer.demos = [
        dspy.Example(
            query=fence("query", query.text),
            passages=fence("passages", tuple(context.text for context in answer.contexts)),
            answer=escape_markers(disarmed(text)),
        ).with_inputs("query", "passages")
        for query, answer, text in chosen
    ]
    if hasattr(copy, "vary"):
        copy.vary.demos = [_variation(module, query, answer) for query, answer, _ in chosen if answer.searched]
    return copy


def _variation(module: RAG, query: Query, answer: Answer) -> dspy.Example:
    inputs = {"query": fence("query", query.text)}
    if module.settings.feedback:
        inputs["passages"] = fence("passages", tuple(context.text for context in answer.contexts[:FEEDBACK]))
    return dspy.Example(**inputs, queries=escape_markers(disarmed("\n".join(answer.searched)))).with_inputs(*inputs)
