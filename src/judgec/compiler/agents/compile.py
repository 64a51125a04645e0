"""``compile_agent``: queries and a metric in, an agent with a better prompt out, promoted only when it is better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from judgec.agents.answer import Answer
from judgec.agents.bulk import answer_queries
from judgec.agents.compiled import load_agent
from judgec.agents.rag import RAG, AgentSettings
from judgec.compiler.agents.candidates import UNCOMPILED, AgentCandidate, AgentTask
from judgec.compiler.agents.metric import Metric, ScoredAnswer
from judgec.compiler.agents.registry import AgentOptimizer, find_agent_optimizer
from judgec.compiler.promote import MIN_TEST_QUERIES
from judgec.compiler.rivals import Standing
from judgec.errors import BudgetError, UserError
from judgec.lm.session import Session
from judgec.lm.watch import Noting, Watch
from judgec.records.estimate import Estimate
from judgec.report.numbers import brackets, number, signed
from judgec.retrieval.retrievers import Retriever
from judgec.stats.agreement.statistic import SHARE, mean
from judgec.stats.intervals.bootstrap import Interval, detectable_difference, difference_interval, interval
from judgec.stats.intervals.significance import level_for_look
from judgec.store import programs
from judgec.store.splits import SPLITS, SplitName, read_family, split_of
from judgec.store.tournament.queries import Query

COMPILED: str = "compiled"
CHAMPION: str = "champion"


@dataclass(frozen=True, slots=True)
class AgentCompile:
    """Everything that decides the outcome besides queries and metric.

    Args:
        name: The program's family.
        home: Folder that holds ``programs/``.
        agent: Its kind and retriever, ``rag-fusion-hybrid``.
        settings: How it works.
        optimizer: Of ``registry.OPTIMIZERS``.
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


@dataclass(frozen=True, slots=True)
class AgentVerdict:
    """What the test queries said.

    Args:
        promoted: Whether the agent becomes the champion.
        reason: Why, or why not.
        rival: ``uncompiled`` or ``champion``.
        difference: Of the mean score, at the level of this look.
        detectable: The smallest difference that these queries would have shown (80 % power), or None.
        standing: The look and the champion.
    """

    promoted: bool
    reason: str
    rival: str
    difference: Estimate
    detectable: float | None
    standing: Standing


@dataclass(frozen=True, slots=True)
class CompiledAgent:
    """Everything a compile found out.

    Args:
        parts: Queries by split.
        start: The uncompiled agent.
        chosen: The winner's prompt.
        dev: Mean score of each candidate on dev, in the order tried.
        answers: To the test queries, by ``uncompiled``, ``compiled`` and, if there is one, ``champion``.
        scores: Of these answers.
        verdict: Whether it was promoted.
        notes: What the user should know.
    """

    parts: Mapping[SplitName, tuple[Query, ...]]
    start: RAG
    chosen: AgentCandidate
    dev: Mapping[str, float]
    answers: Mapping[str, Sequence[Answer]]
    scores: Mapping[str, Sequence[ScoredAnswer]]
    verdict: AgentVerdict
    notes: tuple[str, ...]

    def mean_score(self, who: str, *, resamples: int, seed: int) -> Estimate:
        """The mean score of one agent on test, with its interval over queries."""
        values = _values(self.scores[who])
        found = interval(mean(values, np.arange(len(values)), bounds=SHARE), resamples=resamples, seed=seed)
        return found.estimate(len(values))


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
) -> CompiledAgent:
    """Search prompts on train and dev, verify on test; nothing is written but the journal.

    Args:
        module: The uncompiled agent.
        retriever: Its retriever.
        queries: All queries; split by a hash of their ids.
        metric: What is maximized: the mean over queries.
        settings: What the user asked for.
        session: The way to the LM.
        watch: Told where the compile is.
        accepted: Answers that experts accepted, by query id.

    Raises:
        UserError: Too few queries, or an optimizer that cannot work.
        ServiceError: When the LM fails for good.
    """
    parts = _split(queries, settings)
    optimizer = find_agent_optimizer(settings.optimizer, reflection=session.reflection is not None)
    _check(parts)
    watch.stage("split", ", ".join(f"{name} {len(part)} queries" for name, part in parts.items()))

    def trial(module: RAG, queries: Sequence[Query]) -> tuple[list[Answer], list[ScoredAnswer]]:
        pairs = [(query.query_id, query.text) for query in queries]
        answers = answer_queries(module, settings.agent, pairs, ask=session.ask)
        return answers, metric.score(answers)

    task = AgentTask(
        module, parts["train"], parts["dev"], trial, accepted or {}, session.reflection, settings.seed, watch
    )
    kept = len(parts["test"]) * 3 * (len(module.predictors()) + 2)
    notes: list[str] = []
    with session.keeping_back(kept, _price(session, kept)):
        chosen, dev = _search(task, optimizer, notes)
    watch.stage("verify", f"{len(parts['test'])} test queries, prompt {chosen.name}")
    standing = standing_of(settings)
    entrants = {UNCOMPILED: module, COMPILED: chosen.module}
    if standing.champion is not None:
        entrants[CHAMPION] = load_agent(programs.load(settings.home, f"{settings.name}@{standing.champion}"), retriever)
    tried = {name: trial(agent, parts["test"]) for name, agent in entrants.items()}
    scores = {name: found for name, (_, found) in tried.items()}
    return CompiledAgent(
        parts=parts,
        start=module,
        chosen=chosen,
        dev=dev,
        answers={name: [replace(one, agent=name) for one in found] for name, (found, _) in tried.items()},
        scores=scores,
        verdict=decide(scores, standing, settings),
        notes=tuple(notes),
    )


