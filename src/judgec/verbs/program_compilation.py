"""Compiles, saves and logs an agent or a query generator, and shows what was measured of it."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import pandas as pd

from judgec.compile.contest import Contest, M, compile_program
from judgec.compile.contest_report import finished, run_of
from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.store import tracking_store
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Account
from judgec.lm.watch import Watch
from judgec.raters import programs
from judgec.records.card import ProgramCard
from judgec.report.page.page import Found
from judgec.table import seal
from judgec.verbs.options.compile_agent import CompileAgentOptions
from judgec.verbs.options.compile_queries import CompileQueriesOptions
from judgec.verbs.saving import saved_and_logged
from judgec.verbs.spending import session_for


@dataclass(frozen=True)
class ProgramCompilation:
    """A compiled program with what was measured of it.

    Args:
        card: The version that was saved.
        home: Folder of ``programs/``.
        report: What ``--json`` prints.
    """

    card: ProgramCard
    home: Path
    report: Found

    @property
    def name(self) -> str:
        """``NAME@VERSION``."""
        return f"{self.card.name}@{self.card.version}"

    @property
    def promoted(self) -> bool:
        """True when it was shown to be better and is the champion now."""
        return self.card.promoted

    @property
    def reason(self) -> str:
        """The reason why it was promoted, or why not."""
        return self.card.reason

    @property
    def verdict(self) -> str:
        """Sentence: promoted or not, and why."""
        return f"{'promoted' if self.promoted else 'not promoted'}: {self.reason}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader."""
        return tuple(self.report["notes"])

    @property
    def report_path(self) -> Path:
        """The HTML report."""
        return programs.page_path(self.home, self.card)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Each program on test: every statistic with ``.low`` and ``.high``; NaN where undefined."""
        rows: dict[str, dict[str, float | None]] = {}
        for who, one in self.report["test"].items():
            side, _, name = who.partition(".")
            for statistic, found in ({name: one} if name else one).items():
                ends = {end if not name else f"{statistic}.{end}": found[end] for end in ("low", "high")}
                rows.setdefault(side, {}).update({statistic: found["value"], **ends})
        return pd.DataFrame.from_dict(rows, orient="index", dtype=float)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}, {self.verdict}>"


def compiled_program(
    options: CompileAgentOptions | CompileQueriesOptions,
    opened: Callable[[Session], Contest[M]],
    spec: LMSpec,
    account: Account,
    watch: Watch,
    *,
    source: str,
    reflection: LMSpec | None = None,
) -> tuple[ProgramCard, Path, Found]:
    """Compile, save and log.

    Args:
        options: Of the verb.
        opened: Says what is compiled, once its models can be asked.
        spec: Its model.
        account: What may be spent.
        watch: Told where the compile is.
        source: Where the items come from.
        reflection: The model that rewrites prompts.

    Returns:
        What ``ProgramCompilation`` holds.
    """
    started = time.time()
    store = tracking_store(options.home, options.tracking_uri, os.environ)
    with (
        Tracker(store, os.environ, seal.notes) as tracker,
        session_for(options, spec, options.home, watch, account=account, reflection=reflection) as session,
    ):
        contest = opened(session)
        found = compile_program(contest, watch)
        took = started, time.time()
        saved, report = saved_and_logged(
            partial(finished, found),
            lambda saved: run_of(contest, saved.report, saved.card, source=source, took=took),
            (session, tracker, store),
            took,
            watch,
        )
    page = {"report_html": str(programs.page_path(options.home, saved.card))}
    return saved.card, options.home, {**report, **page}
