"""Takes a program that is worth a mean through a compile: split, candidates, dev, test, decide.

An agent is worth the mean score of its answers, a query generator the mean value of its questions. A judge is worth its
agreement with experts: its search and its guards are its own, and what all three have in common, the split, where a
family stands, the gain over the rival and saving, is in ``labels.sides``, ``standing``, ``promote`` and ``release``.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np

from judgec.compile.family_state import FamilyState, family_state
from judgec.compile.promote import MIN_TEST_QUERIES, gain
from judgec.errors import BudgetError, JudgecError, UserError
from judgec.labels.split.draw import split_items
from judgec.labels.split.family import SPLITS, Split
from judgec.labels.split.memory import Measured, kind_of, read_memory
from judgec.lm.watch import Noting, Watch
from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray, Item
from judgec.report.numbers import brackets, signed
from judgec.stats.agreement.measure import Resampling
from judgec.stats.agreement.statistic import SHARE, Statistic, mean
from judgec.stats.intervals.jackknife import interval
from judgec.stats.intervals.paired_gain import paired_gain

UNCOMPILED = "uncompiled"
COMPILED = "compiled"
CHAMPION = "champion"


class Named(Protocol):
    """A candidate: a program that may win."""

    @property
    def name(self) -> str:
        """Unique in a compile; ``uncompiled`` is the one without a compiled prompt."""


class Trial(Protocol):
    """Result of a candidate on some items, and the score of each."""

    @property
    def values(self) -> FloatArray:
        """0 (worst) to 1 (best), shape (n,); what is missing counts 0."""

    @property
    def cluster(self) -> IntArray:
        """Code of each value's query, shape (n,), from 0."""


C = TypeVar("C", bound=Named)
T = TypeVar("T", bound=Trial)
T_co = TypeVar("T_co", bound=Trial, covariant=True)


@dataclass(frozen=True, slots=True)
class KindWords:
    """The words for a kind of program.

    Args:
        noun: ``agent``.
        worth: What is compared, ``mean score``.
        units: What is split and what intervals are taken over, ``queries``.
        option: Where they come from, ``--queries``.
    """

    noun: str
    worth: str
    units: str
    option: str


class ProgramKind(Protocol[C, T_co]):
    """The parts in which kinds of programs differ."""

    @property
    def measured(self) -> Measured:
        """The measure by which uses of the same test items add up."""

    @property
    def words(self) -> KindWords:
        """For what people read."""

    @property
    def uncompiled(self) -> C:
        """The program before it is compiled."""

    def candidates(self, split: Split, watch: Watch) -> Iterator[C]:
        """Yields the other candidates, found on train (and, where a prompt is rewritten step by step, on dev)."""

    def champion(self, version: int) -> C:
        """The version in use."""

    def trial(self, candidate: C, rows: Sequence[int]) -> T_co:
        """Run a candidate on the items at these positions."""

    def keeping_back(self, rows: Sequence[int]) -> AbstractContextManager[object]:
        """Keeps what the test of these items may cost out of the search's reach."""


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """Settings that decide the outcome besides the program and its items.

    Args:
        home: Folder that holds ``programs/``.
        name: The program's family.
        resamples: Of each interval.
        seed: Of the intervals; never of the split.
    """

    home: Path
    name: str
    resamples: int = 2000
    seed: int = 0

    @property
    def resampling(self) -> Resampling:
        """Settings of the intervals."""
        return Resampling(resamples=self.resamples, seed=self.seed)


@dataclass(frozen=True, slots=True)
class MeanVerdict:
    """Result on the test items.

    Args:
        promoted: Whether the program becomes the champion.
        reason: Why, or why not.
        rival: ``uncompiled`` or ``champion``.
        difference: Of the mean value, at the level of this test use.
        detectable: The smallest difference that these items would have shown (80 % power), or None.
        standing: The test use and the champion.
    """

    promoted: bool
    reason: str
    rival: str
    difference: Estimate
    detectable: float | None
    standing: FamilyState


@dataclass(frozen=True)
class Contested(Generic[C, T]):
    """Everything that a compile of an agent or a generator found out.

    Args:
        items: What was split.
        split: Of the items.
        chosen: The winner on dev.
        dev: Every candidate on the dev items, in the order tried.
        test: On the test items: ``uncompiled``, ``compiled`` and, if there is one, ``champion``.
        verdict: Whether it is promoted.
        notes: What the user should know.
    """

    items: tuple[Item, ...]
    split: Split
    chosen: C
    dev: Mapping[str, T]
    test: Mapping[str, T]
    verdict: MeanVerdict
    notes: tuple[str, ...]

    def mean_value(self, who: str, how: Resampling) -> Estimate:
        """The mean value on test, with its interval."""
        trial = self.test[who]
        found = interval(_mean(trial), resamples=how.resamples, seed=how.seed)
        return found.estimate(len(trial.values))

    def tested(self) -> list[Item]:
        """The test items."""
        return [self.items[i] for i in self.split.test]


