"""A compiled agent with what was measured of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from judgec.compile.agents.compile import AgentCompile
from judgec.compile.agents.duel import Duel
from judgec.compile.agents.report import SavedAgent
from judgec.raters import programs
from judgec.verbs.frames import frame_part


@dataclass(frozen=True)
class AgentCompilation:
    """A compiled agent with what was measured of it; ``judgec.answer(agents=found.name, ...)`` runs it.

    Args:
        saved: The version on disk.
        duel: Compiled against uncompiled, head to head; None where there is no judge.
        settings: What was asked for.
        report: What ``judgec compile-agent --json`` prints.
    """

    saved: SavedAgent
    duel: Duel | None
    settings: AgentCompile
    report: Mapping[str, object]

    @property
    def name(self) -> str:
        """``NAME@VERSION``."""
        return f"{self.saved.card.name}@{self.saved.card.version}"

    @property
    def promoted(self) -> bool:
        """True when it was shown to be better and is the champion now."""
        return self.saved.card.promoted

    @property
    def reason(self) -> str:
        """Why it was promoted, or why not."""
        return self.saved.card.reason

    @property
    def verdict(self) -> str:
        """Whether it was promoted, and why."""
        return f"{'promoted' if self.promoted else 'not promoted'}: {self.reason}"

    @property
    def report_path(self) -> Path:
        """The HTML report."""
        return programs.page_path(self.settings.home, self.saved.card)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Agents on the test queries: mean ``score`` with ``low`` and ``high``; NaN where undefined."""
        rows = {}
        for who in self.saved.compiled.scores:
            one = self.saved.compiled.found.mean_value(who, self.settings.pipeline.resampling)
            rows[who] = {"score": one.value, "low": one.low, "high": one.high}
        return pd.DataFrame.from_dict(rows, orient="index", dtype=float)

    def __repr__(self) -> str:
        return f"<AgentCompilation {self.name}, {self.verdict}>"

    def _repr_html_(self) -> str:
        return frame_part(self.verdict, self.table, name=self.name, digits=3)
