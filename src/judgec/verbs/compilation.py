"""One compile from labels to a saved, tracked version: what the command, Python and MLflow's bridge have in common."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from judgec.compile.compile import compile_judge, plan_judge
from judgec.compile.report import Saved, save, with_run
from judgec.compile.settings import CompileSettings
from judgec.compile.track import run_of
from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.runs import Logged
from judgec.connect.tracking.store import TrackingStore
from judgec.lm.usage import Account, Spent
from judgec.lm.watch import Watch
from judgec.raters import programs
from judgec.records.label import LabelSet
from judgec.report.page.notebook import judges_part
from judgec.stats.agreement.objective import statistics_of
from judgec.table import seal
from judgec.verbs.spending import session_for

if TYPE_CHECKING:
    import pandas as pd

    from judgec.verbs.judge import Judge


@dataclass(frozen=True)
class Compilation:
    """A compiled judge with what was measured of it.

    Args:
        saved: The version on disk.
        report: What ``compile-judge --json`` prints.
        home: Where it is saved.
    """

    saved: Saved
    report: Mapping[str, object]
    home: Path

    @property
    def name(self) -> str:
        """``NAME@VERSION``."""
        return f"{self.saved.card.name}@{self.saved.card.version}"

    @property
    def promoted(self) -> bool:
        """True when it was shown to be better and is the champion now."""
        return self.saved.card.promoted

    @property
    def verdict(self) -> str:
        """The report's first sentence."""
        return str(self.report["verdict"])

    @property
    def reason(self) -> str:
        """Why it was promoted, or why not."""
        return self.saved.card.reason

    @property
    def report_path(self) -> Path:
        """The HTML report."""
        return programs.page_path(self.home, self.saved.card)

    @cached_property
    def table(self) -> "pd.DataFrame":
        """Judges by statistics: for each the value, ``STATISTIC.low`` and ``STATISTIC.high``; NaN where undefined."""
        import pandas as pd

        rows = {}
        for judge, agreement in self.saved.compiled.verification.agreements.items():
            row: dict[str, float | None] = {}
            for name, estimate in agreement.estimates.items():
                row |= {name: estimate.value, f"{name}.low": estimate.low, f"{name}.high": estimate.high}
            rows[judge] = row
        return pd.DataFrame.from_dict(rows, orient="index", dtype=float)

    @cached_property
    def judge(self) -> "Judge":
        """The version that was compiled, ready to judge; with its own models, where they were asked, and functions."""
        from judgec.verbs.judge import load_judge

        settings = self.saved.compiled.promotion_test.settings
        asked, called = settings.lm.api_base, settings.functions
        return load_judge(self.name, home=self.home, api_base=asked, functions=called)  # type: ignore[arg-type]  # as there

    def __repr__(self) -> str:
        return f"<Compilation {self.name}, {'promoted' if self.promoted else 'not promoted'}: {self.verdict}>"

    def _repr_html_(self) -> str:
        drawn = statistics_of(self.saved.card.objective)[0]
        return judges_part(self.name, self.verdict, self.saved.compiled.verification.agreements, drawn)


def _kept(spent: Spent, settings: CompileSettings) -> str:
    """What an interrupted compile leaves behind."""
    replies, journal = spent.calls + spent.journaled, settings.home / ".judgec" / "journal.db"
    return (
        f"{settings.name}: no version was saved; {replies:,} replies of {settings.lm.model} are in "
        f"{journal} and are not asked for again"
    )


def compile_and_save(
    labels: LabelSet,
    settings: CompileSettings,
    store: TrackingStore,
    environ: Mapping[str, str],
    *,
    source: str,
    watch: Watch,
    account: Account | None = None,
    clock: Callable[[], float] = time.time,
) -> Compilation:
    """Compile a judge, save the version, point the aliases and log the run.

    Args:
        labels: What it learns from and is measured on.
        settings: What was asked for.
        store: Where the run is logged.
        environ: Where keys are looked up.
        source: What the run calls the labels.
        watch: Told where the compile is.
        account: What other work may spend together with this, in place of the settings' caps.
        clock: Seconds since 1970.

    Raises:
        UserError: When the labels cannot be learned from, before anything is opened or written.
        ServiceError: When the LM fails for good.
    """
    started = clock()
    plan_judge(labels, settings)
    with (
        Tracker(store, environ, seal.notes) as tracker,
        session_for(
            settings,
            settings.lm,
            settings.home,
            watch,
            account=account,
            reflection=settings.reflection,
            batched="passes",
        ) as session,
    ):
        try:
            compiled = compile_judge(labels, settings, session, watch)
        except KeyboardInterrupt as stopped:
            stopped.add_note(_kept(session.spent, settings))
            raise
        ended = clock()
        created = datetime.fromtimestamp(ended, tz=UTC).isoformat(timespec="seconds")
        logged: list[Logged] = []

        def track(saved: Saved) -> None:
            watch.stage("track", store.shown)
            run = run_of(saved.compiled, saved, settings, source=source, started=started, ended=ended)
            logged.append(tracker.log_compile(run))

        saved = save(compiled, settings, session.spent, created=created, seconds=ended - started, track=track)
    return Compilation(saved, with_run(saved, logged[0].run_id), settings.home)
