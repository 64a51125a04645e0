"""Demonstrations: train items with the experts' grades, shown in the prompt; no call is made to propose them.

*Labelled* ones carry the expert's own rationale where there is one; *bootstrapped* ones carry the judge's own reason
on items where its uncompiled verdict already was the experts' (as DSPy's BootstrapFewShot, without its calls: the
uncompiled judge has graded the train items anyway).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.compile.dataset import Part
from judgec.compile.search.candidates import Candidate, first_predictor, with_demonstrations
from judgec.compile.search.task import Effort, Sizes, Task
from judgec.raters.signatures import demonstration
from judgec.records.label import IntArray

DEMO_CHARACTERS = 24_000  # of all demonstrations together: about 6,000 tokens a call
SET_SIZES = (4, 8, 16)  # demonstrations a set, tried in turn
N_SETS = 16  # sets proposed where the budget has room for them: a race makes many cheap
LABELLED: str = "labelled"
BOOTSTRAPPED: str = "bootstrapped"


@dataclass(frozen=True, slots=True)
class Demonstrations:
    """The optimizers ``labeled`` and ``bootstrap``.

    Args:
        kinds: Of the sets, in turn: ``labelled``, ``bootstrapped``.
    """

    kinds: tuple[str, ...]
    needs_reflection: bool = False

    def effort(self, sizes: Sizes) -> Effort:
        """As many sets as a race has room for; proposing them is free."""
        return Effort(0, 0, sizes.starters(N_SETS))

    def search(self, task: Task) -> Sequence[Candidate]:
        """Sets of demonstrations."""
        return list(demonstration_sets(task, self.kinds, self.effort(task.sizes()).candidates))


def demonstration_sets(task: Task, kinds: Sequence[str], n_sets: int) -> Iterator[Candidate]:
    """Candidates that differ in their demonstrations, the kinds in turn.

    Args:
        task: Its train items are shown.
        kinds: ``labelled``, ``bootstrapped``.
        n_sets: How many candidates at most; fewer when train items are too few for distinct sets.
    """
    train, predict = task.train, first_predictor(task.module)
    position, verdict = task.expert(train), task.said(task.verdicts)
    labelled = np.all(position >= 0, axis=1)
    pools = {LABELLED: labelled, BOOTSTRAPPED: labelled & np.all(verdict == position, axis=1) & task.verdicts.scored}
    seen: set[frozenset[int]] = set()
    for number in range(n_sets):
        kind, turn = kinds[number % len(kinds)], number // len(kinds)
        rng = np.random.default_rng([task.seed, number])
        chosen = _stratified(np.flatnonzero(pools[kind]), train, position, SET_SIZES[turn % len(SET_SIZES)], rng)
        if not chosen or frozenset(chosen) in seen:
            continue
        seen.add(frozenset(chosen))
        reasons = [task.verdicts.rationale[i] if kind == BOOTSTRAPPED else train.rationale(i) for i in chosen]
        demos = [
            demonstration(predict, train.items[i], [int(p) for p in position[i]], task.scale, reason=reason)
            for i, reason in zip(chosen, reasons, strict=True)
        ]
        yield Candidate(
            name=f"{kind}-{turn + 1}",
            module=with_demonstrations(task.module, demos),
            queries=tuple(train.items[i].query_id for i in chosen),
            settings={"kind": kind, "demonstrations": len(demos), "seed": task.seed},
        )


def _stratified(pool: IntArray, train: Part, position: IntArray, size: int, rng: np.random.Generator) -> list[int]:
    """Up to ``size`` items of distinct queries, every grade in turn, within the prompt's room for them."""
    by_grade: dict[tuple[int, ...], list[int]] = {}
    for i in rng.permutation(pool):
        by_grade.setdefault(tuple(position[i]), []).append(int(i))
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