def contest(
    kind: ProgramKind[C, T], items: Sequence[Item], settings: PipelineSettings, watch: Watch
) -> Contested[C, T]:
    """Search on train and dev, verify on test; nothing is written but the journal.

    Args:
        kind: What is compiled.
        items: Split by query.
        settings: Its family, and how intervals are made.
        watch: Told where the compile is.

    Raises:
        UserError: Too few items.
        ServiceError: When a model fails for good.
        BudgetError: When the caps leave too little for the test.
    """
    split = split_items(items, read_memory(settings.home, settings.name, kind_of(kind.measured.task)))
    watch.stage("split", ", ".join(f"{name} {count} {kind.words.units}" for name, count in split.sizes().items()))
    if empty := [name for name in SPLITS if not getattr(split, name)]:
        raise UserError(
            f"{kind.words.option}: {_count(items)} {kind.words.units} leave none for {empty[0]}; about 40 are needed. "
            f"Add {kind.words.units}."
        )
    notes: list[str] = []
    with kind.keeping_back(split.test):
        chosen, dev = _search(kind, split, watch, notes)
    watch.stage("verify", f"{len(split.test)} test {kind.words.units}, {chosen.name}")
    standing = family_state(settings.home, settings.name, [items[i] for i in split.test], kind.measured)
    entrants, refusal = {UNCOMPILED: kind.uncompiled, COMPILED: chosen}, ""
    if standing.champion is not None:
        try:
            entrants[CHAMPION] = kind.champion(standing.champion)
        except JudgecError as error:
            named = f"{settings.name}@{standing.champion}"
            refusal = f"the champion {named} could not be measured beside it: {error}"
    test = {who: kind.trial(candidate, split.test) for who, candidate in entrants.items()}
    verdict = decide_means(kind.words, chosen.name, test, standing, settings.resampling, refusal=refusal)
    return Contested(tuple(items), split, chosen, dev, test, verdict, tuple(notes))


def decide_means(
    words: KindWords,
    chosen: str,
    test: Mapping[str, Trial],
    standing: FamilyState,
    how: Resampling,
    *,
    refusal: str = "",
) -> MeanVerdict:
    """Compare the compiled program with the champion, or without one with the uncompiled program.

    Args:
        words: How the program is spoken of.
        chosen: The winner on dev, by name.
        test: What each did on test, by name.
        standing: The use of the test items and the champion.
        how: How intervals are made.
        refusal: Why it must not be promoted whatever the numbers say, or empty.
    """
    rival = CHAMPION if CHAMPION in test else UNCOMPILED
    n_clusters = 1 + max(int(trial.cluster.max(initial=-1)) for trial in test.values())
    found = gain(_mean(test[COMPILED], n_clusters), _mean(test[rival], n_clusters), how, test_use=standing.test_use)
    difference = found.interval
    value = f"{signed(difference.value or 0.0, 3)} {brackets(difference.low, difference.high, 3, sign=True)}".rstrip()
    measured = f"{words.worth} {value} against {rival}, use {standing.test_use} of these {words.units}"
    if not refusal and found.few:
        refusal = f"too few test {words.units}: {difference.n_clusters}, at least {MIN_TEST_QUERIES} are needed"
    if refusal:
        reason = f"{refusal} ({measured})"
    elif found.better:
        reason = f"better: {measured}"
    elif chosen == UNCOMPILED and rival == UNCOMPILED:
        reason = f"not shown to be better: no candidate beat the uncompiled {words.noun} on dev"
    else:
        told = f"; {difference.note}" if difference.note else found.could_show(words.units)
        reason = f"not shown to be better: {measured}{told}"
    return MeanVerdict(
        promoted=found.better and not refusal,
        reason=reason,
        rival=rival,
        difference=difference.estimate(len(test[COMPILED].values)),
        detectable=found.detectable,
        standing=standing,
    )


def decided_again(words: KindWords, found: Contested[C, T], standing: FamilyState, how: Resampling) -> Contested[C, T]:
    """The outcome as the family stands now: another version was saved since.

    Against a champion that it did not meet it is not promoted.
    """
    unmet = standing.champion != found.verdict.standing.champion
    refusal = (
        "another compile promoted a new champion meanwhile, which this one was not compared with: compile again"
        if unmet
        else ""
    )
    verdict = decide_means(words, found.chosen.name, found.test, standing, how, refusal=refusal)
    return replace(found, verdict=verdict)


def _search(kind: ProgramKind[C, T], split: Split, watch: Watch, notes: list[str]) -> tuple[C, dict[str, T]]:
    """The winner on dev, and every candidate's trial, in the order tried."""
    noting = Noting(watch)
    candidates, dev = {UNCOMPILED: kind.uncompiled}, dict[str, T]()
    try:
        for candidate in _all(kind, split, noting):
            watch.stage("dev", candidate.name)
            dev[candidate.name] = kind.trial(candidate, split.dev)
            candidates[candidate.name] = candidate
    except BudgetError as error:
        notes.append(f"the search stopped early: {error}")
    notes += noting.said
    chosen = candidates[winner(dev)]
    if chosen.name == UNCOMPILED:
        notes.append(
            f"no prompt was better than the uncompiled {kind.words.noun}'s on dev by more than a standard error"
        )
    return chosen, dev


def winner(dev: Mapping[str, Trial]) -> str:
    """The candidate with the highest mean, ties by name, where that is clearly above the uncompiled program's."""
    if len(dev) < 2:
        return UNCOMPILED
    best = min(dev, key=lambda name: (-mean_of(dev[name]), name))
    n_clusters = 1 + max(int(trial.cluster.max(initial=-1)) for trial in dev.values())
    won = paired_gain(_mean(dev[best], n_clusters), _mean(dev[UNCOMPILED], n_clusters))
    return best if best != UNCOMPILED and won.clear else UNCOMPILED


def _all(kind: ProgramKind[C, T], split: Split, watch: Watch) -> Iterator[C]:
    yield kind.uncompiled
    yield from kind.candidates(split, watch)


def mean_of(trial: Trial) -> float:
    """The mean value; 0 of nothing."""
    return float(trial.values.mean()) if len(trial.values) else 0.0


def _mean(trial: Trial, n_clusters: int | None = None) -> Statistic:
    return mean(np.asarray(trial.values), trial.cluster, n_clusters=n_clusters, bounds=SHARE)


def _count(items: Sequence[Item]) -> int:
    return len({item.query_id for item in items})
