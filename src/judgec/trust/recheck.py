"""Asks about known items again: whether the model behind a name still answers as it did."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from judgec.lm.executor import Ask, Reply, Request
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.report.numbers import signed


@dataclass(frozen=True, slots=True)
class Recheck:
    """Judgments of a model on items now beside its earlier ones.

    Args:
        items: How many have a verdict of then and of now.
        otherwise: How many of them have another grade now.
        moved: Mean score of now minus that of then; 0 where there are no items.
    """

    items: int
    otherwise: int
    moved: float

    def to_json(self) -> dict[str, object]:
        """For ``--json``."""
        return asdict(self)

    @property
    def note(self) -> str | None:
        """A sentence where there is something to say."""
        if not self.items:
            return "recheck: the journal has no reply about these items yet; the next recheck has"
        if not self.otherwise:
            return None
        return (
            f"recheck: {self.otherwise} of {self.items} known items get another grade than before (mean score "
            f"{signed(self.moved)}): the model answers otherwise than when it was measured. "
            "Measure the judge on labels, or compile it again"
        )


def recheck(judged: Callable[[Sequence[Item], Ask], Judgments], items: Sequence[Item], ask: Ask, now: int) -> Recheck:
    """Ask about items as usual, so that the journal answers, and past the journal, and compare in pairs.

    Args:
        judged: Judges items by what ``ask`` says.
        items: What the judge was asked about before.
        ask: The way to its model.
        now: Tells this recheck from others.
    """
    known = True

    def before(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        nonlocal known
        for reply in ask(requests, total=total):
            known = known and reply.cached
            yield reply

    def anew(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        return ask((replace(one, rollout=now + (one.rollout or 0)) for one in requests), total=total)

    then = judged(items, before)
    if not known:
        return Recheck(0, 0, 0.0)
    said = judged(items, anew)
    both = then.scored & said.scored
    apart = (then.grade[both] != said.grade[both]).any(axis=1)
    moved = said.score[both] - then.score[both]
    return Recheck(int(both.sum()), int(apart.sum()), float(np.mean(moved)) if both.any() else 0.0)


def known_items(items: Sequence[Item], most: int) -> list[Item]:
    """The same few items every time: those whose ids have the least hashes."""
    return sorted(items, key=lambda item: hashlib.sha256(item.item_id.encode()).digest())[:most]
