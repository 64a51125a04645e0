"""``compile_agent``: queries and a metric in, an agent with a better prompt out, promoted only when it is better."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from judgec.compile.agents.candidates import AgentCandidate, AgentTask, demonstrated
from judgec.compile.agents.knobs import shaped
from judgec.compile.agents.metric import Metric, ScoredAnswer
from judgec.compile.agents.reflection import rewritten
from judgec.compile.pipeline import (
    CHAMPION,
    COMPILED,
    UNCOMPILED,
    Contested,
    KindWords,
    MeanVerdict,
    PipelineSettings,
    contest,
    mean_of,
)
from judgec.errors import UserError
from judgec.labels.split.family import SPLITS, Split, SplitName
from judgec.labels.split.memory import OTHERS, Measured
from judgec.lm.session import Session
from judgec.lm.watch import Watch
from judgec.rag.agents.answer import Answer
from judgec.rag.agents.bulk import answer_queries
from judgec.rag.agents.compiled import TASK, load_agent, settings_of
from judgec.rag.agents.rag import RAG, AgentSettings
from judgec.rag.agents.registry import kind_of
from judgec.rag.retrieval.retrievers import Retriever
from judgec.raters import programs
from judgec.records.counts import plural
from judgec.records.label import FloatArray, IntArray, Item
from judgec.tournament.files.queries import Query

MEASURED = Measured(TASK, frozenset({OTHERS[TASK]}))
WORDS = KindWords("agent", "mean score", "queries", "--queries")


def _labelled(task: AgentTask, answers: Sequence[Answer], scores: Sequence[ScoredAnswer]) -> list[AgentCandidate]:
    return demonstrated(task, answers, scores, accepted=True) if task.accepted else []


def _bootstrapped(task: AgentTask, answers: Sequence[Answer], scores: Sequence[ScoredAnswer]) -> list[AgentCandidate]:
    return demonstrated(task, answers, scores, accepted=False)


def _rewritten(task: AgentTask, *_: object) -> list[AgentCandidate]:
    if task.reflection is None:
        return []
    task.watch.stage("rewrite", "instructions")
    return rewritten(task)


Propose = Callable[[AgentTask, Sequence[Answer], Sequence[ScoredAnswer]], list[AgentCandidate]]
"""Prompts, from the uncompiled agent's answers to ``task.train`` and their scores; none where it cannot work."""

OPTIMIZERS: dict[str, tuple[Propose, ...]] = {
    "auto": (_labelled, _bootstrapped, _rewritten, shaped),
    "labeled": (_labelled,),
    "bootstrap": (_bootstrapped,),
    "settings": (shaped,),
    "gepa": (_rewritten,),
}


@dataclass(frozen=True, slots=True)
class AgentCompile:
    """Everything that decides the outcome besides queries and metric.

    Args:
        name: The program's family.
        home: Folder that holds ``programs/``.
        agent: Its kind and retriever, ``rag-fusion-hybrid``.
        settings: How it works.
        optimizer: Of ``OPTIMIZERS``.
        seed: Of the search and the intervals; never of the split.
        resamples: Of each interval.
    """

    name: str
    home: Path
    agent: str
    settings: AgentSettings
    optimizer: str = "auto"
    seed: int = 0
    resamples: int = 2000

    @property
    def pipeline(self) -> PipelineSettings:
        """The family, and how intervals are made."""
        return PipelineSettings(self.home, self.name, self.resamples, self.seed)


@dataclass(frozen=True, slots=True)
class AnsweredQueries:
    """An agent's answers to some queries, and what each is worth."""

    answers: Sequence[Answer]
    scores: Sequence[ScoredAnswer]

    @property
    def values(self) -> FloatArray:
        """Of each answer, 0 to 1; what is missing counts 0."""
        return np.array([score.counted for score in self.scores], dtype=np.float64)

    @property
    def cluster(self) -> IntArray:
        """Each query for itself."""
        return np.arange(len(self.scores))


@dataclass(frozen=True)
class AgentKind:
    """The parts of a compile that only agents have.

    Args:
        module: The uncompiled agent.
        retriever: Its retriever.
        queries: All queries, in the order of the items.
        metric: What is maximized: the mean over queries.
        settings: What the user asked for.
        session: The way to the LM.
        accepted: Answers that experts accepted, by query id.
        retrieve: Opens retrievers by name; None where only ``retriever`` is there.
    """

    module: RAG
    retriever: Retriever
    queries: Sequence[Query]
    metric: Metric
    settings: AgentCompile
    session: Session
    accepted: Mapping[str, Sequence[str]]
    retrieve: Callable[[str], Retriever] | None = None
    measured: Measured = MEASURED
    words: KindWords = WORDS

    @property
    def uncompiled(self) -> AgentCandidate:
        """The agent as it is."""
        return AgentCandidate(UNCOMPILED, self.module)

    def candidates(self, split: Split, watch: Watch) -> Iterator[AgentCandidate]:
        """The optimizer's prompts, from the uncompiled agent's answers to the train queries."""
        train, dev = ([self.queries[i] for i in part] for part in (split.train, split.dev))
        session, seed = self.session, self.settings.seed
        task = AgentTask(
            self.module,
            train,
            dev,
            self._asked,
            self.accepted,
            session.reflection,
            seed,
            watch,
            self.settings.agent,
            self.retrieve,
            not session.spec.no_model,
        )
        watch.stage("train", f"{plural(len(train), 'query')}")
        given = task, *self._asked(self.module, train)
        yield from (candidate for propose in OPTIMIZERS[self.settings.optimizer] for candidate in propose(*given))

    def champion(self, version: int) -> AgentCandidate:
        """The version in use, on the same retriever."""
        program = programs.load(self.settings.home, f"{self.settings.name}@{version}")
        own = kind_of(settings_of(program)[0])[1]
        retriever = self.retriever if self.retrieve is None else self.retrieve(own)
        return AgentCandidate(CHAMPION, load_agent(program, retriever))

    def trial(self, candidate: AgentCandidate, rows: Sequence[int]) -> AnsweredQueries:
        """Answer the queries and score the answers."""
        return AnsweredQueries(*self._asked(candidate.module, [self.queries[i] for i in rows]))

    def keeping_back(self, rows: Sequence[int]) -> AbstractContextManager[object]:
        """Calls for three agents on these queries."""
        calls = len(rows) * 3 * (len(self.module.predictors()) + 2)
        return self.session.keeping_back(calls, self.session.price(calls))

    def _asked(self, module: RAG, queries: Sequence[Query]) -> tuple[list[Answer], list[ScoredAnswer]]:
        pairs = [(query.query_id, query.text) for query in queries]
        ask = None if self.session.spec.no_model else self.session.ask
        answers = answer_queries(module, self.settings.agent, pairs, ask=ask)
        return answers, self.metric.score(answers)


