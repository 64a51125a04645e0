"""Says how long a call waits for an endpoint that asks for time, and tells whoever looks on."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock

from dspy import lm15

from judgec.lm.usage import MAX_WAIT

WORTH_SAYING = 5.0  # a shorter wait is over before it is read
AT_ONCE = 1.0  # waits that end so close together are one line


class MaxWaitError(lm15.RateLimitError):  # type: ignore[misc]  # DSPy is untyped
    """The endpoint asks for more time than a call may wait; other calls may be luckier."""


def _unseen(_: str) -> None:
    """Nobody looks on."""


@dataclass(slots=True)
class MaxWait:
    """Limit on how long the calls of one run wait.

    Args:
        seconds: Most that one call waits between its attempts, in all.
        say: Told, once for all calls that wait alike, why and until when.
    """

    seconds: float = MAX_WAIT
    say: Callable[[str], None] = _unseen
    _until: float = field(default=0.0, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def check(self, error: lm15.LM15Error, waited: float, wait: float, why: str) -> lm15.LM15Error:
        """The error itself, or ``MaxWaitError`` when waiting ``wait`` seconds more would take too long.

        Args:
            error: What the endpoint answered.
            waited: Seconds that the call has waited already.
            wait: Seconds that it should wait now; any number.
            why: The error in a line.
        """
        if waited + wait <= self.seconds:  # false for NaN, too
            return error
        asked = f"asks to wait {error.retry_after:g} s" if error.retry_after else f"has made it wait {waited:g} s"
        said = f"the endpoint {asked}; --max-wait is {self.seconds:g} s ({why})"
        return MaxWaitError(said, status=error.status, provider_code=error.provider_code)

    def fit(self, wait: float, waited: float, asked: float | None) -> float:
        """A wait of ``asked`` seconds that fits, though it does not with what spreads the waits of many callers.

        Args:
            wait: Seconds that the call should wait now.
            waited: Seconds that it has waited already.
            asked: Seconds that the endpoint asks to wait, or None.
        """
        return wait if not asked else max(asked, min(wait, self.seconds - waited))

    def tell(self, seconds: float, now: float, why: str) -> None:
        """A call is about to wait.

        Args:
            seconds: How long.
            now: Seconds since the epoch.
            why: In a line.
        """
        with self._lock:
            if seconds < WORTH_SAYING or now + seconds < self._until + AT_ONCE:
                return
            self._until = now + seconds
        until = datetime.fromtimestamp(now + seconds, UTC).astimezone()
        self.say(f"waiting {seconds:.0f} s for the endpoint, until {until:%H:%M:%S} ({why})")
