"""Holds what takes part in a tournament: queries, the agents' answers, the documents they rest on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from judgec.records.citation import Cited, numbers_of, renumbered
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
        retrieved: Document ids, best first, by (query id, agent).
        shared: Document ids by query id, where nobody says which agent retrieved them.
        notes: What reading assumed or mended, one sentence each.
        costs: What answers took, by (query id, agent), where a file says so.
        settings: An agent's value of each setting that it was made with, by agent, where a file says so.
        own_ids: The id in its file of a document that has another here, because one id stood for several texts.
        numbered: The document that each number in an answer cites, by (query id, agent), where that is not its place
            in ``retrieved``: a document that is there twice, one that is not in its run file.
        citing: The form in which an agent says that it cites, by agent; absent for the usual ones.
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
    numbered: Mapping[tuple[str, str], Mapping[int, str]] = field(default_factory=dict)
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

    def texts(self, doc_ids: tuple[str, ...]) -> tuple[str, ...]:
        """Texts of documents; ids without a text are left out."""
        return tuple(self.documents[doc_id] for doc_id in doc_ids if doc_id in self.documents)

    def cited(self, query_id: str, agent: str) -> Mapping[int, str]:
        """The document that each number in an agent's answer cites, by number."""
        if (known := self.numbered.get((query_id, agent))) is not None:
            return known
        ranking = self.ranking(query_id, agent)
        return dict(zip(numbers_of([self.documents.get(doc_id, "") for doc_id in ranking]), ranking, strict=True))

    def answer(self, query_id: str, agent: str, numbers: Mapping[str, Cited]) -> str:
        """An answer with its citations by the numbers that its documents have where it is shown.

        Args:
            query_id: Of the query.
            agent: Who answered.
            numbers: By document id, of all documents that the answer may cite.
        """
        documents = {number: numbers[doc_id] for number, doc_id in self.cited(query_id, agent).items()}
        return renumbered(self.answers[query_id, agent], documents, self.citing.get(agent, ""))

    def item(self, query_id: str, agent: str) -> Item:
        """One answer as a judge of answers reads it; documents without a text are left out."""
        cited = self.cited(query_id, agent)
        shown = [doc_id for doc_id in self.ranking(query_id, agent) if doc_id in self.documents]
        contexts = self.texts(tuple(shown))
        places = dict(zip(numbers_of(contexts), shown, strict=True))
        answer = self.answers[query_id, agent]
        if dict(cited) != places:
            answer = self.answer(query_id, agent, numbered(places, cited.values()))
        inputs: dict[str, Text] = {"query": self.queries[query_id], "answer": answer}
        if contexts:
            inputs["contexts"] = contexts
        if query_id in self.references:
            inputs["reference"] = self.references[query_id]
        if query_id in self.nuggets:
            inputs[NUGGETS] = self.nuggets[query_id]
        return Item(f"{query_id}/{agent}", query_id, inputs, agent)


def numbered(shown: Mapping[int, str], others: Iterable[str]) -> dict[str, Cited]:
    """The number of every document, by id: those that are shown have theirs, the others the next ones.

    Args:
        shown: Ids by number.
        others: Ids of documents that may be cited; those that are shown do not count again.
    """
    numbers = {doc_id: Cited(number) for number, doc_id in shown.items()}
    left = [doc_id for doc_id in dict.fromkeys(others) if doc_id not in numbers]
    return numbers | {
        doc_id: Cited(number, shown=False) for number, doc_id in enumerate(left, max(shown, default=0) + 1)
    }