@dataclass(frozen=True)
class CompiledAgent:
    """Everything a compile found out.

    Args:
        start: The uncompiled agent.
        queries: All queries, in the order of the items.
        found: Split, candidates, test and verdict.
        notes: What the user should know.
    """

    start: RAG
    queries: Sequence[Query]
    found: Contested[AgentCandidate, AnsweredQueries]
    notes: tuple[str, ...]

    @property
    def parts(self) -> Mapping[SplitName, tuple[Query, ...]]:
        """Queries by split."""
        return {name: tuple(self.queries[i] for i in getattr(self.found.split, name)) for name in SPLITS}

    @property
    def chosen(self) -> AgentCandidate:
        """The winner's prompt."""
        return self.found.chosen

    @property
    def dev(self) -> dict[str, float]:
        """Mean score of each candidate on dev, in the order tried."""
        return {name: mean_of(tried) for name, tried in self.found.dev.items()}

    @property
    def answers(self) -> dict[str, list[Answer]]:
        """To the test queries, by ``uncompiled``, ``compiled`` and, if there is one, ``champion``."""
        return {who: [replace(one, agent=who) for one in tried.answers] for who, tried in self.found.test.items()}

    @property
    def scores(self) -> dict[str, Sequence[ScoredAnswer]]:
        """Of these answers."""
        return {who: tried.scores for who, tried in self.found.test.items()}

    @property
    def same_answers(self) -> int:
        """Test queries that the compiled and the uncompiled agent answer with the same text."""
        both = zip(self.found.test[COMPILED].answers, self.found.test[UNCOMPILED].answers, strict=True)
        return sum(ours.text == theirs.text for ours, theirs in both)

    def with_ties_explained(self) -> "CompiledAgent":
        """With a note of why most answers are as before, where they are: such queries can only tie."""
        same, n = self.same_answers, len(self.parts["test"])
        if 2 * same <= n:
            return self
        why = "the new prompt and settings change nothing there"
        if self.chosen.name == UNCOMPILED:
            why = "no candidate was chosen over the uncompiled agent"
        note = f"{same} of {n} test queries have the same answer as before: {why}."
        return replace(self, notes=(*self.notes, note))

    @property
    def verdict(self) -> MeanVerdict:
        """The outcome: promoted or not, and why."""
        return self.found.verdict


def compile_agent(
    module: RAG,
    retriever: Retriever,
    queries: Sequence[Query],
    metric: Metric,
    settings: AgentCompile,
    session: Session,
    watch: Watch,
    *,
    accepted: Mapping[str, Sequence[str]] | None = None,
    retrieve: Callable[[str], Retriever] | None = None,
) -> CompiledAgent:
    """Search prompts on train and dev, verify on test; nothing is written but the journal.

    Args:
        module: The uncompiled agent.
        retriever: Its retriever.
        queries: All queries; a query known to another agent's compile stays on its side of the split.
        metric: What is maximized: the mean over queries.
        settings: What the user asked for.
        session: The way to the LM.
        watch: Told where the compile is.
        accepted: Answers that experts accepted, by query id.
        retrieve: Opens other retrievers by name, so that settings are searched, too.

    Raises:
        UserError: Too few queries, or an optimizer that cannot work.
        ServiceError: When the LM fails for good.
    """
    _check_optimizer(settings.optimizer, session)
    kind = AgentKind(module, retriever, queries, metric, settings, session, accepted or {}, retrieve)
    items = [Item(query.query_id, query.query_id, {"query": query.text}) for query in queries]
    found = contest(kind, items, settings.pipeline, watch)
    return CompiledAgent(module, queries, found, found.notes)


def _check_optimizer(name: str, session: Session) -> None:
    if name not in OPTIMIZERS:
        raise UserError(f"--optimizer: there is no {name!r}; there are {', '.join(OPTIMIZERS)}. Name one of these.")
    if session.spec.no_model and name not in {"auto", "settings"}:
        raise UserError(
            f"--optimizer {name}: searches prompts, and no model is named that reads one; settings is valid. "
            "Name a model with --lm, or settings."
        )
    if name == "gepa" and session.reflection is None:
        raise UserError(
            f"--optimizer {name}: it rewrites instructions, and there is no reflection model. "
            "Give --lm a language model, or --reflection-lm."
        )
