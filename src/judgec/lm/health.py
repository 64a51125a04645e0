"""Tells a call's own failure from the service's: by what becomes of the others meanwhile, never by a count of failures.

A failed try counts against its call when most of the calls that ended since its last one succeeded, and for it when
most of them failed; that the smallest question was answered meanwhile counts more. Where nothing succeeds the
service is ill: calls wait until one does.
"""

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple


class Ended(NamedTuple):
    """Numbers of tries that have ended so far, well and badly."""

    well: int
    badly: int


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The smallest question, put to the model to see whether it answers.

    Args:
        began: When, in monotonic seconds.
        alive: Whether it did.
    """

    began: float
    alive: Future[bool]


class Health:
    """Health of one model, by the outcomes of its calls.

    Attributes:
        answered: One call has succeeded in this run.
        since: When the first failure after the last success came, in monotonic seconds; None after a success.
    """

    def __init__(self) -> None:
        self.answered = False
        self.since: float | None = None
        self._well = self._badly = 0
        self._look: ModelCheck | None = None
        self._lock = threading.Lock()

    @property
    def ended(self) -> Ended:
        """All tries so far."""
        return Ended(self._well, self._badly)

    def well(self) -> None:
        """A try succeeded."""
        with self._lock:
            self._well += 1
            self.answered, self.since = True, None

    def badly(self, now: float) -> None:
        """A try failed in a way that another may not."""
        with self._lock:
            self._badly += 1
            if self.since is None:
                self.since = now

    def ill_for(self, now: float) -> float:
        """Seconds for which nothing has succeeded, since something failed."""
        return 0.0 if self.since is None else now - self.since

    def look(self, since: float, now: float) -> tuple[ModelCheck, bool]:
        """The look that began after ``since``, and whether the caller is the one to make it."""
        with self._lock:
            if self._look is not None and self._look.began >= since:
                return self._look, False
            self._look = ModelCheck(now, Future())
            self._look.alive.set_running_or_notify_cancel()  # so that no one who waits can cancel it
            return self._look, True


@dataclass(slots=True)
class Tries:
    """The tries of one call.

    Args:
        seen: What had ended when the last of them did, or the call began.
        began: When the last of them failed, or the call began, in monotonic seconds.
        failed: How many have failed.
        own: How many of these count against the call.
        waited: Seconds between them.
        worked: Seconds of those that failed.
    """

    seen: Ended
    began: float
    failed: int = 0
    own: int = 0
    waited: float = 0.0
    worked: float = field(default=0.0)

    def fail(self, ended: Ended, now: float) -> bool:
        """Count a failed try; returns whether most of the others that ended meanwhile succeeded: two of three.

        Args:
            ended: What has ended by now, this try among them.
            now: Monotonic seconds.
        """
        well, badly = ended.well - self.seen.well, ended.badly - self.seen.badly - 1
        healthy = well > 2 * badly
        self.failed += 1
        self.own = max(0, self.own + healthy - (badly > well))  # in a storm most fail, and some do by chance
        self.seen, self.began = ended, now
        return healthy
