"""Samples the chunks that questions are made from: by strategies, without replacement, spread over documents."""

import hashlib
import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from judgec.rag.queries.chunking import chunks_of
from judgec.rag.queries.filters import passing
from judgec.rag.queries.strategies import arranged, folders, places
from judgec.rag.retrieval.passages import Passage
from judgec.records.scenario.schema import PassageCut, Scenario

Usable: TypeAlias = Callable[[Passage], bool]
Chunks: TypeAlias = Callable[[str], list[Passage]]

ROUNDS = 5  # how often a chunk may be drawn, each time for another question


@dataclass(frozen=True, slots=True)
class SampledDocument:
    """A whole document.

    Args:
        doc_id: Unique in a corpus.
        title: Or empty.
        text: What it says.
    """

    doc_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Draw:
    """Chunks that one question is to be made from.

    Args:
        key: The same for the same corpus, scenario and seed.
        chunks: In the order drawn.
        seed: For whatever else is random about the question.
    """

    key: str
    chunks: tuple[Passage, ...]
    seed: int


def seeded(*parts: object) -> random.Random:
    """A generator of random numbers that depends on the parts alone, in every process."""
    text = "\x1f".join(map(str, parts))
    return random.Random(int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big"))


def draws(documents: Sequence[SampledDocument], scenario: Scenario, seed: int, usable: Usable = bool) -> Iterator[Draw]:
    """Sets of chunks to make questions from.

    Documents come in the order of the scenario's strategy, ``questions_per_document`` from each; when all are used,
    further rounds take the chunks that are left, and at last chunks again, with another seed for another question.
    Questions of several documents take one chunk from each of as many. A document is cut when its turn comes.

    Args:
        documents: The corpus.
        scenario: Its chunking, filter and number of chunks.
        seed: Same seed, same draws.
        usable: Whether a question can be made from a chunk at all; by default any.
    """
    by_id = {document.doc_id: document for document in documents}
    known: dict[str, list[Passage]] = {}

    def chunks(doc_id: str) -> list[Passage]:
        if doc_id not in known:
            known[doc_id] = _shuffled(by_id[doc_id], scenario, seed, usable)
        return known[doc_id]

    several = scenario.chunk_sampling.documents == "several"
    strategy = scenario.document_sampling.strategy
    seeded_alone = strategy in {"random", "stratified"}  # then the corpus's own order decides nothing
    given = sorted(documents, key=lambda one: one.doc_id) if seeded_alone else documents
    for turn in count():
        rng = seeded(seed, scenario.id, "documents", turn if several else "")
        order = [one.doc_id for one in arranged(strategy, given, rng, _folders)]
        number = -1
        for number, drawn in enumerate((_across if several else _within)(order, chunks, scenario, turn)):
            key = f"{scenario.id}-{seed}-{turn}-{number}"
            yield Draw(key, drawn, seeded(seed, key).randrange(2**31))
        if number < 0:
            return


def _shuffled(document: SampledDocument, scenario: Scenario, seed: int, usable: Usable) -> list[Passage]:
    how = scenario.chunking
    chunks = _passing(document, how, scenario, usable)
    wanted = scenario.chunk_sampling.chunks
    if scenario.chunk_sampling.documents == "one" and 0 < len(chunks) < wanted:
        # A short document still holds several facts: cut it finer rather than leave it out.
        size = max(1, sum(len(chunk.text) for chunk in chunks) // wanted)
        chunks = _passing(document, PassageCut(separator=how.separator, size=size, overlap=0), scenario, usable)
    rng = seeded(seed, scenario.id, document.doc_id)
    return arranged(scenario.chunk_sampling.strategy, chunks, rng, lambda found: places(len(found)))


def _folders(documents: Sequence[SampledDocument]) -> Sequence[Hashable]:
    return folders([one.doc_id for one in documents], [len(one.text) for one in documents])


def _passing(document: SampledDocument, how: PassageCut, scenario: Scenario, usable: Usable) -> list[Passage]:
    chunks = chunks_of(document.doc_id, document.title, document.text, how)
    return [chunk for chunk in passing(chunks, scenario.chunk_sampling.filter) if usable(chunk)]


def _within(order: Sequence[str], chunks: Chunks, scenario: Scenario, turn: int) -> Iterator[tuple[Passage, ...]]:
    wanted, each = scenario.chunk_sampling.chunks, scenario.document_sampling.questions_per_document
    for doc_id in order:
        own = chunks(doc_id)
        if len(own) < wanted:
            continue
        for number in range(turn * each, (turn + 1) * each):
            if number * wanted < ROUNDS * len(own):
                yield tuple(own[(number * wanted + at) % len(own)] for at in range(wanted))


def _across(order: Sequence[str], chunks: Chunks, scenario: Scenario, turn: int) -> Iterator[tuple[Passage, ...]]:
    group: list[Passage] = []
    for doc_id in order:
        own = chunks(doc_id)
        if turn < ROUNDS * len(own):
            group.append(own[turn % len(own)])
        if len(group) == scenario.chunk_sampling.chunks:
            yield tuple(group)
            group = []
