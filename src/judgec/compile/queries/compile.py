"""``compile_queries``: documents and the experts' queries in, a measured query generator out.

The value of a question is 0 when it is rejected, repeated or close to a copy of an expert's, else 1/2 to 1 by its
likeness to the nearest expert query; a passage without a question is worth one 0. Both halves of the objective are thus
means over questions, and differences have intervals over documents.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import dspy
import numpy as np

from judgec.compile.pipeline import (
    CHAMPION,
    COMPILED,
    UNCOMPILED,
    Contested,
    KindWords,
    MeanVerdict,
    PipelineSettings,
    contest,
    mean_of,
)
from judgec.compile.queries.saved import TASK, CompiledGenerator, load_generator
from judgec.compile.quotations import dropped, rewrite_without_repeats
from judgec.labels.split.family import Split
from judgec.labels.split.memory import OTHERS, Measured
from judgec.lm.executor import Ask
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Watch
from judgec.rag.queries.generation.diversity import Embed, closeness
from judgec.rag.queries.generation.generate import completed
from judgec.rag.queries.generation.generator import (
    Asked,
    Generator,
    PromptedGenerator,
    QueryGenerator,
    RuleGenerator,
    StyleProfile,
    Written,
    instructed,
    titled,
)
from judgec.rag.queries.generation.improving import improved
from judgec.rag.queries.pool import Near
from judgec.rag.queries.reliability import Reliability, Rules
from judgec.rag.queries.sampling import seeded
from judgec.rag.retrieval.passages import Passage
from judgec.raters.fencing import fence
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray, Item
from judgec.records.tasks.reliability import FAULTS
from judgec.stats.agreement.measure import Resampling
from judgec.stats.agreement.statistic import SHARE, mean
from judgec.stats.intervals.jackknife import difference_interval, interval

SHOWN = 8  # expert queries of a smaller set of examples
PROPOSALS = 3  # rewritten instructions
QUOTED = 12  # rejected and accepted questions that a rewrite sees
ROOM = 24_000  # characters of the passages beside the rejected ones, about 6,000 tokens

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


def by_prompt(
    tried: Sequence[Tried], experts: Sequence[str], ask: Ask | None, seed: int, watch: Watch
) -> list[QueryCandidate]:
    """Fewer examples, a demonstration, rewritten instructions.

    Args:
        tried: What the uncompiled generator wrote on the train documents.
        experts: The experts' queries.
        ask: The way to the model that rewrites; None writes no instructions.
        seed: Of the choice of examples.
        watch: Told of rewrites that were dropped.
    """
    found = []
    if len(experts) > SHOWN:
        chosen = sorted(seeded(seed, "examples").sample(range(len(experts)), SHOWN))
        found.append(
            QueryCandidate(f"{SHOWN} examples", CompiledGenerator(QueryGenerator(), tuple(experts[i] for i in chosen)))
        )
    if (shown := _demonstrated(tried, experts)) is not None:
        found.append(QueryCandidate("demonstration", CompiledGenerator(shown, ())))
    return [*found, *(_rewritten(tried, experts, ask, seed, watch) if ask is not None else [])]


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
            passage=fence("passage", titled(best[0].passage)),
            examples=fence("examples", tuple(experts)),
            count=str(len(best)),
            queries="\n".join(one.query for one in best),
        )
    ]
    return module


def _rewritten(
    tried: Sequence[Tried], experts: Sequence[str], ask: Ask, seed: int, watch: Watch
) -> list[QueryCandidate]:
    instructions = str(QueryGenerator().write.signature.instructions)
    rejected, accepted = [one for one in tried if one.faults], [one.query for one in tried if not one.faults]
    found: list[QueryCandidate] = []
    known, repeats = {instructions, ""}, list[str]()
    for number in range(1, PROPOSALS + 1):
        rng = seeded(seed, "rewrite", number)
        some = rng.sample(rejected, min(QUOTED, len(rejected)))
        others = rng.sample(accepted, min(QUOTED, len(accepted)))
        listed = {"accepted": tuple(others), "experts": tuple(experts)}
        given = {name: fence("contexts", texts) if texts else "(none)" for name, texts in listed.items()}
        given |= {"told": instructions, "rejected": rejected_with_passages(some) or "(none)"}
        rewrite = partial(improved, given, ask, seed * PROPOSALS + number)
        text = rewrite_without_repeats(rewrite, given, [instructions, *WHY.values()], repeats)
        if text not in known:
            known.add(text)
            found.append(QueryCandidate(f"rewrite {number}", CompiledGenerator(instructed(text), ())))
    if repeats:
        watch.note(dropped("rewrite", repeats))
    return found


def rejected_with_passages(rejected: Sequence[Tried]) -> str:
    """Each passage, as far as there is room, with its questions that were rejected and the reasons in words."""
    by: dict[Passage, list[Tried]] = {}
    for one in rejected:
        if one.passage in by or sum(len(passage.text) for passage in (*by, one.passage)) <= ROOM or not by:
            by.setdefault(one.passage, []).append(one)
    lines = []
    for number, (passage, questions) in enumerate(by.items(), 1):
        lines += [f"[{number}]", fence("passage", f"{passage.title}\n{passage.text}".strip())]
        for one in questions:
            why = " ".join(WHY.get(fault, f"It fails in {fault}.") for fault in one.faults)
            lines += [f"Rejected question. {why}", fence("query", one.query)]
    return "\n".join(lines)


MEASURED = Measured(TASK, frozenset({OTHERS[TASK]}))
WORDS = KindWords("generator", "value of a question", "documents", "--index")
REPEATED = "repeated"
WHY = FAULTS | {REPEATED: "It is asked already.", "unscored": "No verdict on it could be read."}
OF_THE_SET = "no interval: likeness compares distributions, a resample of few questions is less alike by itself"


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """Settings of a compile of a query generator.

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

    @property
    def resampling(self) -> Resampling:
        """Settings of the intervals."""
        return Resampling(resamples=self.resamples, seed=self.seed)


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
        return mean_of(self)


