"""Holds what takes part in a tournament: queries, the agents' answers, the documents they rest on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from judgec.records.citation import BY_ID, FROM_0, own_numbers
from judgec.records.claim import NUGGETS
from judgec.records.label import Item, Text


@dataclass(frozen=True, slots=True)
class AnswerCost:
    """Cost of an answer; None where its file does not say.

    Args:
        seconds: Latency.
        tokens: Of prompt and reply.
        usd: Dollars.
    """

    seconds: float | None = None
    tokens: float | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Entries:
    """Everything that agents bring to a tournament. An agent is any text; a query that it did not answer is absent.

    Args:
        queries: Text by query id, in file order.
        answers: Text by (query id, agent).
        references: A correct answer by query id, where one is known.
        nuggets: What a good answer says, by query id, where somebody wrote it.
        documents: Text by document id.
        retrieved: Document ids, best first, by (query id, agent); none of an answer that names no document where
            others of its agent do.
        shared: Document ids by query id, where nobody says which agent retrieved them.
        notes: What reading assumed or mended, one sentence each.
        costs: What answers took, by (query id, agent), where a file says so.
        settings: An agent's value of each setting that it was made with, by agent, where a file says so.
        own_ids: The id in its file of a document that has another here, because one id stood for several texts.
        given: Document ids as an answer's row has them, by (query id, agent), where ``retrieved`` has others: one may
            be there twice; empty is that of an empty text.
        citing: The form in which an agent cites, by agent; absent where nobody said it, or knows what it retrieves.
    """

    queries: Mapping[str, str]
    answers: Mapping[tuple[str, str], str]
    references: Mapping[str, str] = field(default_factory=dict)
    nuggets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    retrieved: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    costs: Mapping[tuple[str, str], AnswerCost] = field(default_factory=dict)
    own_ids: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    given: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    citing: Mapping[str, str] = field(default_factory=dict)

    @property
    def agents(self) -> tuple[str, ...]:
        """Everybody who answered at least one query, sorted."""
        return tuple(sorted({agent for _, agent in self.answers}))

    @property
    def answered(self) -> dict[str, tuple[str, ...]]:
        """The agents that answered each query, sorted, by query id; queries that nobody answered are absent."""
        agents: dict[str, list[str]] = {}
        for query_id, agent in self.answers:
            agents.setdefault(query_id, []).append(agent)
        return {query_id: tuple(sorted(agents[query_id])) for query_id in self.queries if query_id in agents}

    @property
    def missing(self) -> dict[str, int]:
        """Number of queries that somebody answered and an agent did not, by agent; only where there are any."""
        counts = dict.fromkeys(self.agents, len(self.answered))
        for _, agent in self.answers:
            counts[agent] -= 1
        return {agent: count for agent, count in counts.items() if count}

    def ranking(self, query_id: str, agent: str) -> tuple[str, ...]:
        """The documents that an agent's answer rests on, best first; those of the query where no agent is named."""
        return self.retrieved.get((query_id, agent), self.shared.get(query_id, ()))

    def pool(self, query_id: str, *agents: str) -> tuple[str, ...]:
        """The documents of several agents without repeats: best rank first, equal ranks by document id.

        The order does not depend on the order of the agents, so that both orders of a game see the same.
        """
        best: dict[str, int] = {}
        for agent in agents:
            for rank, doc_id in enumerate(self.ranking(query_id, agent)):
                best[doc_id] = min(rank, best.get(doc_id, rank))
        return tuple(sorted(best, key=lambda doc_id: (best[doc_id], doc_id)))

    def own(self, query_id: str, agent: str) -> tuple[str, ...]:
        """The documents of an answer in the order in which its numbers count them."""
        return self.given.get((query_id, agent)) or self.ranking(query_id, agent)

    def cited(self, query_id: str, agent: str) -> dict[str, list[str]]:
        """The documents that each number or id in an agent's answer cites, in the form in which the agent cites.

        Several have one id where they are chunks of one.
        """
        places = {n: doc_id for n, doc_id in enumerate(self.own(query_id, agent), 1) if doc_id}
        form, doc_ids = self.citing.get(agent, ""), [*places.values()]
        if BY_ID in form:
            names = [self.own_ids.get(doc_id, doc_id) for doc_id in doc_ids]
        elif numbers := own_numbers([self.documents.get(doc_id, "") for doc_id in doc_ids]):
            names = [*map(str, numbers)]
        else:
            names = [str(n - (FROM_0 in form)) for n in places]
        found: dict[str, list[str]] = {}
        for name, doc_id in zip(names, doc_ids, strict=True):
            found.setdefault(name, []).append(doc_id)
        return found

    def item(self, query_id: str, agent: str) -> Item:
        """One answer as a judge of answers reads it, with its own documents.

        One without a text keeps its place before others, so that ``[3]`` is the third.
        """
        contexts = [self.documents.get(doc_id, "") for doc_id in self.own(query_id, agent)]
        while contexts and not contexts[-1]:
            contexts.pop()
        inputs: dict[str, Text] = {"query": self.queries[query_id], "answer": self.answers[query_id, agent]}
        if contexts:
            inputs["contexts"] = tuple(contexts)
        if query_id in self.references:
            inputs["reference"] = self.references[query_id]
        if query_id in self.nuggets:
            inputs[NUGGETS] = self.nuggets[query_id]
        return Item(f"{query_id}/{agent}", query_id, inputs, agent)
