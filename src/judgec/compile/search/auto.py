"""``auto``: demonstrations first, for they cost no call to propose; then rewriting the winner's instructions."""

from collections.abc import Sequence
from dataclasses import dataclass

from judgec.compile.search.candidates import UNCOMPILED, Candidate
from judgec.compile.search.demonstrations import BOOTSTRAPPED, LABELLED, N_SETS, demonstration_sets
from judgec.compile.search.reflection import Gepa
from judgec.compile.search.task import Effort, Sizes, Task

DEMONSTRATIONS_SHARE = 0.5  # of a limited room, where reflection may follow


@dataclass(frozen=True, slots=True)
class Auto:
    """The optimizer ``auto``, and the default."""

    needs_reflection: bool = False

    def effort(self, sizes: Sizes) -> Effort:
        """The demonstrations' race, then as much reflection as fits."""
        sets, then = self._shared(sizes)
        if not then.candidates:
            return Effort(0, 0, sets)
        return Effort(sizes.final(sets) + then.judgments, then.reflections, then.candidates + min(sets, 1))

    def search(self, task: Task) -> Sequence[Candidate]:
        """The best demonstrations, and rewritten instructions around them."""
        n_sets, then = self._shared(task.sizes())
        sets = list(demonstration_sets(task, (LABELLED, BOOTSTRAPPED), n_sets))
        if not then.candidates:
            why = "the budget has no room for it" if task.reflection is not None else task.no_reflection
            task.watch.note(f"auto: no reflection, because {why}")
            return sets
        start = Candidate(UNCOMPILED, task.module)
        contenders = [start, *sets]
        best = contenders[task.race(contenders).chosen] if sets else start
        return [*([] if best is start else [best]), *Gepa().improve(task, best)]

    @staticmethod
    def _shared(sizes: Sizes) -> tuple[int, Effort]:
        """How many sets of demonstrations, and the reflection after them: either alone where both do not fit."""
        if sizes.reflection:
            kept = 0 if sizes.room is None else int(sizes.room * (1 - DEMONSTRATIONS_SHARE))
            sets = sizes.less(kept).starters(N_SETS)
            # In the last race the best demonstrations run too.
            then = Gepa().effort(sizes.less(sizes.final(sets) + sizes.slices[-1]))
            if then.candidates:
                return sets, then
        return sizes.starters(N_SETS), Effort(0, 0, 0)
