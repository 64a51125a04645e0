"""Holds what an optimizer works with: judge, labels it may see, objective, models, caps."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import dspy
import numpy as np

from judgec.compile.dataset import Part
from judgec.compile.search.candidates import Candidate
from judgec.compile.search.race import Raced, RaceStanding, most_judgments, race, slices
from judgec.lm.executor import Ask
from judgec.lm.watch import Watch
from judgec.raters.pairwise import is_pairwise
from judgec.raters.prompt import verdicts
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs, pair
from judgec.records.scale import Scale
from judgec.stats.agreement.objective import Objective

POOL_SHARE = 0.4  # of the train queries that reflection may see: the others fit the calibrator
POOL_QUERIES = 20  # where train is small; of fewer a rewrite learns little, and two thirds of train are the most
VALUED_ITEMS = 60  # of dev that a rewritten prompt is valued on before the race


@dataclass(frozen=True, slots=True)
class Effort:
    """The most that an optimizer does before the final race, where no cap ends it.

    Args:
        judgments: Items judged; an item takes one call, a pair two.
        reflections: Calls of the reflection model.
        candidates: Prompts that it hands over.
        demonstrates: Its prompts may show demonstrations.
    """

    judgments: int
    reflections: int
    candidates: int
    demonstrates: bool = True


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes on which the cost of a search depends.

    Args:
        slices: Items of dev in each slice of a race.
        pool: Train items that reflection may see.
        reflection: Whether there is a model that rewrites prompts.
        own: Candidates of the user, which race in the end whatever an optimizer finds.
        reasons: Reasons of the experts, on train and dev.
    """

    slices: tuple[int, ...]
    pool: int
    reflection: bool
    own: int = 0
    reasons: int = 0

    @property
    def valued(self) -> int:
        """Items of the smallest slice that a rewritten prompt is valued on."""
        return next((size for size in self.slices if size >= VALUED_ITEMS), self.slices[-1])

    def final(self, candidates: int) -> int:
        """The most judgments of a race of so many candidates and the user's own against the uncompiled judge.

        That one has judged dev before.
        """
        starters = candidates + self.own
        return most_judgments(1 + starters, self.slices) - self.slices[0] if starters else 0


