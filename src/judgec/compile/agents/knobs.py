"""Proposes other settings of an agent, one after another: its retriever, a reranker, how many passages, its kind."""

from collections.abc import Callable, Sequence
from random import Random

from judgec.compile.agents.candidates import demonstrated
from judgec.compile.agents.compile import AgentContest, rated
from judgec.compile.agents.metric import AnswerTrace
from judgec.compile.search.candidates import Candidate
from judgec.labels.split.family import Split
from judgec.lm.watch import Watch
from judgec.rag.agents.grid import NO_RERANKER, GridAgent
from judgec.rag.agents.registry import KINDS, RERANKED, kind_of
from judgec.rag.agents.rerank import LEXICAL
from judgec.rag.retrieval.retrievers import RETRIEVERS, Retriever

VALUES = {
    "retriever": RETRIEVERS,
    "rerank": (NO_RERANKER, LEXICAL),
    "k": ("3", "5", "10"),
    "agent": tuple(KINDS),
}  # in the order in which they are tried
MOST_ASKED = 120  # train queries that every value is tried on


def shaped(contest: AgentContest, split: Split, traces: Sequence[AnswerTrace], watch: Watch) -> list[Candidate]:
    """Agents with other settings that were better on train, each a step further; and the last one with examples.

    A setting's values are tried with the best of those before it, and kept where the mean score on train queries is
    higher. Dev then chooses among the steps, and test decides: what fits train alone goes no further. Where the agent
    is of a kind that judgec does not bring, or its retriever cannot be opened by name, there is nothing to try.

    Args:
        contest: What is compiled.
        split: Of its queries.
        traces: Answers of the uncompiled agent to the train queries.
        watch: Told what is tried.
    """
    own = kind_of(contest.agent)[1]
    kind = contest.agent.removesuffix(f"-{own}")
    if kind not in KINDS or contest.retrieve is None:
        return []
    places = sorted(Random(contest.seed).sample(range(len(traces)), min(MOST_ASKED, len(traces))))
    retriever, _, rerank = own.partition(RERANKED)
    at = {"retriever": retriever, "rerank": rerank or NO_RERANKER, "k": str(contest.start.settings.k), "agent": kind}
    best, found = rated([traces[place] for place in places]), list[Candidate]()
    for setting, values in VALUES.items():
        tried = []
        for value in values:
            if value != at[setting]:
                made = _agent(contest, GridAgent({**at, setting: value}), contest.retrieve)
                watch.stage("settings", made.name)
                tried.append((contest.rate(made.module, [split.train[place] for place in places]), made, value))
        highest, made, value = max(tried, key=lambda one: one[0].objective.point())
        if highest.objective.point() > best.objective.point():
            best, at = highest, {**at, setting: value}
            found.append(made)
    if found and not contest.lm.no_model:
        last = found[-1]
        found += [
            Candidate(f"{last.name}, {one.name}", one.module, settings={**last.settings, **one.settings})
            for one in demonstrated(last.module, best.made, contest.accepted)
        ]
    return found


def _agent(contest: AgentContest, agent: GridAgent, retrieve: Callable[[str], Retriever]) -> Candidate:
    """The agent of a grid, with what the card needs to open it again."""
    build, retriever = kind_of(agent.kind)
    module = build(retrieve(retriever), agent.shape(contest.start.settings))
    return Candidate(agent.name, module, settings={"kind": "settings", "agent": agent.kind, "k": module.settings.k})
