"""Saves a finished compile of any kind, and logs its run while nobody else can save another one."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from judgec.compile.release import Finished, Saved, cost_of, release
from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.runs import CompileRun
from judgec.connect.tracking.store import TrackingStore
from judgec.lm.session import Session
from judgec.lm.watch import Watch
from judgec.records.card import Cost
from judgec.report.page.page import Found

C = TypeVar("C")


def saved_and_logged(
    made: Callable[[Cost, str], Finished[C]],
    run: Callable[[Saved[C]], CompileRun],
    opened: tuple[Session, Tracker, TrackingStore],
    took: tuple[float, float],
    watch: Watch,
) -> tuple[Saved[C], Found]:
    """Write a version, point the aliases and log the run.

    Args:
        made: The compile, by what it cost and when it was made (ISO 8601).
        run: What is logged of the version on disk.
        opened: Where its calls were counted, who logs, and where.
        took: When it began and ended, in POSIX seconds.
        watch: Told when it is logged.

    Returns:
        The version, and what ``--json`` prints of it.
    """
    session, tracker, store = opened
    logged: dict[str, object] = {}

    def track(saved: Saved[C]) -> None:
        watch.stage("track", store.shown)
        logged["mlflow_run_id"] = tracker.log_compile(run(saved)).run_id

    created = datetime.fromtimestamp(took[1], tz=UTC).isoformat(timespec="seconds")
    saved = release(made(cost_of(session.spent, took[1] - took[0]), created), track)
    return saved, {**saved.report, **logged}
