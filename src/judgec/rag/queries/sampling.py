"""Samples the chunks that questions are made from: by strategies, without replacement, spread over documents."""

import hashlib
import random
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, zip_longest
from pathlib import Path
from typing import TypeAlias, TypeVar

from judgec.errors import UserError
from judgec.rag.functions import PYTHON, python_function
from judgec.rag.queries.filters import passing
from judgec.rag.retrieval.passages import Passage
from judgec.records.scenario.schema import PassageCut, Scenario

WITHIN_FIGURES = frozenset(".,:")  # 9.30, 1,299 and 17:45 are not cut
_WORD = re.compile(r"\S+")


def cut(text: str, how: PassageCut) -> list[str]:
    """Chunks of ``text`` in order; every character but white space at the ends of a chunk is in one.

    A piece between two separators that is longer than a chunk is cut at spaces, a word that is longer anywhere.

    Args:
        text: The document.
        how: Separator, size, overlap and their unit.

    Returns:
        Chunks of at most ``how.size``; each begins with whole pieces of at most ``how.overlap`` from the end of the
        one before it.
    """
    measure = len if how.unit == "characters" else words
    pieces = _pieces(text, how, measure)
    chunks: list[str] = []
    held: list[str] = []
    size = fresh = 0
    for piece in pieces:
        length = measure(piece)
        if size + length > how.size and fresh:
            chunks.append("".join(held))
            kept: list[str] = []
            size = fresh = 0
            for old in reversed(held):
                if size + measure(old) > min(how.overlap, how.size - length):
                    break
                kept.insert(0, old)
                size += measure(old)
            held = kept
        held.append(piece)
        size += length
        fresh += 1
    if fresh:
        chunks.append("".join(held))
    return [chunk for raw in chunks if (chunk := raw.strip())]


def words(text: str) -> int:
    """Words of a text: what stands between white space."""
    return len(_WORD.findall(text))


def chunks_of(doc_id: str, title: str, text: str, how: PassageCut) -> list[Passage]:
    """The chunks of a document, numbered from 0."""
    return [
        Passage(passage_id=f"{doc_id}#{number}", doc_id=doc_id, title=title, text=part)
        for number, part in enumerate(cut(text, how))
    ]


def _pieces(text: str, how: PassageCut, measure: Callable[[str], int]) -> list[str]:
    mark = re.escape(how.separator)
    within = rf"(?!(?<=\d{mark})\d)" if how.separator in WITHIN_FIGURES else ""
    whole = re.split(f"(?<={mark}){within}", text)
    pieces: list[str] = []
    for piece in whole:
        if measure(piece) <= how.size:
            pieces.append(piece)
            continue
        for word in re.findall(r"\s*\S+\s*", piece):
            if how.unit == "tokens" or len(word) <= how.size:
                pieces.append(word)
            else:
                pieces += [word[at : at + how.size] for at in range(0, len(word), how.size)]
    return [piece for piece in pieces if piece]


T = TypeVar("T")
THIRDS = 3  # strata where nothing else tells documents or chunks apart


def arranged(
    strategy: str, things: Sequence[T], rng: random.Random, strata: Callable[[Sequence[T]], Sequence[Hashable]]
) -> list[T]:
    """Documents, or the chunks of one document, in the order in which they are taken.

    Args:
        strategy: ``random``; ``iterate``, as they come; ``stratified``, one of each stratum in turn, at random within
            it; or ``python:module:function``, called with the things and ``rng``, which returns those to take.
        things: All there are.
        rng: Decides what is random.
        strata: The stratum of each.

    Raises:
        UserError: When a function cannot be imported, fails, or returns something else than some of the things.
    """
    if strategy == "iterate":
        return list(things)
    if strategy.startswith(PYTHON):
        return _by_function(strategy, things, rng)
    mixed = list(things)
    rng.shuffle(mixed)
    if strategy == "random":
        return mixed
    of = {id(thing): stratum for thing, stratum in zip(things, strata(things), strict=True)}
    groups: dict[Hashable, list[T]] = {stratum: [] for stratum in of.values()}
    for thing in mixed:
        groups[of[id(thing)]].append(thing)
    order = list(groups.values())
    rng.shuffle(order)  # else the first stratum had one more than the last wherever they do not come out even
    return [thing for turn in zip_longest(*order) for thing in turn if thing is not None]


def folders(names: Iterable[str], sizes: Sequence[int]) -> Sequence[Hashable]:
    """Strata of documents: their folders; where all are in one, the shortest, the middle and the longest third."""
    found = [name.rpartition("/")[0] for name in names]
    if len(set(found)) > 1:
        return found
    rank = {at: place for place, at in enumerate(sorted(range(len(sizes)), key=lambda at: sizes[at]))}
    return [THIRDS * rank[at] // len(sizes) for at in range(len(sizes))]


def places(n: int) -> Sequence[Hashable]:
    """Strata of the chunks of a document: its beginning, its middle and its end."""
    return [THIRDS * at // n for at in range(n)]


def _by_function(reference: str, things: Sequence[T], rng: random.Random) -> list[T]:
    function = python_function(reference, Path(), "strategy")
    try:
        given = list(function(list(things), rng))
    except Exception as error:
        said = f"{type(error).__name__}: {str(error)[:200]}"
        raise UserError(f"strategy {reference}: {said}; a list of what it was given is needed. Mend it.") from error
    known = {id(thing) for thing in things}
    strange = next((thing for thing in given if id(thing) not in known), None)
    if strange is not None:
        raise UserError(
            f"strategy {reference}: it returned {str(strange)[:80]!r}; documents or chunks that it was given "
            "are valid. Mend it."
        )
    return given


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
        turn: How often all documents were used before, so that these chunks may have been drawn, too.
    """

    key: str
    chunks: tuple[Passage, ...]
    seed: int
    turn: int = 0


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
            yield Draw(key, drawn, seeded(seed, key).randrange(2**31), turn)
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
