"""Candidate prompts: the uncompiled judge, and the judge with different demonstrations.

A demonstration is a train item with the experts' grade. *Labelled* demonstrations carry the expert's own
rationale, or the meaning of the grade; *bootstrapped* ones carry the judge's own reason on items where its
uncompiled verdict already was the experts' (as DSPy's BootstrapFewShot, at no extra call: the uncompiled judge
has graded the train items anyway).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import dspy
import numpy as np

from judgec.compiler.dataset import Part
from judgec.judges.signatures import demonstration
from judgec.records.judgment import Judgments
from judgec.records.scale import Scale

UNCOMPILED = "zero-shot"
DEMO_CHARACTERS = 24_000  # of all demonstrations together: about 6,000 tokens a call
SIZES = (4, 8, 16)  # demonstrations a set, tried in turn


@dataclass(frozen=True, slots=True)
class Candidate:
    """A prompt that might become the judge.

    Args:
        name: Unique in a compile.
        module: The judge with this prompt.
        queries: The query of each demonstration, in order; items of these must not fit the calibrator.
        settings: How it was made, for the record.
    """

    name: str
    module: dspy.Module
    queries: tuple[str, ...] = ()
    settings: Mapping[str, str | int] = field(default_factory=dict)


def demonstration_sets(
    module: dspy.Module, train: Part, verdicts: Judgments, scale: Scale, *, n_sets: int, seed: int
) -> Iterator[Candidate]:
    """Candidates that differ in their demonstrations: labelled and bootstrapped in turn.

    Args:
        module: The uncompiled judge; it is copied, never changed.
        train: The items to show.
        verdicts: The uncompiled judge's raw judgments of ``train``.
        scale: The judge's scale.
        n_sets: How many candidates at most; fewer when train items are too few for distinct sets.
        seed: Seed of the choice.
    """
    right = np.all(verdicts.grade == train.experts.grade, axis=1) & verdicts.scored
    labelled = np.all(train.experts.grade >= 0, axis=1)
    seen: set[frozenset[int]] = set()
    for number in range(n_sets):
        bootstrapped = number % 2 == 1
        rng = np.random.default_rng([seed, number])
        pool = np.flatnonzero(right if bootstrapped else labelled)
        chosen = _stratified(pool, train, SIZES[(number // 2) % len(SIZES)], rng)
        if not chosen or frozenset(chosen) in seen:
            continue
        seen.add(frozenset(chosen))
        kind = "bootstrapped" if bootstrapped else "labelled"
        reasons = [verdicts.rationale[i] if bootstrapped else train.rationale(i) for i in chosen]
        demos = [
            demonstration(
                first_predictor(module),
                train.items[i],
                [int(position) for position in train.experts.grade[i]],
                scale,
                reason=reason,
            )
            for i, reason in zip(chosen, reasons, strict=True)
        ]
        yield Candidate(
            name=f"{kind}-{number // 2 + 1}",
            module=with_demonstrations(module, demos),
            queries=tuple(train.items[i].query_id for i in chosen),
            settings={"kind": kind, "demonstrations": len(demos), "seed": seed},
        )


def with_demonstrations(module: dspy.Module, demos: Sequence[dspy.Example]) -> dspy.Module:
    """A copy of the judge that shows these demonstrations and no others."""
    copy = module.deepcopy()
    first_predictor(copy).demos = list(demos)
    return copy


def first_predictor(module: dspy.Module) -> dspy.Predict:
    """The judge's one predictor."""
    return module.predictors()[0]


def _stratified(pool: np.ndarray, train: Part, size: int, rng: np.random.Generator) -> list[int]:
    """Up to ``size`` items of distinct queries, every grade in turn, within the prompt's room for them."""
    by_grade: dict[tuple[int, ...], list[int]] = {}
    for i in rng.permutation(pool):
        by_grade.setdefault(tuple(train.experts.grade[i]), []).append(int(i))
    grades = sorted(by_grade)
    rng.shuffle(grades)
    chosen: list[int] = []
    queries: set[str] = set()
    room = DEMO_CHARACTERS
    while len(chosen) < size and any(by_grade.values()):
        for grade in grades:
            while by_grade[grade]:
                i = by_grade[grade].pop()
                item = train.items[i]
                length = sum(len(item.text(name)) for name in item.inputs)
                if item.query_id not in queries and length <= room and len(chosen) < size:
                    chosen.append(i)
                    queries.add(item.query_id)
                    room -= length
                    break
    return chosen
