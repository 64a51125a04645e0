"""An agent's compile: queries and a metric in, an agent with a better prompt or better settings out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judgec.compile.agents.metric import AcceptedMetric, AnswerTrace, JudgeMetric
from judgec.compile.contest import COMPILED, UNCOMPILED, Contest, Contested, RatedProgram
from judgec.compile.search.candidates import Candidate
from judgec.labels.split.family import Split
from judgec.lm.session import Session
from judgec.lm.watch import Watch
from judgec.rag.agents.bulk import answer_queries
from judgec.rag.agents.compiled import TASK, load_agent, settings_of
from judgec.rag.agents.rag import RAG
from judgec.rag.agents.registry import kind_of
from judgec.rag.retrieval.retrievers import Retriever
from judgec.raters import programs
from judgec.records.counts import plural
from judgec.records.label import Item
from judgec.report.cases import BrowsedCase, CaseSide
from judgec.report.numbers import number, signed
from judgec.tournament.files.queries import Query

BOTH = (COMPILED, UNCOMPILED)

Propose = Callable[["AgentContest", Split, Sequence[AnswerTrace], Watch], Iterator[Candidate]]
"""Yields agents to try, from the uncompiled agent's answers to the train queries."""


@dataclass(frozen=True, kw_only=True)
class AgentContest(Contest[AnswerTrace]):
    """The parts of a compile that only agents have.

    Args:
        agent: Its kind and retriever, ``rag-fusion-hybrid``.
        queries: All queries, in the order of the items.
        metric: What is maximized: the mean over queries.
        propose: The search.
        session: The way to the LM.
        accepted: Answers that experts accepted, by query id; empty when a judge is the metric.
        retrieve: Opens retrievers by name; None where only the agent's own is there.
    """

    task: ClassVar[str] = TASK
    noun: ClassVar[str] = "agent"
    worth: ClassVar[str] = "mean score"
    units: ClassVar[str] = "queries"
    option: ClassVar[str] = "--queries"
    objective: ClassVar[str] = "mean score"
    fields: ClassVar[tuple[str, ...]] = ("query",)
    on_card: ClassVar[tuple[str, str]] = ("score", "score")
    headline: ClassVar[tuple[str, ...]] = (
        *("test.score", "test.score.low", "test.score.high"),
        *("test.uncompiled.score", "test.uncompiled.score.low", "test.uncompiled.score.high"),
        *("difference.score", "difference.score.low", "difference.score.high", "difference.score.p", "lm_calls"),
    )

    agent: str
    queries: Sequence[Query]
    metric: JudgeMetric | AcceptedMetric
    propose: Propose
    session: Session
    accepted: Mapping[str, Sequence[str]]
    retrieve: Callable[[str], Retriever] | None = None

    def candidates(self, split: Split, watch: Watch) -> Iterator[Candidate]:
        """What the optimizer proposes, from the uncompiled agent's answers to the train queries."""
        watch.stage("train", f"{plural(len(split.train), 'query')}")
        yield from self.propose(self, split, self.rate(self.start, split.train).made, watch)

    def champion(self, version: int) -> RAG:
        """The version in use, on the same index."""
        program = programs.load(self.home, f"{self.name}@{version}")
        own = kind_of(settings_of(program)[0])[1]
        return load_agent(program, self.start.retriever if self.retrieve is None else self.retrieve(own))

    def rate(self, program: RAG, rows: Sequence[int]) -> RatedProgram[AnswerTrace]:
        """Answer the queries and score the answers."""
        queries = [self.queries[i] for i in rows]
        ask = None if self.lm.no_model else self.session.ask
        answers = answer_queries(program, self.agent, [(query.query_id, query.text) for query in queries], ask=ask)
        return rated(list(zip(queries, answers, self.metric.score(answers), strict=True)))

    def calls(self, n: int) -> int:
        """Of each agent its own, one to judge, one to spare."""
        return 3 * n * (len(self.start.predictors()) + 2)

    def report(self, found: Contested[AnswerTrace]) -> dict[str, object]:
        """What it was compiled for, and the test answers with their scores, by agent and query."""
        made = {who: tried.made for who, tried in found.test.items()}
        return {
            "agent": self.agent,
            "metric": self.metric.name,
            "notes": [*found.notes, *_ties(found)],
            "unscored": {who: sum(score.value is None for *_, score in traces) for who, traces in made.items()},
            "answers": {
                who: {
                    query.query_id: {
                        "answer": answer.text,
                        "score": score.value,
                        "reason": answer.error or score.reason,
                    }
                    for query, answer, score in traces
                }
                for who, traces in made.items()
            },
        }

    def cases(self, found: Contested[AnswerTrace]) -> Sequence[BrowsedCase]:
        """The test queries with both answers beside each other, the largest changes first."""
        both = zip(*(found.test[who].made for who in BOTH), strict=True)
        return sorted((_case(dict(zip(BOTH, of, strict=True))) for of in both), key=BrowsedCase.worth)


def rated(traces: Sequence[AnswerTrace]) -> RatedProgram[AnswerTrace]:
    """An agent that answered so; each query is a cluster of its own."""
    values = np.array([score.counted for *_, score in traces], dtype=np.float64)
    return RatedProgram({"score": values}, np.arange(len(traces)), traces)


def items_of(queries: Sequence[Query]) -> list[Item]:
    """Queries as what is split: a query known to another agent's compile stays on its side."""
    return [Item(query.query_id, query.query_id, {"query": query.text}) for query in queries]


def _ties(found: Contested[AnswerTrace]) -> list[str]:
    """A note of why most answers are as before, where they are: such queries can only tie."""
    ours, theirs = (found.test[who].made for who in BOTH)
    same = sum(one[1].text == other[1].text for one, other in zip(ours, theirs, strict=True))
    if 2 * same <= len(ours):
        return []
    why = "the new prompt and settings change nothing there"
    if found.chosen.name == UNCOMPILED:
        why = "no candidate was chosen over the uncompiled agent"
    return [f"{same} of {len(ours)} test queries have the same answer as before: {why}."]


def _case(by: Mapping[str, AnswerTrace]) -> BrowsedCase:
    query = by[COMPILED][0]
    gain = round(by[COMPILED][2].counted - by[UNCOMPILED][2].counted, 3)  # what is shown decides what is the same
    change = "gained" if gain > 0 else "lost" if gain < 0 else "the same"
    missing = [who for who, (*_, score) in by.items() if score.value is None]
    return BrowsedCase(
        item_id=query.query_id,
        head=f"{signed(gain, 3)}, {change}",
        title=query.text,
        group=change,
        differs=gain != 0,
        unscored=f"{', '.join(missing)} unscored" if missing else None,
        distance=abs(gain),
        sides=[_side(who, trace) for who, trace in by.items()],
        texts={"query": (query.text,)},
    )


def _side(who: str, trace: AnswerTrace) -> CaseSide:
    _, answer, score = trace
    texts: dict[str, tuple[str, ...]] = {} if answer.text is None else {"answer": (answer.text,)}
    if answer.contexts:
        texts["contexts"] = tuple(context.text for context in answer.contexts)
    value = "unscored" if score.value is None else number(score.value)
    return CaseSide(who, value, texts, answer.error or score.reason)
