"""``auto``: criteria of all reasons and a few demonstrations, which cost little; then rewriting the best of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from judgec.compile.search.candidates import UNCOMPILED, Candidate
from judgec.compile.search.demonstrations import BOOTSTRAPPED, LABELLED, N_SETS, demonstration_sets
from judgec.compile.search.mined import FOLDS, LOOKS, MIN_REASONS, MINED, mined, mined_from
from judgec.compile.search.reflection import Gepa
from judgec.compile.search.task import Effort, Sizes, Task

DEMONSTRATIONS_SHARE = 0.5  # of a limited room, where reflection may follow
FEW_SETS = 4  # of demonstrations beside mined criteria, which tell more for fewer calls
MINING = 1 + FOLDS + 1  # prompts: of all reasons, without those of each fold, of the pool to rewrite from


@dataclass(frozen=True, slots=True)
class Auto:
    """The optimizer ``auto``, and the default."""

    needs_reflection: bool = False

    def effort(self, sizes: Sizes) -> Effort:
        """Mining and the first race, then as much reflection as fits."""
        mining, sets, then = self._shared(sizes)
        starters = sets + min(mining, 1)
        if not then.candidates:
            return Effort(0, mining, starters)
        first = sizes.final(starters)
        handed = min(sets, 1) + min(mining, 1)
        return Effort(first + then.judgments, mining + then.reflections, then.candidates + handed)

    def search(self, task: Task) -> Sequence[Candidate]:
        """Mined criteria, demonstrations, and rewritten instructions around the best of them."""
        mining, n_sets, then = self._shared(task.sizes())
        criteria = mined(task, mining // MINING) if mining else None
        sets = list(demonstration_sets(task, (LABELLED, BOOTSTRAPPED), n_sets))
        found = [*([] if criteria is None else [criteria]), *sets]
        if not then.candidates:
            why = "the budget has no room for it" if task.reflection is not None else task.no_reflection
            task.watch.note(f"auto: no reflection, because {why}")
            return found
        start = Candidate(UNCOMPILED, task.module)
        contenders = [start, *found]
        best = contenders[task.race(contenders).chosen] if found else start
        rewritten = mined_from(task, task.pool(), mining // MINING) if best.name == MINED else best
        kept = [best] if best is not start else []
        if criteria is not None and criteria is not best:
            kept.append(criteria)
        return [*kept, *Gepa().improve(task, rewritten or start)]

    @staticmethod
    def _shared(sizes: Sizes) -> tuple[int, int, Effort]:
        """Calls that mine criteria, sets of demonstrations, and the reflection after them, as far as they fit."""
        if not sizes.reflection:
            return 0, sizes.starters(N_SETS), Effort(0, 0, 0)
        looks = range(LOOKS if sizes.reasons >= MIN_REASONS else 0, 0, -1)
        mining = next((n * MINING for n in looks if sizes.fits(Effort(0, n * MINING, 1))), 0)
        left = sizes.less(mining)
        kept = 0 if left.room is None else int(left.room * (1 - DEMONSTRATIONS_SHARE))
        own = min(mining, 1)  # the mined prompt races beside the sets
        sets = max(0, left.less(kept).starters((FEW_SETS if mining else N_SETS) + own) - own)
        # In the last race the best of the first one runs too.
        then = Gepa().effort(left.less(sizes.final(sets + own) + (1 + own) * sizes.slices[-1]))
        if then.candidates:
            return mining, sets, then
        return mining, max(0, left.starters((FEW_SETS if mining else N_SETS) + own) - own), Effort(0, 0, 0)
