"""The record of an agent's answer to a query: text, passages, time, tokens, dollars."""

from collections.abc import Sequence
from dataclasses import dataclass

from judgec.rag.retrieval.passages import Hit
from judgec.records.citation import SQUARE, marks

REFUSAL = "The documents do not answer this question."


@dataclass(frozen=True, slots=True)
class Context:
    """A passage as an agent saw it, or as a system under test reported it.

    Args:
        text: With its document's title where the passage does not say it.
        passage_id: Empty where a system does not name its passages.
    """

    text: str
    passage_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One agent's answer to one query.

    Args:
        query_id: Of the query.
        agent: The agent's name.
        text: None when there is none; ``error`` says why.
        contexts: The passages that it rests on, best first.
        cited: Those that it cites, by place in ``contexts`` from 0, in order of first citation.
        citation_form: In which it cites them, as ``records.citation`` has it; empty where nobody knows.
        searched: What was searched for beside the query itself.
        seconds: Of retrieval and model calls, waiting for a free slot aside; None when the replies came from the
            journal.
        input_tokens: Of its model calls, whenever they were paid; None for a system that does not say.
        output_tokens: Likewise.
        usd: What the calls cost when they were paid; None where a price is unknown.
        error: Why there is no answer.
        decision: What the agent decided of what it found, where it decides anything.
    """

    query_id: str
    agent: str
    text: str | None
    contexts: tuple[Context, ...] = ()
    cited: tuple[int, ...] = ()
    citation_form: str = ""
    searched: tuple[str, ...] = ()
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: float | None = None
    error: str | None = None
    decision: str = ""


def shown(hit: Hit) -> Context:
    """A passage as agents see it: its document's title and page above it, where it does not say them itself."""
    passage = hit.passage
    head = [passage.title] if passage.title and passage.title not in passage.text else []
    head += [f"page {passage.page}"] if passage.page is not None else []
    text = f"{', '.join(head)}\n{passage.text}" if head else passage.text
    return Context(text, passage.passage_id)


def citations(text: str, contexts: Sequence[Context]) -> tuple[int, ...]:
    """The places of the contexts that ``[1]``, ``[2]`` ... in a text name, from 0; numbers of none are left out."""
    places = (int(number) - 1 for _, _, said in marks(text, SQUARE, {}) for number in said)
    return tuple(dict.fromkeys(place for place in places if 0 <= place < len(contexts)))