@dataclass(frozen=True)
class GeneratorKind:
    """The parts of a compile that only query generators have.

    Args:
        name: The family.
        home: Folder of ``programs/``.
        passages: What questions are written from, in the order of the items; documents are split.
        experts: Expert queries.
        spec: The model that writes.
        settings: What was asked for.
        reliability: What accepts a question.
        embed: Vectors of texts, unit length.
        ask: The way to the one that writes.
        rewriter: The way to the model that rewrites instructions, or None.
        keeping: Keeps so many calls out of the search's reach.
        reads: The way to the one that answers: the model that writes, at temperature 0.
    """

    name: str
    home: Path
    passages: Sequence[Passage]
    experts: Sequence[str]
    spec: LMSpec
    settings: QuerySettings
    reliability: Reliability
    embed: Embed
    ask: Ask
    rewriter: Ask | None
    keeping: Callable[[int], AbstractContextManager[object]]
    reads: Ask | None = None
    measured: Measured = MEASURED
    words: KindWords = WORDS

    @property
    def uncompiled(self) -> QueryCandidate:
        """Every expert query as an example, the instructions as they are."""
        return QueryCandidate(UNCOMPILED, CompiledGenerator(None if self.spec.no_model else QueryGenerator()))

    def candidates(self, split: Split, watch: Watch) -> Iterator[QueryCandidate]:
        """Yields topics that rules may ask about; or prompts, from what the uncompiled generator wrote on train."""
        if self.spec.no_model:
            yield from by_rules()
            return
        watch.stage("train", f"{plural(len(split.train), 'passage')}")
        tried = self.trial(self.uncompiled, split.train).tried
        rewriter = self.rewriter if self.settings.rewrites else None
        yield from by_prompt(tried, self.experts, rewriter, self.settings.seed, watch)

    def champion(self, version: int) -> QueryCandidate:
        """The version in use."""
        return QueryCandidate(CHAMPION, load_generator(self.home, f"{self.name}@{version}"))

    def trial(self, candidate: QueryCandidate, rows: Sequence[int]) -> ScoredPassages:
        """Write and value questions."""
        found, settings = candidate.found, self.settings
        generator: Generator
        if self.spec.no_model:
            generator = RuleGenerator(settings.seed, found.style)
        else:
            shown, model = found.examples or self.experts, self.spec.model
            generator = PromptedGenerator(
                model, self.ask, shown, reads=self.reads, seed=settings.seed, module=found.module
            )
        passages = [self.passages[i] for i in rows]
        about = self.experts, self.reliability, self.embed, settings.per_passage
        return score(candidate, generator, passages, *about, references=settings.references)

    def keeping_back(self, rows: Sequence[int]) -> AbstractContextManager[object]:
        """Calls for three generators on these passages: to write, to judge each question, alone and answered."""
        answers = int(self.settings.references)
        each = answers + (1 + answers) * int(self.reliability.name != Rules.name)
        return self.keeping(3 * len(rows) * (1 + each * self.settings.per_passage))


