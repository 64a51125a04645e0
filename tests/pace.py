"""Holds CPU times to a limit that is the same promise on a slow or busy machine as on the one it was measured on.

CPU seconds are no constant of a program: a neighbour on the same core, or a slower processor, doubles them. A limit
is therefore one of the machine that it was stated for (``REFERENCE``), and a fixed piece of Python run just before
and after says by how much this one is slower at the moment.
"""

import time
from collections.abc import Callable

REFERENCE = 0.11  # CPU seconds of the yardstick where the limits were measured
TRIES = 3


_SEEN: list[float] = []


def slowest() -> float:
    """The slowest that this machine was seen so far: what a neighbour took away from a test is over when it ends."""
    _SEEN.extend(slowness() for _ in range(TRIES))
    return max(_SEEN)


def slowness() -> float:
    """How many times the CPU time of the reference machine this one needs now, at least 1."""
    began = time.process_time()
    assert len({str(number): number * number for number in range(400_000)}) == 400_000
    return max(1.0, (time.process_time() - began) / REFERENCE)


def assert_within(seconds: float, run: Callable[[], float]) -> None:
    """Fail unless a run stays within its CPU seconds, by the reference machine, in one of three tries.

    Args:
        seconds: The limit, in CPU seconds of the reference machine.
        run: Does the work and returns the CPU seconds that it took.
    """
    took = []
    for _ in range(TRIES):
        before = slowness()
        took.append(run() / max(before, slowness()))
        if took[-1] < seconds:
            return
    raise AssertionError(f"{', '.join(f'{one:.2f}' for one in took)} CPU seconds in {TRIES} tries; limit {seconds}")


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process for some work."""
    began = time.process_time()
    work()
    return time.process_time() - began
