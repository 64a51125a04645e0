"""Compiles a program that is worth a mean: split, candidates, dev, test, decide.

An agent is worth the mean score of its answers, a query generator the mean value of its questions. Both are a
``Contest``: candidates, and values of what each makes of some items. All else is that of a judge's compile.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import dspy

from judgec.compile.family_state import FamilyState, family_state
from judgec.compile.promote import Decision, gain
from judgec.compile.search.candidates import Candidate
from judgec.compile.settings import MIN_TEST_QUERIES
from judgec.compile.track import Metrics, flat, metrics_of
from judgec.compile.winner import clearest
from judgec.errors import BudgetError, JudgecError, UserError
from judgec.labels.split.draw import split_items
from judgec.labels.split.family import SPLITS, Split
from judgec.labels.split.memory import OTHERS, Measured, kind_of, read_memory
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Noting, Watch
from judgec.raters.predictors import saved_prompts
from judgec.records.card import Setting
from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray, Item
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.report.cases import BrowsedCase
from judgec.report.numbers import brackets, signed
from judgec.report.page.page import Found
from judgec.stats.agreement.statistic import SHARE, Statistic, mean
from judgec.stats.intervals.jackknife import interval
from judgec.stats.intervals.paired_gain import paired_gain

UNCOMPILED = "uncompiled"
COMPILED = "compiled"
CHAMPION = "champion"
OVERTAKEN = "another compile promoted a new champion meanwhile, which this one was not compared with: compile again"

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class RatedProgram(Generic[M]):
    """A program on some items.

    Args:
        values: By statistic, the objective first: a value of each answer or question, 0 (worst) to 1 (best), shape
            (n,); what is missing counts 0.
        cluster: Code of each value's query, shape (n,), from 0.
        made: The answers or questions.
        row: What the report says of it as a candidate.
        of_all: Further statistics, of all together.
    """

    values: Mapping[str, FloatArray]
    cluster: IntArray
    made: Sequence[M]
    row: Mapping[str, object] = field(default_factory=dict)
    of_all: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def objective(self) -> Statistic:
        """The mean of the first values."""
        return next(iter(self.means().values()))

    def means(self) -> dict[str, Statistic]:
        """The mean of each kind of values."""
        return {name: mean(one, self.cluster, bounds=SHARE) for name, one in self.values.items()}

    def estimates(self) -> dict[str, Estimate]:
        """The means with their intervals, and the statistics of all."""
        means = {name: interval(one).estimate(len(self.cluster)) for name, one in self.means().items()}
        return {**means, **self.of_all}


@dataclass(frozen=True, kw_only=True)
class Contest(ABC, Generic[M]):
    """A compile of an agent or a query generator: what is compiled, and all that differs between the two.

    Args:
        name: The program's family.
        home: Folder that holds ``programs/``.
        items: What is split by query.
        start: The program before it is compiled.
        settings: How it works, for the card.
        lm: Its model.
        keeping: Keeps so many calls out of the search's reach.
        optimizer: Name of the search.
        seed: Of the search; never of the split.
        scale: On which what it makes is judged.
        aspects: Likewise.
        given: What it was compiled for beside the items, for the digest of its data.
        labels: ``constructed`` when no expert stands behind its measure.
        notes: What the user should know beforehand.
    """

    task: ClassVar[str]
    noun: ClassVar[str]
    worth: ClassVar[str]  # what is compared
    units: ClassVar[str]  # what is split and what intervals are taken over
    option: ClassVar[str]  # where they come from
    objective: ClassVar[str]  # on the card
    fields: ClassVar[tuple[str, ...]]  # that it reads
    on_card: ClassVar[tuple[str, str]]  # a statistic, and what the card calls it
    headline: ClassVar[tuple[str, ...]]  # metrics that fit on MLflow's compare page

    name: str
    home: Path
    items: Sequence[Item]
    start: dspy.Module
    settings: Mapping[str, Setting]
    lm: LMSpec
    keeping: Callable[[int], AbstractContextManager[object]]
    optimizer: str
    seed: int = 0
    scale: Scale = ACCEPT_SCALE
    aspects: tuple[str, ...] = ("accept",)
    given: Sequence[str] = ()
    labels: str = ""
    notes: tuple[str, ...] = ()

    @abstractmethod
    def candidates(self, split: Split, watch: Watch) -> Iterator[Candidate]:
        """Yields the other candidates, found on train (and, where a prompt is rewritten step by step, on dev)."""

    @abstractmethod
    def champion(self, version: int) -> dspy.Module:
        """The version in use."""

    @abstractmethod
    def rate(self, program: dspy.Module, rows: Sequence[int]) -> RatedProgram[M]:
        """Run a program on the items at these positions and value what it makes."""

    @abstractmethod
    def calls(self, n: int) -> int:
        """The most that the test of three programs on so many items may ask."""

    def tree(self, program: dspy.Module) -> dict[str, object]:
        """What is saved of it: its prompts."""
        return dict(saved_prompts(program))

    @abstractmethod
    def report(self, found: "Contested[M]") -> dict[str, object]:
        """Its own keys of ``report.json``; they go before those of all."""

    def metrics(self, found: Found) -> Metrics:
        """The numbers of a report as MLflow calls them."""
        apart = {name: found["difference"][name] for name in next(iter(found["test"].values()))}
        return metrics_of(found["test"]) | flat("difference", apart)

    def cases(self, found: "Contested[M]") -> Sequence[BrowsedCase]:  # noqa: ARG002 - of some
        """The test items as its page shows them."""
        return ()

    @property
    def measured(self) -> Measured:
        """The measure by which uses of the same test items add up."""
        return Measured(self.task, frozenset({OTHERS[self.task]}))

    def stands(self, split: Split) -> FamilyState:
        """The family as it is on disk."""
        return family_state(self.home, self.name, [self.items[i] for i in split.test], self.measured)


@dataclass(frozen=True)
class Contested(Generic[M]):
    """Everything that a compile of an agent or a generator found out.

    Args:
        contest: What was compiled.
        split: Of the items.
        chosen: The winner on dev.
        dev: Every candidate on the dev items, in the order tried.
        test: On the test items: ``uncompiled``, ``compiled`` and, if there is one, ``champion``.
        standing: The test use and the champion it was compared with.
        decision: Whether it is promoted.
        notes: What the user should know.
        refusal: Why it must not be promoted whatever the numbers say, or empty.
    """

    contest: Contest[M]
    split: Split
    chosen: Candidate
    dev: Mapping[str, RatedProgram[M]]
    test: Mapping[str, RatedProgram[M]]
    standing: FamilyState
    decision: Decision
    notes: tuple[str, ...]
    refusal: str = ""

    def again(self, standing: FamilyState) -> "Contested[M]":
        """Decided as the family stands by now; against a champion that it did not meet it is not promoted."""
        unmet = standing.champion != self.standing.champion
        why = OVERTAKEN if unmet else self.refusal
        decision = decide_means(self.contest, self.chosen.name, self.test, standing.test_use, why)
        return replace(self, standing=standing, decision=decision)


def compile_program(contest: Contest[M], watch: Watch) -> Contested[M]:
    """Search on train and dev, verify on test; nothing is written but the journal.

    Args:
        contest: What is compiled.
        watch: Told where the compile is.

    Raises:
        UserError: Too few items.
        ServiceError: When a model fails for good.
        BudgetError: When the caps leave too little for the test.
    """
    units, noting = contest.units, Noting(watch)
    split = split_items(contest.items, read_memory(contest.home, contest.name, kind_of(contest.task)))
    watch.stage("split", ", ".join(f"{name} {count} {units}" for name, count in split.sizes().items()))
    if empty := [name for name in SPLITS if not getattr(split, name)]:
        known = len({item.query_id for item in contest.items})
        raise UserError(
            f"{contest.option}: {known} {units} leave none for {empty[0]}; about 40 are needed. Add {units}."
        )
    with contest.keeping(contest.calls(len(split.test))):
        chosen, dev = _search(contest, split, noting)
    watch.stage("verify", f"{len(split.test)} test {units}, {chosen.name}")
    standing, refusal = contest.stands(split), ""
    entrants = {UNCOMPILED: contest.start, COMPILED: chosen.module}
    if standing.champion is not None:
        try:
            entrants[CHAMPION] = contest.champion(standing.champion)
        except JudgecError as error:
            named = f"{contest.name}@{standing.champion}"
            refusal = f"the champion {named} could not be measured beside it: {error}"
    test = {who: contest.rate(program, split.test) for who, program in entrants.items()}
    decision = decide_means(contest, chosen.name, test, standing.test_use, refusal)
    notes = (*contest.notes, *noting.said)
    return Contested(contest, split, chosen, dev, test, standing, decision, notes, refusal)


def _search(contest: Contest[M], split: Split, watch: Noting) -> tuple[Candidate, dict[str, RatedProgram[M]]]:
    """The winner on dev, and every candidate there, in the order tried."""
    first = Candidate(UNCOMPILED, contest.start)
    found, dev = {UNCOMPILED: first}, dict[str, RatedProgram[M]]()
    try:
        for one in chain([first], contest.candidates(split, watch)):
            watch.stage("dev", one.name)
            dev[one.name] = contest.rate(one.module, split.dev)
            found[one.name] = one
    except BudgetError as error:
        watch.note(f"the search stopped early: {error}")
    chosen = found[best_program(dev)]
    if chosen.name == UNCOMPILED:
        watch.note(f"no prompt was better than the uncompiled {contest.noun}'s on dev by more than a standard error")
    return chosen, dev


def best_program(dev: Mapping[str, RatedProgram[M]]) -> str:
    """The uncompiled program, or whoever is clearly better on dev; as ``winner`` says of judges."""
    others = dev.keys() - {UNCOMPILED}
    gains = {name: paired_gain(dev[name].objective, dev[UNCOMPILED].objective) for name in others}
    return clearest(gains, UNCOMPILED)


def decide_means(
    contest: Contest[M], chosen: str, test: Mapping[str, RatedProgram[M]], test_use: int, refusal: str = ""
) -> Decision:
    """Compare the compiled program with the champion, or without one with the uncompiled program.

    Args:
        contest: How the program is spoken of.
        chosen: The winner on dev, by name.
        test: What each did on test, by name.
        test_use: Which use of the test items it is.
        refusal: Why it must not be promoted whatever the numbers say, or empty.
    """
    rival, units = CHAMPION if CHAMPION in test else UNCOMPILED, contest.units
    means, n = (test[COMPILED].means(), test[rival].means()), len(test[COMPILED].cluster)
    found = {name: gain(one, means[1][name], test_use=test_use) for name, one in means[0].items()}
    first = next(iter(found.values()))
    difference = first.interval
    value = f"{signed(difference.value or 0.0, 3)} {brackets(difference.low, difference.high, 3, sign=True)}".rstrip()
    measured = f"{contest.worth} {value} against {rival}, use {test_use} of these {units}"
    if not refusal and first.few:
        refusal = f"too few test {units}: {difference.n_clusters}, at least {MIN_TEST_QUERIES} are needed"
    if refusal:
        reason = f"{refusal} ({measured})"
    elif first.better:
        reason = f"better: {measured}"
    elif chosen == UNCOMPILED and rival == UNCOMPILED:
        reason = f"not shown to be better: no candidate beat the uncompiled {contest.noun} on dev"
    else:
        told = f"; {difference.note}" if difference.note else first.could_show(units)
        reason = f"not shown to be better: {measured}{told}"
    return Decision(
        promoted=first.better and not refusal,
        reason=reason,
        rival=rival,
        difference=difference.estimate(n),
        detectable=first.detectable,
        by_statistic={name: one.interval.estimate(n) for name, one in found.items()},
        test_use=test_use,
    )
