"""Asks a system question after question: several at once, within its rate, with retries, time-outs and no losses."""

import heapq
import queue
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from judgec.rag.agents.external import ExternalReply, System, SystemFailedError
from judgec.records.scenario.outcome import SystemReply

BACK_OFF = 0.5  # seconds before the first retry, doubled for each further one
LONGEST_BACK_OFF = 30.0
POLL = 0.05  # seconds that the supervisor waits at most before it looks at deadlines
# A busy or broken server may recover; a page of HTML or a missing field will be the same the next time.
_PASSING = re.compile(r"^(?:HTTP (?:408|425|429|5\d\d)|\w*(?:Timeout|Connect|Read|Write|Network|RemoteProtocol)\w*)\b")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the load of a system.

    Args:
        in_flight: Most questions at once.
        rate: Most requests a second, retries included; None for no limit.
        retries: Further attempts after a failure that may pass.
        deadline: Seconds after which an attempt is given up.
    """

    in_flight: int = 4
    rate: float | None = None
    retries: int = 2
    deadline: float = 120.0


@dataclass(frozen=True, slots=True)
class Running:
    """The services that a run needs from outside.

    Args:
        clock: Monotonic seconds.
        back_off: Seconds before the first retry.
    """

    clock: Callable[[], float] = time.monotonic
    back_off: float = BACK_OFF


@dataclass(order=True)
class _Job:
    """One question on its way; ordered by when it may be asked."""

    due: float
    row: int
    attempt: int = field(compare=False, default=0)
    begun: float = field(compare=False, default=0.0)
    since: float | None = field(compare=False, default=None)


def run_system(
    system: System,
    questions: Sequence[tuple[str, str]],
    limits: Limits,
    running: Running,
    keep: Callable[[SystemReply], None],
) -> list[SystemReply]:
    """The replies in the order of the questions; a failure is a reply with an ``error``.

    Each attempt has a thread of its own: one that hangs is given up at the deadline and left behind, so that nothing
    waits for it, not even the end of the process.

    Args:
        system: Under test.
        questions: Id and text.
        limits: How hard it is asked.
        running: Clock and back-off.
        keep: Given each reply as soon as it is there, in this thread.
    """
    clock = running.clock
    waiting = [_Job(0.0, row) for row in range(len(questions))]
    heapq.heapify(waiting)
    flying: dict[tuple[int, int], _Job] = {}
    landed: queue.Queue[tuple[tuple[int, int], ExternalReply | str]] = queue.Queue()
    replies: dict[int, SystemReply] = {}
    next_start = clock()

    def finish(job: _Job, outcome: ExternalReply | str) -> None:
        query_id, _ = questions[job.row]
        may_pass = isinstance(outcome, str) and _PASSING.match(outcome) is not None
        if may_pass and job.attempt < limits.retries:
            wait = min(running.back_off * 2**job.attempt, LONGEST_BACK_OFF)
            heapq.heappush(waiting, _Job(clock() + wait, job.row, job.attempt + 1, since=job.since))
            return
        seconds = clock() - (job.begun if job.since is None else job.since)
        replies[job.row] = _reply(query_id, system.name, outcome, seconds, job.attempt + 1)
        keep(replies[job.row])

    while waiting or flying:
        now = clock()
        while waiting and len(flying) < limits.in_flight and waiting[0].due <= now and next_start <= now:
            job = heapq.heappop(waiting)
            job.begun = now
            job.since = now if job.since is None else job.since
            flying[job.row, job.attempt] = job
            _start(system, questions[job.row][1], (job.row, job.attempt), landed)
            if limits.rate is not None:
                next_start = max(next_start, now - 1 / limits.rate) + 1 / limits.rate
        try:
            key, outcome = landed.get(timeout=_patience(waiting, flying, limits, next_start, clock()))
        except queue.Empty:
            pass
        else:
            if (landing := flying.pop(key, None)) is not None:  # else it was given up before
                finish(landing, outcome)
        for key, late in list(flying.items()):
            if clock() - late.begun >= limits.deadline:
                del flying[key]
                finish(late, f"Timeout: no answer within {limits.deadline:g} s")
    return [replies[row] for row in range(len(questions))]


def _patience(
    waiting: list[_Job], flying: dict[tuple[int, int], _Job], limits: Limits, next_start: float, now: float
) -> float:
    """Seconds until something must be looked at, at least a millisecond and at most ``POLL``."""
    ends = [job.begun + limits.deadline for job in flying.values()]
    if waiting and len(flying) < limits.in_flight:
        ends.append(max(waiting[0].due, next_start))
    return min(max(min(ends, default=now) - now, 0.001), POLL)


def _start(
    system: System, text: str, key: tuple[int, int], landed: "queue.Queue[tuple[tuple[int, int], ExternalReply | str]]"
) -> None:
    def ask() -> None:
        try:
            landed.put((key, system.ask(text)))
        except SystemFailedError as error:
            landed.put((key, str(error)))
        except Exception as error:  # noqa: BLE001  # somebody else's code: whatever it raises is its failure
            landed.put((key, f"{type(error).__name__}: {str(error)[:200]}"))

    threading.Thread(target=ask, daemon=True, name="judgec-probe").start()


def _reply(query_id: str, system: str, outcome: ExternalReply | str, seconds: float, attempts: int) -> SystemReply:
    if isinstance(outcome, str):
        fault = _sound(outcome)
        return SystemReply(
            query_id=query_id, system=system, answer=None, error=fault, seconds=seconds, attempts=attempts
        )
    contexts = outcome.contexts
    if not outcome.text.strip():
        return SystemReply(
            query_id=query_id, system=system, answer=None, error="empty answer", seconds=seconds, attempts=attempts
        )
    return SystemReply(
        query_id=query_id,
        system=system,
        answer=_sound(outcome.text),
        contexts=tuple(_sound(context.text) for context in contexts) or None,
        doc_ids=tuple(_sound(c.passage_id) for c in contexts) if any(c.passage_id for c in contexts) else None,
        seconds=seconds,
        attempts=attempts,
    )


def _sound(text: str) -> str:
    """The text with halves of surrogate pairs, which JSON can carry and no file in UTF-8 can, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
