"""``compile_queries``: documents and the experts' queries in, a measured query generator out.

The value of a question is 0 when it is rejected, repeated or close to a copy of an expert's, else 1/2 to 1 by its
likeness to the nearest expert query; a passage without a question is worth one 0. Both halves of the objective are thus
means over questions, and differences have intervals over documents.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.compiler.queries.candidates import UNCOMPILED, QueryCandidate, Tried, by_prompt, by_rules
from judgec.compiler.queries.saved import CompiledGenerator
from judgec.compiler.settings import MIN_TEST_QUERIES
from judgec.errors import UserError
from judgec.lm.executor import Ask
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Watch
from judgec.queries.generation.diversity import Embed, closeness
from judgec.queries.generation.generator import Generator, PromptedGenerator, RuleGenerator
from judgec.queries.pool import Near
from judgec.queries.reliability import Pair, Reliability
from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray, Item
from judgec.report.numbers import show
from judgec.retrieval.passages import Passage
from judgec.stats.agreement.statistic import SHARE, mean
from judgec.stats.intervals.bootstrap import difference_interval, interval
from judgec.stats.intervals.significance import level_for_look
from judgec.store.splits import Split, split_items

REPEATED = "repeated"
OF_THE_SET = "no interval: likeness compares distributions, a resample of few questions is less alike by itself"


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """What a compile of a generator is asked for.

    Args:
        per_passage: Questions a passage.
        seed: Of examples and rewrites.
        rewrites: Whether a model rewrites the instructions.
        references: Whether answers are generated, so that the filter can judge them too.
        resamples: Of each interval below 40 documents.
    """

    per_passage: int = 5
    seed: int = 0
    rewrites: bool = True
    references: bool = True
    resamples: int = 2000


@dataclass(frozen=True)
class ScoredPassages:
    """A candidate on some passages.

    Args:
        candidate: The generator.
        values: Of each question, 0 to 1.
        accepted: 1 where it was accepted.
        cluster: Code of its document.
        tried: The questions with their faults.
        likeness: Of the accepted questions as a set, see ``closeness``; None without any.
        failed: Passages without a question, by reason.
    """

    candidate: QueryCandidate
    values: FloatArray
    accepted: FloatArray
    cluster: IntArray
    tried: tuple[Tried, ...]
    likeness: float | None
    failed: Counter[str]

    @property
    def value(self) -> float:
        """The objective: the mean value of a question."""
        return float(self.values.mean()) if len(self.values) else 0.0


@dataclass(frozen=True)
class CompiledQueries:
    """What a compile found out.

    Args:
        chosen: The winner.
        dev: Every candidate on the dev documents, in the order tried.
        test: The winner and the uncompiled generator on the test documents.
        estimates: By ``compiled.accepted``, ``uncompiled.value`` and the like.
        difference: Of the objective, at the level of this look.
        accepted_difference: Of the accepted share, at 95 %.
        promoted: Whether the difference excludes 0.
        reason: Why, or why not.
        split: Of the passages, by document.
        items: The passages, as they were split.
        look: Which look at this test split it was.
    """

    chosen: QueryCandidate
    dev: tuple[ScoredPassages, ...]
    test: tuple[ScoredPassages, ScoredPassages]
    estimates: dict[str, Estimate]
    difference: Estimate
    accepted_difference: Estimate
    promoted: bool
    reason: str
    split: Split
    items: tuple[Item, ...]
    look: int


def compile_queries(
    passages: Sequence[Passage],
    experts: Sequence[str],
    spec: LMSpec,
    settings: QuerySettings,
    watch: Watch,
    *,
    reliability: Reliability,
    embed: Embed,
    ask: Ask,
    rewriter: Ask | None,
    salt: str,
    look: int,
) -> CompiledQueries:
    """Compile a generator; nothing is written but the journal.

    Args:
        passages: Long ones; their documents are split into train, dev and test.
        experts: The experts' queries.
        spec: The model that writes.
        settings: What was asked for.
        watch: Told where the compile is.
        reliability: Who accepts.
        embed: Texts to unit vectors.
        ask: The way to the model that writes questions.
        rewriter: The way to the model that rewrites instructions, or None.
        salt: The family's.
        look: Which look at the test split this is.

    Raises:
        UserError: When a part of the split is empty.
        ServiceError: When the model fails for good.
    """
    items = tuple(Item(one.passage_id, one.doc_id, {"query": one.text}) for one in passages)
    split = split_items(items, salt)
    if not (split.train and split.dev and split.test):
        raise UserError(
            f"--index: {len(passages)} passages of {len({one.doc_id for one in passages})} documents leave a part of "
            f"the split empty ({split.sizes()}); about twenty documents are needed. Add some."
        )

    def run(candidate: QueryCandidate, part: Sequence[int]) -> ScoredPassages:
        generator = _generator(candidate, spec, ask, experts, settings)
        return score(
            candidate, generator, [passages[i] for i in part], experts, reliability, embed, settings.per_passage
        )

    if spec.embedded:
        candidates = by_rules()
    else:
        watch.stage("train", f"{len(split.train)} passages")
        tried = run(QueryCandidate(UNCOMPILED, CompiledGenerator()), split.train).tried
        candidates = by_prompt(tried, experts, rewriter if settings.rewrites else None, settings.seed)
    watch.stage("dev", f"{len(candidates)} candidates on {len(split.dev)} passages")
    dev = tuple(run(candidate, split.dev) for candidate in candidates)
    best = max(dev, key=lambda scored: scored.value)
    watch.stage("test", f"{best.candidate.name} on {len(split.test)} passages")
    compiled, uncompiled = run(best.candidate, split.test), run(candidates[0], split.test)
    return _decided(dev, compiled, uncompiled, split, items, look, settings)


def score(
    candidate: QueryCandidate,
    generator: Generator,
    passages: Sequence[Passage],
    experts: Sequence[str],
    reliability: Reliability,
    embed: Embed,
    per_passage: int,
) -> ScoredPassages:
    """Let a candidate write, and value what it wrote."""
    documents = {doc_id: code for code, doc_id in enumerate(dict.fromkeys(one.doc_id for one in passages))}
    near = Near()
    for text in experts:
        near.add(text)
    failed: Counter[str] = Counter()
    made: list[tuple[Passage, str, str]] = []
    empty: list[Passage] = []
    for passage, written in zip(passages, generator.write(passages, per_passage), strict=True):
        if isinstance(written, str) or not written:
            failed[(written if isinstance(written, str) else "no question").partition(":")[0]] += 1
            empty.append(passage)
            continue
        made += [(passage, one.query, one.reference) for one in written]
    pairs = [Pair(query, f"{passage.title}\n{passage.text}", reference) for passage, query, reference in made]
    tried = []
    for (passage, query, _), faults in zip(made, reliability.faults(pairs), strict=True):
        tried.append(Tried(query, passage, (REPEATED,) if near.seen(query) else faults))
        near.add(query)
    accepted = np.array([not one.faults for one in tried] + [False] * len(empty), dtype=np.float64)
    like = _likeness([one.query for one in tried], experts, embed)
    values = np.concatenate([accepted[: len(tried)] * (1 + like) / 2, np.zeros(len(empty))])
    cluster = [documents[one.passage.doc_id] for one in tried] + [documents[one.doc_id] for one in empty]
    whole = closeness([one.query for one in tried if not one.faults], experts, embed)["likeness"]
    return ScoredPassages(
        candidate,
        values,
        accepted,
        np.array(cluster, dtype=np.int64),
        tuple(tried),
        whole if isinstance(whole, float) else None,
        failed,
    )


def _likeness(queries: Sequence[str], experts: Sequence[str], embed: Embed) -> FloatArray:
    """Cosine of each query with the nearest expert query, 0 to 1."""
    if not queries:
        return np.zeros(0)
    return np.asarray(np.clip((embed(queries) @ embed(experts).T).max(axis=1), 0.0, 1.0))


def _generator(
    candidate: QueryCandidate, spec: LMSpec, ask: Ask, experts: Sequence[str], settings: QuerySettings
) -> Generator:
    found = candidate.found
    if spec.embedded:
        return RuleGenerator(settings.seed, found.taste)
    return PromptedGenerator(
        spec.model,
        ask,
        found.examples or experts,
        seed=settings.seed,
        references=settings.references,
        module=found.module,
    )


def _decided(
    dev: tuple[ScoredPassages, ...],
    compiled: ScoredPassages,
    uncompiled: ScoredPassages,
    split: Split,
    items: tuple[Item, ...],
    look: int,
    settings: QuerySettings,
) -> CompiledQueries:
    level = 1 - level_for_look(look)
    n_clusters = 1 + max(int(side.cluster.max()) for side in (compiled, uncompiled))
    n = len(compiled.values) + len(uncompiled.values)

    def difference(of: Callable[[ScoredPassages], FloatArray], at: float) -> Estimate:
        one, other = (
            mean(of(side), side.cluster, n_clusters=n_clusters, bounds=SHARE) for side in (compiled, uncompiled)
        )
        return difference_interval(one, other, level=at, resamples=settings.resamples, seed=settings.seed).estimate(n)

    estimates = {}
    for name, side in (("compiled", compiled), ("uncompiled", uncompiled)):
        for what, values in (("value", side.values), ("accepted", side.accepted)):
            found = interval(mean(values, side.cluster, bounds=SHARE), resamples=settings.resamples, seed=settings.seed)
            estimates[f"{name}.{what}"] = found.estimate(len(values))
        note = OF_THE_SET if side.likeness is not None else "nothing was accepted"
        estimates[f"{name}.likeness"] = Estimate(value=side.likeness, note=note, n=int(side.accepted.sum()))
    gain = difference(lambda side: side.values, level)
    promoted, reason = _verdict(gain, compiled, n_clusters)
    return CompiledQueries(
        chosen=compiled.candidate,
        dev=dev,
        test=(compiled, uncompiled),
        estimates=estimates,
        difference=gain,
        accepted_difference=difference(lambda side: side.accepted, 0.95),
        promoted=promoted,
        reason=reason,
        split=split,
        items=items,
        look=look,
    )


def _verdict(gain: Estimate, compiled: ScoredPassages, n_clusters: int) -> tuple[bool, str]:
    if compiled.candidate.name == UNCOMPILED:
        return False, "not shown to be better: no candidate beat the uncompiled generator on dev"
    if n_clusters < MIN_TEST_QUERIES:
        return False, f"never promoted: {n_clusters} test documents, {MIN_TEST_QUERIES} are needed"
    if gain.low is None:
        return False, f"not shown to be better: {gain.note}"
    shown = f"{show(gain, 3, sign=True)} in the value of a question"
    if gain.low > 0:
        return True, f"better than the uncompiled generator: {shown}"
    return False, f"not shown to be better than the uncompiled generator: {shown}"
