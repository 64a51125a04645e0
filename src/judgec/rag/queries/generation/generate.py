"""Test queries from documents: long passages, several models, one pool, a sample of each model's share."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from judgec.errors import GateError, UserError
from judgec.rag.queries.generation.generator import Asked, Generator, Written
from judgec.rag.queries.pool import deduplicate, stratified
from judgec.rag.queries.reliability import ANSWERED, ASPECTS, UNSCORED, Faults, Pair, Reliability
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
    made: list[Asked] = field(default_factory=list)
    done: dict[int, Written | Faults] = field(default_factory=dict)  # by position in ``made``
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
    references: bool = False,
    rubrics: bool = False,
    seed: int = 0,
) -> Pool:
    """Write, pool, deduplicate, filter, answer, sample.

    Every model is given the same passages in the same order, until it has as many distinct and reliable queries as its
    share of the sample, or the passages are used up.

    Args:
        passages: In the order to use them.
        generators: The models.
        per_passage: Most queries of one model from one passage.
        sizes: How many queries of each model, by name; None takes all.
        experts: Their queries, which no generated one may repeat.
        most_passages: Passages a model is given at most; None: as many as there are, or 20 without ``sizes``.
        reliability: Drops what cannot be trusted; None keeps all.
        references: Ask for an answer to each question that passes; one without is dropped.
        rubrics: Ask for what a good answer says, likewise.
        seed: Of the sample.

    Raises:
        UserError: When a model falls short of its share, with the reasons.
        GateError: When no query is left of any model.
    """
    models = {generator.name: _Model(generator) for generator in generators}
    complete = partial(completed, reliability=reliability, references=references, rubrics=rubrics)
    limit = most_passages or (len(passages) if sizes is not None else PASSAGES)
    usable = passages[:limit]
    while True:
        kept, dropped = _usable(models, experts, complete, seed)
        have = Counter(one.lm for one in kept)
        due = [
            model
            for name, model in models.items()
            if model.given < len(usable) and (sizes is None or have[name] < sizes.get(name, 0))
        ]
        if not due:
            break
        for model in due:
            _write(model, usable[model.given : model.given + AT_ONCE], per_passage)

    def gave(name: str) -> str:
        model = models[name]
        reasons = "; ".join(f"{count} {reason}" for reason, count in sorted(dropped[name].items())) or "nothing dropped"
        passed = f"{model.given} of {len(passages)} passages gave {len(model.made)} ({reasons})"
        return f"{have[name]} usable queries: {passed}"

    if not kept:
        why = "\n".join(f"{name}: {gave(name)}" for name in models)
        raise GateError(f"{why}; one at least is needed. Add documents, or name another model.")
    sample, missing = stratified([one.lm for one in kept], sizes if sizes is not None else have, seed)
    if missing:
        raise UserError(
            "\n".join(
                f"--sample {name}={sizes[name]}: {gave(name)}. Lower it to {have[name]}, raise --per-passage, or add "
                "documents."
                for name in missing
                if sizes is not None
            )
        )
    return Pool(
        queries=tuple(kept[number] for numbers in sample.values() for number in numbers),
        pooled={name: have[name] for name in models},
        written={name: len(model.made) for name, model in models.items()},
        dropped=dropped,
        passages={name: model.given for name, model in models.items()},
    )


def _write(model: _Model, batch: Sequence[Passage], per_passage: int) -> None:
    for passage, written in zip(batch, model.generator.write(batch, per_passage), strict=True):
        if isinstance(written, str):
            model.failed[written.partition(":")[0]] += 1
            continue
        model.made += [(passage, one) for one in written]
    model.given += len(batch)


def _usable(
    models: Mapping[str, _Model],
    experts: Sequence[str],
    complete: Callable[[Sequence[Asked], Generator], Sequence[Written | Faults]],
    seed: int,
) -> tuple[list[Generated], dict[str, dict[str, int]]]:
    """Queries that repeat no other and pass, with what was asked for of them; and what was dropped, by model."""
    made = [(name, k, one.query) for name, model in models.items() for k, (_, one) in enumerate(model.made)]
    pooled = deduplicate([query for *_, query in made], [name for name, *_ in made], experts)
    kept: list[Generated] = []
    dropped: dict[str, dict[str, int]] = {}
    for name, model in models.items():
        counts = Counter({**pooled.dropped.get(name, {})}) + model.failed
        distinct = [made[number][1] for number in pooled.kept if made[number][0] == name]
        new = [k for k in distinct if k not in model.done]
        model.done |= zip(new, complete([model.made[k] for k in new], model.generator), strict=True)
        for passage, done in ((model.made[k][0], model.done[k]) for k in distinct):
            if isinstance(done, Written):
                kept.append(Generated(done.query, passage, name, seed, done.reference, done.nuggets))
            else:
                counts[f"unreliable ({done[0]})"] += 1
        dropped[name] = dict(counts)
    return kept, dropped


def completed(
    asked: Sequence[Asked],
    generator: Generator,
    reliability: Reliability | None,
    *,
    references: bool,
    rubrics: bool = False,
) -> list[Written | Faults]:
    """Each question with what was asked for of it, or the conditions that it fails.

    A question is checked by itself; what passes is answered, and checked with its answer; a rubric is written of what
    passes both. So nothing is paid for what an earlier step drops.

    Args:
        asked: The questions.
        generator: Who wrote them.
        reliability: Checks them; None checks nothing.
        references: Ask for answers; a question that the passage does not answer fails.
        rubrics: Ask for rubrics.
    """
    found: list[Written | Faults] = [one for _, one in asked]

    def each(act: Callable[[list[Asked]], Sequence[Written | str | Faults]]) -> None:
        """Do something to the questions that have not failed."""
        rows = [row for row, one in enumerate(found) if isinstance(one, Written)]
        some = [(asked[row][0], one) for row, one in enumerate(found) if isinstance(one, Written)]
        for row, now in zip(rows, act(some) if rows else (), strict=True):
            found[row] = (UNSCORED,) if isinstance(now, str) else now

    def check(some: list[Asked], answers: bool) -> list[Written | Faults]:
        pairs = [Pair(one.query, f"{at.title}\n{at.text}", one.reference if answers else "") for at, one in some]
        faults = [()] * len(pairs) if reliability is None else reliability.faults(pairs)
        kinds = {ANSWERED, UNSCORED} if answers else {*ASPECTS, UNSCORED}
        return [
            tuple(fault for fault in of if fault in kinds) or one for of, (_, one) in zip(faults, some, strict=True)
        ]

    each(lambda some: check(some, False))
    if references:
        each(lambda some: generator.complete(some, "reference"))
        each(lambda some: [one if one.reference else (ANSWERED,) for _, one in some])
        each(lambda some: check(some, True))
    if rubrics:
        each(lambda some: generator.complete(some, "nuggets"))
    return found


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
