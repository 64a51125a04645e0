"""Caps that hold for all workers together: each takes a small part at a time, and gives back what it did not need."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from judgec.errors import BudgetError
from judgec.lm.usage import Budget

PARTS = 200  # into which a cap is cut for each worker: what lies unused with all of them is below 1 %


@dataclass(frozen=True, slots=True)
class BudgetShare:
    """Of the caps: so many calls and dollars."""

    calls: int = 0
    usd: float = 0.0


class BudgetShares:
    """The rest of the caps.

    Args:
        calls: Most calls of all workers together, or None for no cap.
        usd: Most dollars, likewise.
        workers: How many take from it.
    """

    def __init__(self, calls: int | None, usd: float | None, workers: int) -> None:
        self._calls, self._usd = calls, usd
        self._part = BudgetShare(
            max(1, (calls or 0) // (PARTS * workers)), 0.0 if usd is None else usd / (PARTS * workers)
        )
        self._lock = threading.Lock()

    def take(self, usd: float) -> BudgetShare:
        """A part, of so many dollars at least; nothing where less is left."""
        with self._lock:
            calls = 0 if self._calls is None else min(self._part.calls, self._calls)
            dollars = 0.0 if self._usd is None else min(max(self._part.usd, usd), self._usd)
            if (self._calls is not None and not calls) or (self._usd is not None and dollars < usd):
                return BudgetShare()
            self._calls = None if self._calls is None else self._calls - calls
            self._usd = None if self._usd is None else self._usd - dollars
            return BudgetShare(calls, dollars)

    def give(self, part: BudgetShare) -> None:
        """Gives back what was not needed."""
        with self._lock:
            self._calls = None if self._calls is None else self._calls + part.calls
            self._usd = None if self._usd is None else self._usd + part.usd


class PartialBudget(Budget):
    """A ``Budget`` that asks for more as it is used up.

    Args:
        calls: The cap of all workers together, or None.
        usd: The same in dollars.
        take: Asks for a part, as ``BudgetShares.take``.
    """

    def __init__(self, calls: int | None, usd: float | None, take: Callable[[float], BudgetShare]) -> None:
        super().__init__(None if calls is None else 0, None if usd is None else 0.0, count_journaled=False)
        self._take = take

    def reserve(self, most_usd: float) -> bool:
        """As ``Budget.reserve``; looks for more where calls in flight hold all that is here."""
        try:
            held = super().reserve(most_usd)
        except BudgetError:
            if not self._more(most_usd):
                raise
            return self.reserve(most_usd)
        return held or (self._more(most_usd) and super().reserve(most_usd))

    def unused(self) -> BudgetShare:
        """Takes out the share that nobody needs any more once all calls are made."""
        calls, usd = self.used
        left = BudgetShare(max(0, (self.calls or 0) - calls), max(0.0, (self.usd or 0.0) - usd))
        self.calls = None if self.calls is None else calls
        self.usd = None if self.usd is None else usd
        return left

    def _more(self, most_usd: float) -> bool:
        with self._lock:
            lacking = 0.0 if self.usd is None else max(0.0, self._usd + self._held_usd + most_usd - self.usd)
        part = self._take(lacking)
        if part == BudgetShare():
            return False
        self.calls = None if self.calls is None else self.calls + part.calls
        self.usd = None if self.usd is None else self.usd + part.usd
        return True
