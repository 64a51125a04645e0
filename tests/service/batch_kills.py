"""Kills a process at a chosen step of its talk with a fake batch endpoint."""

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.service.fake_batches import Act

ROOT = Path(__file__).parents[2]
Moment = Literal["before", "after", "answered"]
"""The request never arrives; it is served and its reply never arrives; the reply arrives, and then death does."""
MOMENTS: tuple[Moment, ...] = ("before", "after", "answered")
# The command with less time for a creation that is still on its way: on one machine nothing is, for that long.
QUICK = (
    "import judgec.lm.batch.client as desk; desk.SETTLE_SECONDS = 0.2; from judgec.verbs.cli.app import main; main()"
)


@dataclass(frozen=True, slots=True)
class KillPoint:
    """The ``count``-th request of a step in the life of a process."""

    step: str
    moment: Moment
    count: int = 1


def every_step(*, uploads: bool) -> list[KillPoint]:
    """Every step of two batches, one after the other; each run is killed one step further than the one before."""
    begun = [KillPoint("batches.list", moment) for moment in MOMENTS]
    uploaded = [KillPoint("files.create", moment) for moment in MOMENTS] if uploads else []
    read = [KillPoint(step, moment) for step in ("batches.retrieve", "files.content") for moment in MOMENTS]
    first_one = [*uploaded, KillPoint("batches.create", "before"), KillPoint("batches.create", "after"), *read]
    second = [*uploaded, KillPoint("batches.create", "before"), KillPoint("batches.create", "answered"), *read]
    return [*begun, *first_one, *second]


class Killer:
    """Hooks of a ``FakeBatches``; kills the process that runs, once, where its point says."""

    def __init__(self) -> None:
        self.kills = 0
        self._point: KillPoint | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def run(self, arguments: Sequence[str], point: KillPoint | None, *, quick: bool = True) -> int:
        """Run the command until it ends or is killed; returns its exit code."""
        start = [sys.executable, "-c", QUICK] if quick else [sys.executable, str(ROOT / "cli.py")]
        with self._lock:
            self._point, self._seen = point, Counter()
            self._process = subprocess.Popen([*start, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, said = self._process.communicate(timeout=600)
        code = self._process.returncode
        if code not in {0, -signal.SIGKILL}:
            raise AssertionError(f"exit code {code}: {said.decode()[-2000:]}")
        return code

    def hook(self, step: str) -> Act:
        """Told before a request is served."""
        self._seen[step] += 1
        point = self._point
        if point is None or point.moment == "answered" or (step, self._seen[step]) != (point.step, point.count):
            return ""
        self._kill()
        return "drop" if point.moment == "before" else "lose"

    def answered(self, step: str) -> None:
        """Told after its reply was sent."""
        point = self._point
        if point and point.moment == "answered" and (step, self._seen[step]) == (point.step, point.count):
            self._kill()

    def _kill(self) -> None:
        with self._lock:
            assert self._process is not None  # it has just asked
            if self._process.poll() is None:
                os.kill(self._process.pid, signal.SIGKILL)
                self.kills += 1
            self._point = None
