"""A query generator's compile: documents and the experts' queries in, a measured generator out.

The value of a question is 0 when it is rejected, repeated or close to a copy of an expert's, else 1/2 to 1 by its
likeness to the nearest expert query; a passage without a question is worth one 0. Both halves of the objective are thus
means over questions, and differences have intervals over documents.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import ClassVar

import dspy
import numpy as np

from judgec.compile.contest import Contest, Contested, RatedProgram
from judgec.compile.queries.saved import TASK, CompiledGenerator, load_generator
from judgec.compile.quotations import dropped, rewrite_without_repeats
from judgec.compile.search.candidates import Candidate
from judgec.compile.track import Metrics, flat
from judgec.labels.split.family import Split
from judgec.lm.executor import Ask
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
    titled,
)
from judgec.rag.queries.generation.improving import improved
from judgec.rag.queries.pool import Near
from judgec.rag.queries.reliability import Reliability, Rules
from judgec.rag.queries.sampling import seeded
from judgec.rag.retrieval.passages import Passage
from judgec.raters.fencing import fence
from judgec.raters.predictors import with_instructions
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.label import Item
from judgec.records.tasks.reliability import FAULTS
from judgec.report.page.page import Found

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


REPEATED = "repeated"
WHY = FAULTS | {REPEATED: "It is asked already.", "unscored": "No verdict on it could be read."}
OF_THE_SET = "no interval: likeness compares distributions, a resample of few questions is less alike by itself"
SIDES = ("compiled", "uncompiled")
MEASURED = ("value", "accepted", "likeness")


@dataclass(frozen=True, kw_only=True)
class GeneratorContest(Contest[Tried]):
    """The parts of a compile that only query generators have.

    Args:
        passages: What questions are written from, in the order of the items; documents are split.
        experts: Expert queries.
        per_passage: Questions a passage.
        reliability: What accepts a question.
        embed: Vectors of texts, unit length.
        ask: The way to the one that writes.
        rewriter: The way to the model that rewrites instructions, or None.
        reads: The way to the one that answers: the model that writes, at temperature 0.
    """

    task: ClassVar[str] = TASK
    noun: ClassVar[str] = "generator"
    worth: ClassVar[str] = "value of a question"
    units: ClassVar[str] = "documents"
    option: ClassVar[str] = "--index"
    objective: ClassVar[str] = "accepted x likeness"
    fields: ClassVar[tuple[str, ...]] = tuple(sorted(QueryGenerator().write.signature.input_fields))
    on_card: ClassVar[tuple[str, str]] = ("accepted", "accept_agreement")  # the name that judges' cards have for it
    headline: ClassVar[tuple[str, ...]] = (
        *(f"test.{side}.{name}" for side in SIDES for name in MEASURED),
        *("test.difference", "test.difference.low", "test.difference.high", "test.difference.accepted"),
        *("test.n", "lm_calls", "cost_usd", "seconds"),
    )

    passages: Sequence[Passage]
    experts: Sequence[str]
    per_passage: int
    reliability: Reliability
    embed: Embed
    ask: Ask
    rewriter: Ask | None
    reads: Ask | None = None

    def candidates(self, split: Split, watch: Watch) -> Iterator[Candidate]:
        """Yields topics that rules may ask about; or prompts, from what the uncompiled generator wrote on train."""
        if self.lm.no_model:
            yield from (Candidate(name, CompiledGenerator(style=style)) for name, style in TASTES.items())
            return
        watch.stage("train", f"{plural(len(split.train), 'passage')}")
        tried = self.rate(self.start, split.train).made
        if len(self.experts) > SHOWN:
            chosen = sorted(seeded(self.seed, "examples").sample(range(len(self.experts)), SHOWN))
            yield Candidate(f"{SHOWN} examples", CompiledGenerator(tuple(self.experts[i] for i in chosen)))
        if any(not one.faults for one in tried):
            yield Candidate("demonstration", self.demonstrated(tried))
        if self.rewriter is not None:
            yield from self._rewritten(tried, self.rewriter, watch)

    def demonstrated(self, tried: Sequence[Tried]) -> CompiledGenerator:
        """The passage whose questions were accepted most often, shown as a worked example with those questions."""
        by: dict[str, list[Tried]] = {}
        for one in tried:
            if not one.faults:
                by.setdefault(one.passage.passage_id, []).append(one)
        best, module = max(by.values(), key=len), CompiledGenerator()
        module.write.demos = [
            dspy.Example(
                passage=fence("passage", titled(best[0].passage)),
                examples=fence("examples", tuple(self.experts)),
                count=str(len(best)),
                queries="\n".join(one.query for one in best),
            )
        ]
        return module

    def _rewritten(self, tried: Sequence[Tried], ask: Ask, watch: Watch) -> Iterator[Candidate]:
        """Yields instructions that a model rewrote; those that repeat a passage are dropped."""
        instructions = str(self.start.write.signature.instructions)
        rejected, accepted = [one for one in tried if one.faults], [one.query for one in tried if not one.faults]
        known, repeats = {instructions, ""}, list[str]()
        for number in range(1, PROPOSALS + 1):
            rng = seeded(self.seed, "rewrite", number)
            some = rng.sample(rejected, min(QUOTED, len(rejected)))
            others = rng.sample(accepted, min(QUOTED, len(accepted)))
            listed = {"accepted": tuple(others), "experts": tuple(self.experts)}
            given = {name: fence("contexts", texts) if texts else "(none)" for name, texts in listed.items()}
            given |= {"told": instructions, "rejected": rejected_with_passages(some) or "(none)"}
            rewrite = partial(improved, given, ask, self.seed * PROPOSALS + number)
            text = rewrite_without_repeats(rewrite, given, [instructions, *WHY.values()], repeats)
            if text not in known:
                known.add(text)
                yield Candidate(f"rewrite {number}", with_instructions(self.start, text))
        if repeats:
            watch.note(dropped("rewrite", repeats))

    def champion(self, version: int) -> CompiledGenerator:
        """The version in use."""
        return load_generator(self.home, f"{self.name}@{version}")

    def rate(self, program: CompiledGenerator, rows: Sequence[int]) -> RatedProgram[Tried]:
        """Write and value questions."""
        generator: Generator = RuleGenerator(self.seed, program.style)
        if not self.lm.no_model:
            shown = program.examples or self.experts
            generator = PromptedGenerator(
                self.lm.model, self.ask, shown, reads=self.reads, seed=self.seed, module=program
            )
        return self.valued(generator, [self.passages[i] for i in rows])

    def valued(self, generator: Generator, passages: Sequence[Passage]) -> RatedProgram[Tried]:
        """Let a generator write questions with their answers, and value them."""
        near, failed, new = Near(), Counter[str](), list[bool]()
        for text in self.experts:
            near.add(text)
        made, empty = list[Asked](), list[Passage]()
        for passage, written in zip(passages, generator.write(passages, self.per_passage), strict=True):
            if isinstance(written, str) or not written:
                failed[(written if isinstance(written, str) else "no question").partition(":")[0]] += 1
                empty.append(passage)
                continue
            for one in written:
                made.append((passage, one))
                new.append(not near.seen(one.query))
                near.add(one.query)
        asked = [pair for pair, is_new in zip(made, new, strict=True) if is_new]
        done = iter(completed(asked, generator, self.reliability, references=True))
        found = [next(done) if is_new else (REPEATED,) for is_new in new]
        tried = [
            Tried(one.query, passage, () if isinstance(faults, Written) else faults)
            for (passage, one), faults in zip(made, found, strict=True)
        ]
        accepted = np.array([not one.faults for one in tried] + [False] * len(empty), dtype=np.float64)
        like = np.zeros(len(accepted))
        if tried:
            nearest = (self.embed([one.query for one in tried]) @ self.embed(self.experts).T).max(axis=1)
            like[: len(tried)] = np.clip(nearest, 0.0, 1.0)
        documents = {doc_id: code for code, doc_id in enumerate(dict.fromkeys(one.doc_id for one in passages))}
        cluster = [documents[one.doc_id] for one in (*(one.passage for one in tried), *empty)]
        whole = closeness([one.query for one in tried if not one.faults], self.experts, self.embed)["likeness"]
        known, note = (whole, OF_THE_SET) if isinstance(whole, float) else (None, "nothing was accepted")
        share = float(accepted.mean()) if len(accepted) else None
        return RatedProgram(
            {"value": accepted * (1 + like) / 2, "accepted": accepted},
            np.array(cluster, dtype=np.int64),
            tried,
            row={"accepted": share, "likeness": known, "queries": len(tried), "failed": dict(failed)},
            of_all={"likeness": Estimate(value=known, note=note, n=int(accepted.sum()))},
        )

    def calls(self, n: int) -> int:
        """Of each generator one to write, and to answer and judge each question, alone and answered."""
        each = 1 + 2 * int(self.reliability.name != Rules.name)
        return 3 * n * (1 + each * self.per_passage)

    def tree(self, program: CompiledGenerator) -> dict[str, object]:
        """Its prompt, the examples that it shows, and what rules ask about."""
        taste = None if program.style is None else asdict(program.style)
        return {"prompts": super().tree(program), "examples": list(program.examples), "taste": taste}

    def report(self, found: Contested[Tried]) -> dict[str, object]:
        """What it was compiled for, and the estimates as ``compiled.value``."""
        tested = {who: one.estimates() for who, one in found.test.items()}
        return {
            "task": TASK,
            "objective": self.objective,
            "reliability": self.reliability.name,
            "test": {f"{who}.{name}": one.to_json() for who, of in tested.items() for name, one in of.items()},
        }

    def metrics(self, found: Found) -> Metrics:
        """As in the report; differences are ``test.difference`` and ``test.difference.accepted``."""
        gap = {"difference": found["difference"]["objective"], "difference.accepted": found["difference"]["accepted"]}
        return flat("test", {**found["test"], **gap})


def items_of(passages: Sequence[Passage]) -> list[Item]:
    """Passages as what is split, by document."""
    return [Item(one.passage_id, one.doc_id, {"query": one.text}) for one in passages]
