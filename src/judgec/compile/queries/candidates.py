"""Candidates for a query generator: what it is told, which expert queries it sees, which facts rules take."""

from collections.abc import Sequence
from dataclasses import dataclass

import dspy

from judgec.compile.queries.saved import CompiledGenerator
from judgec.lm.executor import Ask
from judgec.rag.queries.generation.generator import QueryGenerator, StyleProfile, instructed
from judgec.rag.queries.generation.improving import improved
from judgec.rag.queries.sampling import seeded
from judgec.rag.retrieval.passages import Passage
from judgec.raters.fencing import fence

SHOWN = 8  # expert queries of a smaller set of examples
PROPOSALS = 3  # rewritten instructions
QUOTED = 12  # rejected and accepted questions that a rewrite sees

TASTES = {
    "tables first": StyleProfile(tables=True),
    "numbers and dates": StyleProfile(kinds=("number", "date")),
    "numbers and dates, tables first": StyleProfile(kinds=("number", "date"), tables=True),
    "short": StyleProfile(longest=25),
    "short, numbers and dates, tables first": StyleProfile(kinds=("number", "date"), tables=True, longest=25),
}


@dataclass(frozen=True)
class QueryCandidate:
    """A generator that may win.

    Args:
        name: For reports.
        found: What it is.
    """

    name: str
    found: CompiledGenerator


@dataclass(frozen=True, slots=True)
class Tried:
    """A question that the uncompiled generator wrote on the train documents.

    Args:
        query: The question.
        passage: Where it was made from.
        faults: Why it was rejected; empty where it was accepted.
    """

    query: str
    passage: Passage
    faults: tuple[str, ...]


def by_rules() -> list[QueryCandidate]:
    """The tastes that rules can have."""
    return [QueryCandidate(name, CompiledGenerator(style=style)) for name, style in TASTES.items()]


def by_prompt(tried: Sequence[Tried], experts: Sequence[str], ask: Ask | None, seed: int) -> list[QueryCandidate]:
    """Fewer examples, a demonstration, rewritten instructions.

    Args:
        tried: What the uncompiled generator wrote on the train documents.
        experts: The experts' queries.
        ask: The way to the model that rewrites; None writes no instructions.
        seed: Of the choice of examples.
    """
    found = []
    if len(experts) > SHOWN:
        chosen = sorted(seeded(seed, "examples").sample(range(len(experts)), SHOWN))
        found.append(
            QueryCandidate(f"{SHOWN} examples", CompiledGenerator(QueryGenerator(), tuple(experts[i] for i in chosen)))
        )
    if (shown := _demonstrated(tried, experts)) is not None:
        found.append(QueryCandidate("demonstration", CompiledGenerator(shown, ())))
    return [*found, *(_rewritten(tried, experts, ask, seed) if ask is not None else [])]


def _demonstrated(tried: Sequence[Tried], experts: Sequence[str]) -> QueryGenerator | None:
    """The passage whose questions were accepted most often, shown as a worked example with those questions."""
    by: dict[str, list[Tried]] = {}
    for one in tried:
        if not one.faults:
            by.setdefault(one.passage.passage_id, []).append(one)
    if not by:
        return None
    best = max(by.values(), key=len)
    module = QueryGenerator()
    module.write.demos = [
        dspy.Example(
            passage=fence("passage", best[0].passage.text),
            examples=fence("examples", tuple(experts)),
            count=str(len(best)),
            queries="\n".join(one.query for one in best),
        )
    ]
    return module


def _rewritten(tried: Sequence[Tried], experts: Sequence[str], ask: Ask, seed: int) -> list[QueryCandidate]:
    instructions = str(QueryGenerator().write.signature.instructions)
    rejected = [f"{one.query} ({', '.join(one.faults)})" for one in tried if one.faults]
    accepted = [one.query for one in tried if not one.faults]
    found: list[QueryCandidate] = []
    known = {instructions}
    for number in range(1, PROPOSALS + 1):
        rng = seeded(seed, "rewrite", number)
        some = rng.sample(rejected, min(QUOTED, len(rejected)))
        others = rng.sample(accepted, min(QUOTED, len(accepted)))
        text = improved(instructions, some, others, experts, ask, rollout=seed * PROPOSALS + number)
        if text and text not in known:
            known.add(text)
            found.append(QueryCandidate(f"rewrite {number}", CompiledGenerator(instructed(text), ())))
    return found