@dataclass(frozen=True)
class CompiledQueries:
    """Result of a compile of a query generator.

    Args:
        found: Split, candidates, test and verdict.
        estimates: By ``compiled.accepted``, ``uncompiled.value`` and the like.
        accepted_difference: Of the accepted share against the rival, at 95 %.
    """

    found: Contested[QueryCandidate, ScoredPassages]
    estimates: Mapping[str, Estimate]
    accepted_difference: Estimate

    @property
    def chosen(self) -> QueryCandidate:
        """The winner."""
        return self.found.chosen

    @property
    def verdict(self) -> MeanVerdict:
        """The outcome: promoted or not, and why."""
        return self.found.verdict


def compile_queries(kind: GeneratorKind, watch: Watch) -> CompiledQueries:
    """Search generators on train and dev documents, verify on test; nothing is written but the journal.

    Args:
        kind: Passages, experts, models and settings.
        watch: Told where the compile is.

    Raises:
        UserError: Too few documents.
        ServiceError: When a model fails for good.
        BudgetError: When the caps leave too little for the test.
    """
    items = [Item(one.passage_id, one.doc_id, {"query": one.text}) for one in kind.passages]
    how = kind.settings.resampling
    found = contest(kind, items, PipelineSettings(kind.home, kind.name, how.resamples, how.seed), watch)
    estimates = {}
    for who, side in found.test.items():
        estimates[f"{who}.value"] = found.mean_value(who, how)
        estimates[f"{who}.accepted"] = share_of(side.accepted, side.cluster, how)
        note = OF_THE_SET if side.likeness is not None else "nothing was accepted"
        estimates[f"{who}.likeness"] = Estimate(value=side.likeness, note=note, n=int(side.accepted.sum()))
    compiled, rival = found.test[COMPILED], found.test[found.verdict.rival]
    return CompiledQueries(found, estimates, _accepted_difference(compiled, rival, how))


def score(
    candidate: QueryCandidate,
    generator: Generator,
    passages: Sequence[Passage],
    experts: Sequence[str],
    reliability: Reliability,
    embed: Embed,
    per_passage: int,
    *,
    references: bool = False,
) -> ScoredPassages:
    """Let a candidate write, and value what it wrote."""
    documents = {doc_id: code for code, doc_id in enumerate(dict.fromkeys(one.doc_id for one in passages))}
    near = Near()
    for text in experts:
        near.add(text)
    failed: Counter[str] = Counter()
    made: list[Asked] = []
    empty: list[Passage] = []
    for passage, written in zip(passages, generator.write(passages, per_passage), strict=True):
        if isinstance(written, str) or not written:
            failed[(written if isinstance(written, str) else "no question").partition(":")[0]] += 1
            empty.append(passage)
            continue
        made += [(passage, one) for one in written]
    new = []
    for _, one in made:
        new.append(not near.seen(one.query))
        near.add(one.query)
    asked = [pair for pair, is_new in zip(made, new, strict=True) if is_new]
    done = iter(completed(asked, generator, reliability, references=references))
    found = [next(done) if is_new else (REPEATED,) for is_new in new]
    tried = [
        Tried(one.query, passage, () if isinstance(faults, Written) else faults)
        for (passage, one), faults in zip(made, found, strict=True)
    ]
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


def share_of(values: FloatArray, cluster: IntArray, how: Resampling) -> Estimate:
    """The mean of what is 0 or 1, with its interval over documents."""
    found = interval(mean(values, cluster, bounds=SHARE), resamples=how.resamples, seed=how.seed)
    return found.estimate(len(values))


def _accepted_difference(compiled: ScoredPassages, rival: ScoredPassages, how: Resampling) -> Estimate:
    n_clusters = 1 + max(int(side.cluster.max(initial=-1)) for side in (compiled, rival))
    one, other = (mean(side.accepted, side.cluster, n_clusters=n_clusters, bounds=SHARE) for side in (compiled, rival))
    found = difference_interval(one, other, resamples=how.resamples, seed=how.seed)
    return found.estimate(len(compiled.values))