def pool_size(queries: int) -> int:
    """Number of train queries that reflection may see, of all of train."""
    return max(math.ceil(POOL_SHARE * queries), min(POOL_QUERIES, 2 * queries // 3))


def orders_of(module: dspy.Module) -> int:
    """Calls that one judgment takes: a pair is asked in both orders."""
    return 2 if is_pairwise(module) else 1


@dataclass(frozen=True)
class Task:
    """One search.

    Args:
        module: The uncompiled judge; optimizers copy it.
        train: Items with labels to learn from.
        dev: Items with labels to choose by.
        verdicts: The uncompiled judge's raw judgments of ``train``.
        scale: The grades.
        accept_only: Whether accepts are compared instead of grades.
        objective: What is maximized.
        ask: Sends judge prompts; raises when a cap is met.
        lm: The judge's model, for optimizers that want one.
        reflection: The model that rewrites prompts, or None.
        no_reflection: Why there is none.
        room: Calls that the search may still make, or None for no limit.
        seed: Seed of everything random.
        watch: Told what happens.
        standings: Filled with every candidate that ran and how far it came, by name.
        own: The user's candidates.
    """

    module: dspy.Module
    train: Part
    dev: Part
    verdicts: Judgments
    scale: Scale
    accept_only: bool
    objective: Objective
    ask: Ask
    lm: dspy.LM
    reflection: dspy.LM | None
    no_reflection: str
    room: Callable[[], int | None]
    seed: int
    watch: Watch
    standings: dict[str, tuple[Candidate, RaceStanding]] = field(default_factory=dict)
    own: Sequence[Candidate] = ()

    def sizes(self) -> Sizes:
        """The sizes on which the cost depends."""
        parts = slices(self.dev.experts.cluster, self.seed)
        reasons = self.train.n_reasons + self.dev.n_reasons
        return Sizes(tuple(map(len, parts)), len(self.pool()), self.reflection is not None, len(self.own), reasons)

    def left(self) -> float:
        """Number of judgments that the caps still allow."""
        calls = self.room()
        return math.inf if calls is None else calls // orders_of(self.module)

    def starters(self, wanted: int, share: float = 1.0) -> int:
        """Number of candidates, up to ``wanted``, that a race within this share of what is left has room for."""
        sizes, most = self.sizes(), share * self.left()
        return next((n for n in range(wanted, 0, -1) if sizes.final(n) <= most), 0)

    def judge(self, module: dspy.Module, part: Part) -> Judgments:
        """Raw verdicts; the one way in which candidates are run."""
        return verdicts(module, part.items, ask=self.ask, scale=self.scale, aspects=self.verdicts.aspects)

    def ratings(self, part: Part, judgments: Judgments) -> GradePairs:
        """Verdicts beside the experts' labels."""
        return pair(part.experts, judgments, self.scale, accept_only=self.accept_only)

    def expert(self, part: Part) -> IntArray:
        """Grades of the experts, as positions, shape (n_items, n_aspects, n_tied); -1 where nothing."""
        return part.experts.target_accept if self.accept_only else part.experts.target

    def said(self, judgments: Judgments) -> IntArray:
        """Grades of the judge, shape (n_items, n_aspects)."""
        return judgments.accept if self.accept_only else judgments.grade

    def value(self, part: Part, judgments: Judgments) -> float:
        """The objective on a part."""
        return self.objective.value(self.ratings(part, judgments))

    def item_shares(self, part: Part, judgments: Judgments) -> FloatArray:
        """One number an item, shape (n_items,), whose mean is ``value``; of tied grades the mean of their two."""
        labelled = part.experts.target_accept[..., 0] >= 0
        if not self.accept_only:
            labelled |= part.experts.target[..., 0] >= 0
        item = np.repeat(np.arange(len(part)), labelled.shape[1])[labelled.ravel()]
        shares = self.objective.shares(self.ratings(part, judgments))
        if not len(shares):
            return np.zeros(len(part))
        return np.bincount(item, weights=shares, minlength=len(part)) * len(part) / len(shares)

    def pool(self) -> Part:
        """The train items that reflection may see: whole queries, chosen by the seed."""
        queries = np.unique(self.train.experts.cluster)
        order = np.random.default_rng([self.seed, 2]).permutation(queries)
        chosen = order[: pool_size(len(order))]
        return self.train.rows([int(i) for i in np.flatnonzero(np.isin(self.train.experts.cluster, chosen))])

    def valued(self) -> Part:
        """The dev items that rewritten prompts are valued on; the race goes on from there."""
        size = self.sizes().valued
        return self.dev.rows(next(p for p in slices(self.dev.experts.cluster, self.seed) if len(p) == size))

    def race(self, candidates: Sequence[Candidate]) -> Raced:
        """Choose among candidates on dev."""
        judged: dict[int, tuple[list[int], list[Judgments]]] = {}

        def runs(number: int, rows: Sequence[int]) -> GradePairs:
            known, pieces = judged.setdefault(number, ([], []))
            seen = set(known)
            new = [row for row in rows if row not in seen]
            if new:
                said = candidates[number].verdicts(
                    self.dev.rows(new).items, ask=self.ask, scale=self.scale, aspects=self.verdicts.aspects
                )
                pieces.append(said)
                known.extend(new)
            return self.ratings(self.dev.rows(known), concatenate(pieces))

        parts = slices(self.dev.experts.cluster, self.seed)
        raced = race(len(candidates), parts, runs, self.objective)
        for candidate, standing in zip(candidates, raced.standings, strict=True):
            if standing is not None:
                self.standings[candidate.name] = (candidate, standing)
        return raced
