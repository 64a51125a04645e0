"""The steps of a run: calls that failed or came again, results that nobody used, an answer that no result supports."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log1p

from judgec.evidence.answer_features import JudgedAnswer
from judgec.evidence.overlap import Weight, ratio, support, total
from judgec.evidence.text import Library, StemmedText
from judgec.records.trajectory import TOOL, Step

STEP_NAMES = (
    "count",
    "calls",
    "tools",  # different ones
    "errors",  # share of calls that failed
    "errors_count",
    "error_last",  # the last call failed
    "recovered",  # share of failed calls after which the same tool worked
    "repeated",  # share of calls with the tool and the arguments of an earlier one
    "repeated_run",  # most equal calls one after another
    "repeated_after_error",  # share of repeated calls that had failed before
    "empty",  # share of calls that returned nothing
    "unused",  # share of results of which neither the answer nor a later call has anything new
    "unused_count",
    "unused_last",
    "arguments_known",  # IDF share of the arguments that the question or an earlier result has
    "support",  # IDF share of what the answer adds to the question that stands in any result
    "support_best",  # in the one result that has most of it
    "support_last",
    "sentences_weak",  # share of the answer's sentences with less than half their weight in any result
    "sentence_min",
    "numbers_unsupported",
    "names_unsupported",
    "results_length",
)
NEUTRAL = 0.5  # a share of nothing: neither supported nor unsupported
WEAK = 0.5
USED = 2  # content stems of a result that an answer or a later call repeats, where it has as many
NOTHING = frozenset({"", "[]", "{}", "null", "none", '""', "''", "()"})


@dataclass(frozen=True)
class Run:
    """A run as its evidence sees it.

    Args:
        steps: In order.
        question: What the user asked.
        answer: What the user got.
        library: Where texts are read.
    """

    steps: Sequence[Step]
    question: StemmedText
    answer: JudgedAnswer
    library: Library

    @cached_property
    def calls(self) -> tuple[Step, ...]:
        """The steps that called something; where none says what it is, all of them."""
        return tuple(step for step in self.steps if step.called) or tuple(self.steps)

    @cached_property
    def failed(self) -> tuple[Step, ...]:
        """The calls that failed."""
        return tuple(step for step in self.calls if step.error)

    @cached_property
    def repeated(self) -> tuple[tuple[Step, bool], ...]:
        """Calls of tools that were made before with the same arguments, each with whether the earlier one failed."""
        seen: dict[tuple[str, str], Step] = {}
        found = []
        for step in self.calls:
            if step.kind == TOOL:
                if (before := seen.get((step.name, step.arguments))) is not None:
                    found.append((step, bool(before.error)))
                seen[step.name, step.arguments] = step
        return tuple(found)

    @cached_property
    def empty(self) -> tuple[Step, ...]:
        """Calls that worked and returned nothing."""
        return tuple(step for step in self.calls if not step.error and step.result.strip().lower() in NOTHING)

    @cached_property
    def results(self) -> tuple[StemmedText, ...]:
        """Results that came back, with words in them; of any step."""
        read = (self.library.read(step.result) for step in self.steps if step.result.strip())
        return tuple(one for one in read if one.stems)

    @cached_property
    def everything(self) -> StemmedText:
        """All results as one text."""
        return self.library.read(tuple(step.result for step in self.steps if step.result.strip()))

    @cached_property
    def unused(self) -> tuple[Step, ...]:
        """Calls with a result of which neither the answer nor the arguments of a later call has anything new."""
        read, found = self.library.read, []
        for at, step in enumerate(self.steps):
            if step not in self.calls or not step.result.strip():
                continue
            known = {*self.question.vocabulary, *read(step.arguments).vocabulary}
            new = [stem for stem in read(step.result).content if stem not in known]
            later = [read(one.arguments).vocabulary for one in self.steps[at + 1 :] if one.arguments]
            texts = [self.answer.passage.vocabulary, *later]
            if new and max(sum(stem in text for stem in new) for text in texts) < min(USED, len(new)):
                found.append(step)
        return tuple(found)

    @cached_property
    def added(self) -> list[str]:
        """The stems that the answer adds to the question."""
        return [stem for stem in self.answer.passage.stems if stem not in self.question.vocabulary]

    def sentences(self, weight: Weight) -> list[float]:
        """Of each sentence of the answer the share that stands in any result."""
        asked, known = self.question.vocabulary, self.everything.vocabulary
        return [
            support([stem for stem in sentence if stem not in asked], known, weight, 1.0)
            for sentence in self.answer.passage.sentences
        ]


def step_features(run: Run, weight: Weight) -> tuple[float, ...]:
    """The numbers of ``STEP_NAMES`` for a run with at least one step.

    Args:
        run: The run; its answer may be empty.
        weight: Of stems.
    """
    calls = run.calls
    return (
        log1p(len(run.steps)),
        log1p(len(calls)),
        log1p(len({step.name for step in calls})),
        ratio(len(run.failed), len(calls)),
        log1p(len(run.failed)),
        float(bool(calls[-1].error)),
        ratio(_recovered(calls), len(run.failed), 1.0),
        ratio(len(run.repeated), len(calls)),
        log1p(_longest_run(calls)),
        ratio(sum(after for _, after in run.repeated), len(run.repeated)),
        ratio(len(run.empty), len(calls)),
        ratio(len(run.unused), len(run.results)),
        log1p(len(run.unused)),
        float(bool(run.unused) and run.unused[-1] is calls[-1]),
        _arguments_known(run, weight),
        *_supported(run, weight),
        log1p(len(run.everything.stems)),
    )


def _recovered(calls: Sequence[Step]) -> int:
    return sum(
        bool(step.error) and any(later.name == step.name and not later.error for later in calls[at + 1 :])
        for at, step in enumerate(calls)
    )


def _longest_run(calls: Sequence[Step]) -> int:
    """Equal calls one after another, beyond the first."""
    longest = length = 0
    for before, step in pairwise(calls):
        length = length + 1 if (before.name, before.arguments) == (step.name, step.arguments) else 0
        longest = max(longest, length)
    return longest


def _arguments_known(run: Run, weight: Weight) -> float:
    """Share of the arguments that were there before: what is made up is nowhere."""
    known, shares = set(run.question.vocabulary), []
    for step in run.steps:
        given = run.library.read(step.arguments).content if step.arguments else {}
        if given:
            shares.append(support(given, known, weight, 1.0))
        known |= run.library.read(step.result).vocabulary.keys() if step.result else set()
    return total(shares) / len(shares) if shares else NEUTRAL


def _supported(run: Run, weight: Weight) -> tuple[float, ...]:
    if not run.answer.passage.stems:
        return (NEUTRAL, NEUTRAL, NEUTRAL, 0.0, NEUTRAL, 0.0, 0.0)
    everything, shares = run.everything, run.sentences(weight)
    each = [support(run.added, one.vocabulary, weight, NEUTRAL) for one in run.results]
    numbers = [one for one in run.answer.passage.numbers if one not in run.question.vocabulary]
    names = [one for one in run.answer.passage.names if one not in run.question.vocabulary]
    return (
        support(run.added, everything.vocabulary, weight, NEUTRAL),
        max(each, default=0.0),
        each[-1] if each else 0.0,
        ratio(sum(share < WEAK for share in shares), len(shares)),
        min(shares),
        ratio(sum(not everything.gives(one, run.answer.passage) for one in numbers), len(numbers)),
        ratio(sum(one not in everything.vocabulary for one in names), len(names)),
    )
