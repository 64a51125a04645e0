"""``auto``: criteria of all reasons and a few demonstrations, which cost little; then rewriting the best of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from judgec.compile.search.candidates import UNCOMPILED, Candidate
from judgec.compile.search.demonstrations import BOOTSTRAPPED, LABELLED, N_SETS, demonstration_sets
from judgec.compile.search.mined import FOLDS, LOOKS, MIN_REASONS, mined, mined_from
from judgec.compile.search.reflection import Gepa
from judgec.compile.search.task import Effort, Sizes, Task

FIRST_SHARE = 0.25  # of a limited room: mining may take so much of it, and so the first race, where reflection follows
FEW_SETS = 4  # of demonstrations beside mined criteria, which tell more for fewer calls
MINING = 1 + FOLDS + 1  # prompts: of all reasons, without those of each fold, of the pool to rewrite from


@dataclass(frozen=True, slots=True)
class Auto:
    """The optimizer ``auto``, and the default."""

    needs_reflection: bool = False

    def effort(self, sizes: Sizes) -> Effort:
        """Mining and the first race, then reflection."""
        if not sizes.reflection:
            return Effort(0, 0, N_SETS)
        mining = MINING * LOOKS if sizes.reasons >= MIN_REASONS else 0
        starters, then = 1 + FEW_SETS if mining else N_SETS, Gepa().effort(sizes)
        handed = then.candidates + min(mining, 1) + 1
        return Effort(sizes.final(starters) + then.judgments, mining + then.reflections, handed)

    def search(self, task: Task) -> Sequence[Candidate]:
        """Mined criteria, demonstrations, and rewrites of the best of them, in what the caps leave."""
        if task.reflection is None:
            task.watch.note(f"auto: no reflection, because {task.no_reflection}")
            return list(demonstration_sets(task, (LABELLED, BOOTSTRAPPED), task.starters(N_SETS)))
        looks = int(min(LOOKS, FIRST_SHARE * task.left() / MINING))
        criteria = mined(task, looks) if looks and task.left() >= MINING * looks + task.sizes().final(1) else None
        own = [] if criteria is None else [criteria]
        racing = task.starters(len(own) + FEW_SETS if own else N_SETS, FIRST_SHARE)
        n_sets = racing - len(own)
        found = [*own, *(demonstration_sets(task, (LABELLED, BOOTSTRAPPED), n_sets) if n_sets > 0 else ())]
        start = Candidate(UNCOMPILED, task.module)
        contenders = [start, *found]
        best = contenders[task.race(contenders).chosen] if racing else criteria or start
        rewritten = mined_from(task, task.pool(), looks) if best is criteria else best
        kept = [*([best] if best is not start else []), *(own if best is not criteria else [])]
        return [*kept, *Gepa().improve(task, rewritten or start, len(kept))]
