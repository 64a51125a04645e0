"""Counts what was spent and what may still be spent."""

import threading
from dataclasses import dataclass, field

from judgec.errors import BudgetError

MAX_WAIT = 300.0  # seconds that a call waits for an endpoint that asks for time, in all


@dataclass(frozen=True, slots=True)
class Spent:
    """Totals of a run.

    Args:
        calls: Calls that reached the model, failed time-outs included (they may be billed).
        journaled: Calls answered from the journal: free now.
        shared: Calls that waited for an equal call already in flight.
        input_tokens: Prompt tokens billed in this run.
        output_tokens: Reply tokens billed in this run.
        usd: Dollars spent in this run on calls with a known price.
        unpriced: Calls whose price is unknown; where there is one, ``usd`` is a lower bound.
    """

    calls: int = 0
    journaled: int = 0
    shared: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Tokens billed in this run."""
        return self.input_tokens + self.output_tokens

    @property
    def cost_usd(self) -> float | None:
        """Cost of the run, or None where the price of any call is unknown."""
        return None if self.unpriced else self.usd

    def to_json(self) -> dict[str, object]:
        """For reports."""
        return {"lm_calls": self.calls, "journaled": self.journaled, "cost_usd": self.cost_usd}


class Usage:
    """A meter that several models and threads may share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = self._journaled = self._shared = self._unpriced = 0
        self._input_tokens = self._output_tokens = 0
        self._usd = 0.0

    @property
    def spent(self) -> Spent:
        """The totals so far."""
        with self._lock:
            return Spent(
                calls=self._calls,
                journaled=self._journaled,
                shared=self._shared,
                input_tokens=self._input_tokens,
                output_tokens=self._output_tokens,
                usd=self._usd,
                unpriced=self._unpriced,
            )

    def paid(self, input_tokens: int, output_tokens: int, usd: float | None) -> None:
        """One call came back."""
        with self._lock:
            self._calls += 1
            self._input_tokens += input_tokens
            self._output_tokens += output_tokens
            self._usd += usd or 0.0
            self._unpriced += usd is None

    def journaled(self, calls: int = 1) -> None:
        """Calls were answered from the journal."""
        with self._lock:
            self._journaled += calls

    def shared(self) -> None:
        """One call was answered by an equal one in flight."""
        with self._lock:
            self._shared += 1


@dataclass(slots=True)
class Budget:
    """Hard caps on calls and dollars, checked before each call.

    A call reserves the most that it can cost and gives back what it did not. A call that was answered from
    the journal counts once a run, with what it cost when it was paid, if ``count_journaled``: then a search
    that was killed and resumed stops exactly where an uninterrupted one stops. Refused attempts (429, 5xx)
    are not calls.

    Args:
        calls: Most calls, or None for no cap.
        usd: Most dollars, or None for no cap.
        count_journaled: Whether replies from the journal count.
    """

    calls: int | None = None
    usd: float | None = None
    count_journaled: bool = True
    _used: int = field(default=0, init=False)
    _usd: float = field(default=0.0, init=False)
    _held: int = field(default=0, init=False)
    _held_usd: float = field(default=0.0, init=False)
    _seen: set[bytes] = field(default_factory=set, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def limited(self) -> bool:
        """True when there is a cap at all."""
        return self.calls is not None or self.usd is not None

    @property
    def used(self) -> tuple[int, float]:
        """Calls and dollars counted so far."""
        with self._lock:
            return self._used, self._usd

    def reserve(self, most_usd: float) -> bool:
        """Hold room for one call.

        Returns: True when it is held; False when calls in flight hold it, so that the caller should wait.

        Raises:
            BudgetError: When the call does not fit whatever those in flight turn out to cost.
        """
        with self._lock:
            self._check(self._used + 1, self._usd + most_usd)
            if self.calls is not None and self._used + self._held + 1 > self.calls:
                return False
            if self.usd is not None and self._usd + self._held_usd + most_usd > self.usd:
                return False
            self._held += 1
            self._held_usd += most_usd
            return True

    def spare(self, most_usd: float) -> bool:
        """Hold room for a call that nobody asked for, where at least one more fits beside it."""
        with self._lock:
            calls, usd = self._used + self._held + 2, self._usd + self._held_usd + 2 * most_usd
            if (self.calls is not None and calls > self.calls) or (self.usd is not None and usd > self.usd):
                return False
            self._held += 1
            self._held_usd += most_usd
            return True

    def settle(self, digest: bytes | None, most_usd: float, usd: float | None) -> None:
        """The call was made: turn its reservation into ``usd``, or into all of it when nobody knows."""
        with self._lock:
            self._held -= 1
            self._held_usd -= most_usd
            self._used += 1
            self._usd += most_usd if usd is None else usd
            if digest is not None:
                self._remember(digest)

    def release(self, most_usd: float) -> None:
        """The call was not made, or was refused: give the reservation back."""
        with self._lock:
            self._held -= 1
            self._held_usd -= most_usd

    def paid_before(self, digest: bytes, usd: float | None) -> None:
        """A reply has come to a call that an earlier run had made: no cap can stop it any more."""
        with self._lock:
            self._used += 1
            self._usd += usd or 0.0
            self._remember(digest)

    def charge_journaled(self, digest: bytes, usd: float | None) -> None:
        """A reply came from the journal; the first time in a run it counts like the call it replaces.

        Raises:
            BudgetError: When an uninterrupted run would have stopped here.
        """
        if not (self.count_journaled and self.limited):
            return
        with self._lock:
            if digest in self._seen:
                return
            self._check(self._used + 1, self._usd + (usd or 0.0))
            self._used += 1
            self._usd += usd or 0.0
            self._remember(digest)

    def _remember(self, digest: bytes) -> None:
        if self.limited and self.count_journaled:
            self._seen.add(digest)

    def _check(self, calls: int, usd: float) -> None:
        if self.calls is not None and calls > self.calls:
            raise BudgetError(
                f"--budget: {self._used} calls made; {self.calls} are allowed. "
                "What is finished is kept: raise --budget and run again to go on."
            )
        if self.usd is not None and usd > self.usd:
            raise BudgetError(
                f"--max-cost: ${self._usd:.4f} spent and the next call may bring it to ${usd:.4f}; "
                f"${self.usd:.4f} are allowed. "
                "What is finished is kept: raise --max-cost and run again to go on."
            )


@dataclass(frozen=True, slots=True)
class Account:
    """Caps and spending of a command; all its sessions share one.

    Args:
        caps: What it may.
        usage: What it has.
    """

    caps: Budget
    usage: Usage = field(default_factory=Usage)

    @property
    def spent(self) -> Spent:
        """The totals so far."""
        return self.usage.spent
