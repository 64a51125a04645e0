"""Test queries from documents: long passages, several models, one pool, a sample of each model's share."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judgec.errors import UserError
from judgec.rag.queries.generation.generator import Generator
from judgec.rag.queries.pool import deduplicate, stratified
from judgec.rag.queries.reliability import Pair, Reliability
from judgec.rag.queries.sampling import SampledDocument, seeded
from judgec.rag.retrieval.parsing.chunking import Chunking
from judgec.rag.retrieval.parsing.document import Section
from judgec.rag.retrieval.passages import Passage
from judgec.records.claim import NUGGETS

PASSAGES = 20  # without --sample and --passages
AT_ONCE = 16  # passages that a model is given before its shortfall is looked at again


@dataclass(frozen=True, slots=True)
class Generated:
    """A query with where it came from.

    Args:
        query: The question.
        passage: The long passage.
        lm: Who wrote it.
        seed: Of the run.
        reference: The answer; empty where none was asked for.
        nuggets: What a good answer says; empty where that was not asked for.
    """

    query: str
    passage: Passage
    lm: str
    seed: int
    reference: str = ""
    nuggets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pool:
    """Queries that a run wrote.

    Args:
        queries: The sample, by model in the order named.
        pooled: How many distinct queries each model had.
        written: How many queries each model wrote.
        dropped: By model, how many were dropped, by reason; replies that could not be read count once.
        passages: How many passages each model was given.
    """

    queries: tuple[Generated, ...]
    pooled: Mapping[str, int]
    written: Mapping[str, int]
    dropped: Mapping[str, Mapping[str, int]]
    passages: Mapping[str, int]


def long_passages(documents: Sequence[SampledDocument], size: str, seed: int) -> Iterator[Passage]:
    """Passages of up to ``size`` (``2000t``: tokens) in seeded order, each once."""
    how = Chunking.parse(size)
    passages = [
        Passage(f"{one.doc_id}@{number}", one.doc_id, chunk.text, one.title)
        for one in sorted(documents, key=lambda document: document.doc_id)
        for number, chunk in enumerate(how.split([Section(one.text)]))
    ]
    seeded(seed, "long passages").shuffle(passages)
    yield from passages


@dataclass
class _Model:
    generator: Generator
    made: list[Generated] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    given: int = 0


def generate(
    passages: Sequence[Passage],
    generators: Sequence[Generator],
    *,
    per_passage: int,
    sizes: Mapping[str, int] | None,
    experts: Sequence[str] = (),
    most_passages: int | None = None,
    reliability: Reliability | None = None,
    seed: int = 0,
) -> Pool:
    """Write, pool, deduplicate, filter, sample.

    Every model is given the same passages in the same order, until it has as many distinct and reliable queries as its
    share of the sample, or the passages are used up.

    Args:
        passages: In the order to use them.
        generators: The models.
        per_passage: Most queries of one model from one passage.
        sizes: How many queries of each model, by name; None takes all.
        experts: Their queries, which no generated one may repeat.
        most_passages: Passages a model is given at most; None: as many as there are, or 20 without ``sizes``.
        reliability: Drops pairs that cannot be trusted; None keeps all.
        seed: Of the sample.

    Raises:
        UserError: When a model falls short of its share, with the reasons.
    """
    models = {generator.name: _Model(generator) for generator in generators}
    limit = most_passages or (len(passages) if sizes is not None else PASSAGES)
    usable = passages[:limit]
    while True:
        kept, dropped = _distinct(models, experts, reliability)
        have = Counter(one.lm for one in kept)
        due = [
            model
            for name, model in models.items()
            if model.given < len(usable) and (sizes is None or have[name] < sizes.get(name, 0))
        ]
        if not due:
            break
        for model in due:
            _write(model, usable[model.given : model.given + AT_ONCE], per_passage, seed)
    strata = [one.lm for one in kept]
    sample, missing = stratified(strata, sizes if sizes is not None else have, seed)
    if missing:
        raise UserError(_shortfall(missing, models, have, dropped, sizes or {}, len(passages)))
    return Pool(
        queries=tuple(kept[number] for numbers in sample.values() for number in numbers),
        pooled={name: have[name] for name in models},
        written={name: len(model.made) for name, model in models.items()},
        dropped=dropped,
        passages={name: model.given for name, model in models.items()},
    )


def _write(model: _Model, batch: Sequence[Passage], per_passage: int, seed: int) -> None:
    name = model.generator.name
    for passage, written in zip(batch, model.generator.write(batch, per_passage), strict=True):
        if isinstance(written, str):
            model.failed[written.partition(":")[0]] += 1
            continue
        model.made += [Generated(one.query, passage, name, seed, one.reference, one.nuggets) for one in written]
    model.given += len(batch)


def _distinct(
    models: Mapping[str, _Model], experts: Sequence[str], reliability: Reliability | None
) -> tuple[list[Generated], dict[str, dict[str, int]]]:
    made = [one for model in models.values() for one in model.made]
    pooled = deduplicate([one.query for one in made], [one.lm for one in made], experts)
    dropped = {name: Counter({**pooled.dropped.get(name, {})}) + model.failed for name, model in models.items()}
    kept = [made[number] for number in pooled.kept]
    if reliability is not None and kept:
        pairs = [Pair(one.query, f"{one.passage.title}\n{one.passage.text}", one.reference) for one in kept]
        faults = reliability.faults(pairs)
        for one, fault in zip(kept, faults, strict=True):
            if fault:
                dropped[one.lm][f"unreliable ({fault[0]})"] += 1
        kept = [one for one, fault in zip(kept, faults, strict=True) if not fault]
    return kept, {name: dict(counts) for name, counts in dropped.items()}


def _shortfall(
    missing: Mapping[str, int],
    models: Mapping[str, _Model],
    have: Mapping[str, int],
    dropped: Mapping[str, Mapping[str, int]],
    sizes: Mapping[str, int],
    passages: int,
) -> str:
    lines = []
    for name in missing:
        model = models[name]
        reasons = "; ".join(f"{count} {reason}" for reason, count in sorted(dropped[name].items())) or "nothing dropped"
        lines.append(
            f"--sample {name}={sizes[name]}: {have[name]} usable queries: {model.given} of {passages} passages gave "
            f"{len(model.made)} ({reasons}). Lower it to {have[name]}, raise --per-passage, or add documents."
        )
    return "\n".join(lines)


def rows(pool: Pool, *, references: bool, rubrics: bool = False) -> Iterator[dict[str, object]]:
    """JSON-ready rows, one a query: a file that ``judgec answer``, ``evaluate`` and ``probe`` read."""
    for number, one in enumerate(pool.queries, 1):
        row: dict[str, object] = {"query_id": f"g{number}", "query": one.query}
        if references:
            row["reference"] = one.reference
        if rubrics:
            row[NUGGETS] = list(one.nuggets)
        yield {
            **row,
            "lm": one.lm,
            "seed": one.seed,
            "doc_id": one.passage.doc_id,
            "doc_ids": [one.passage.doc_id],
            "passage_id": one.passage.passage_id,
            "title": one.passage.title,
            "passage": one.passage.text,
        }