def decide(scores: Mapping[str, Sequence[ScoredAnswer]], standing: Standing, settings: AgentCompile) -> AgentVerdict:
    """Compare the compiled agent with the champion, or without one with the uncompiled agent.

    Args:
        scores: On test, by name.
        standing: The look at the test queries and the champion.
        settings: Seed and resamples.
    """
    rival = CHAMPION if CHAMPION in scores else UNCOMPILED
    found = _difference(scores[COMPILED], scores[rival], settings, 1 - level_for_look(standing.look))
    better = bool(found.value and found.value > 0 and found.low is not None and found.low >= 0)
    estimate = found.estimate(len(scores[COMPILED]))
    detectable = detectable_difference(found)
    gain = f"{signed(found.value or 0.0, 3)} {brackets(found.low, found.high, 3, sign=True)}".rstrip()
    measured = f"mean score {gain} against {rival}, look {standing.look} at these queries"
    few = found.n_clusters < MIN_TEST_QUERIES
    if few:
        reason = f"never promoted: {found.n_clusters} test queries, {MIN_TEST_QUERIES} are needed ({measured})"
    elif better:
        reason = f"better: {measured}"
    else:
        power = "" if detectable is None else f"; these queries could have shown {number(detectable)}"
        reason = f"not shown to be better: {measured}{f'; {found.note}' if found.note else power}"
    return AgentVerdict(better and not few, reason, rival, estimate, detectable, standing)


def standing_of(settings: AgentCompile) -> Standing:
    """The family as it stands on disk."""
    looks = len(read_family(settings.home, settings.name).looks)
    newest = max(programs.versions(settings.home, settings.name), default=0)
    champion = programs.aliases(settings.home, settings.name).get(programs.CHAMPION)
    return Standing(max(looks, newest) + 1, champion)


def _search(task: AgentTask, optimizer: AgentOptimizer, notes: list[str]) -> tuple[AgentCandidate, dict[str, float]]:
    """The candidate with the highest mean on dev; of equals the one tried first, the uncompiled agent before all."""
    uncompiled = AgentCandidate(UNCOMPILED, task.module)
    noting = Noting(task.watch)
    task = replace(task, watch=noting)
    chosen, dev = uncompiled, {UNCOMPILED: 0.0}
    try:
        task.watch.stage("train", f"{len(task.train)} queries")
        answers, scores = task.trial(task.module, task.train)
        _, first = task.trial(task.module, task.dev)
        dev[UNCOMPILED] = float(_values(first).mean())
        for candidate in optimizer.search(task, answers, scores):
            task.watch.stage("dev", candidate.name)
            _, found = task.trial(candidate.module, task.dev)
            dev[candidate.name] = float(_values(found).mean())
            if dev[candidate.name] > dev[chosen.name]:
                chosen = candidate
    except BudgetError as error:
        notes.append(f"the search stopped early: {error}")
    notes += noting.said
    if chosen is uncompiled:
        notes.append("no prompt was better than the uncompiled agent's on dev")
    return chosen, dev


def _split(queries: Sequence[Query], settings: AgentCompile) -> dict[SplitName, tuple[Query, ...]]:
    salt = read_family(settings.home, settings.name).salt
    return {name: tuple(query for query in queries if split_of(query.query_id, salt) == name) for name in SPLITS}


def _check(parts: Mapping[SplitName, Sequence[Query]]) -> None:
    empty = [name for name, part in parts.items() if not part]
    if empty:
        total = sum(map(len, parts.values()))
        raise UserError(f"--queries: {total} queries leave none for {empty[0]}; about 40 are needed. Add queries.")


def _difference(
    one: Sequence[ScoredAnswer], other: Sequence[ScoredAnswer], settings: AgentCompile, level: float
) -> Interval:
    each = np.arange(len(one))
    return difference_interval(
        mean(_values(one), each, bounds=SHARE),
        mean(_values(other), each, bounds=SHARE),
        level=level,
        resamples=settings.resamples,
        seed=settings.seed,
    )


def _values(scores: Sequence[ScoredAnswer]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([score.counted for score in scores], dtype=np.float64)


def _price(session: Session, calls: int) -> float:
    """Dollars that so many calls may take, by what a call took so far."""
    spent = session.spent
    return calls * spent.usd / spent.calls if spent.calls else 0.0
