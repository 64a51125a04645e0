"""A compiled agent with what was measured of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from judgec.compile.agents.compile import AgentCompile
from judgec.compile.agents.report import SavedAgent
from judgec.lm.spec import NO_LM
from judgec.rag.retrieval.manifest import location_shown
from judgec.raters import programs
from judgec.report.numbers import UNKNOWN, brackets, number
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.options.compile_agent import CompileAgentOptions
from judgec.verbs.options.shared import AgentShape
from judgec.verbs.typed import command


@dataclass(frozen=True)
class AgentCompilation:
    """A compiled agent with what was measured of it; ``judgec.answer(agents=found.name, ...)`` runs it.

    Args:
        saved: The version on disk.
        settings: What was asked for.
        report: What ``judgec compile-agent --json`` prints.
    """

    saved: SavedAgent
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
        """The reason why it was promoted, or why not."""
        return self.saved.card.reason

    @property
    def verdict(self) -> str:
        """Sentence: promoted or not, and why."""
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
        return notebook(agent_report(self))


def agent_report(compilation: AgentCompilation, options: CompileAgentOptions | None = None) -> Report:
    """Mean scores, the verdict and the next command."""
    saved, settings = compilation.saved, compilation.settings
    card, found = saved.card, saved.compiled
    rows = []
    for name in found.scores:
        one = found.found.mean_value(name, settings.pipeline.resampling)
        rows.append((name, number(one.value, 3), brackets(one.low, one.high, 3) or UNKNOWN))
    title = f"{card.name}@{card.version} on {len(found.parts['test'])} test queries: {card.settings['metric']}"
    verdict = "promoted to champion" if card.promoted else "saved as challenger"
    compiled = f"{card.name}@{programs.CHAMPION if card.promoted else card.version}"
    return Report(
        data=compilation.report,
        verdict=[f"{card.name}@{card.version} {verdict}: {card.reason}"],
        tables=[TextTable(title, ("agent", "mean score", "95 % interval"), rows)],
        lines=[f"prompt {found.chosen.name}; {card.cost.lm_calls} LM calls, {card.cost.seconds:.0f} s"],
        notes=found.notes,
        file=Path(str(saved.report["report_html"])),
        next=[] if options is None else [_next(options, compiled)],
    )


def _next(options: CompileAgentOptions, compiled: str) -> str:
    """The command that lets the agent answer beside the uncompiled one."""
    shown = {
        "--index": location_shown(options.index),
        "--queries": str(options.queries),
        "--agents": f"{options.agent},{compiled}",
        "--lm": None if options.lm == NO_LM else options.lm,
        "--api-base": options.api_base,
        "--persona": options.persona or None,
        "--out": "answers.jsonl",
    }
    numbers = {"--k": "k", "--variations": "variations", "--rrf-k": "rrf_k"}
    asked = {flag: getattr(options, name) for flag, name in numbers.items()}
    usual = {flag: getattr(AgentShape, name) for flag, name in numbers.items()}
    shown |= {flag: str(value) for flag, value in asked.items() if value != usual[flag]}  # of the uncompiled agent
    given = [part for option, value in shown.items() if value is not None for part in (option, value)]
    given += [] if options.citations else ["--no-citations"]
    renamed = [part for theirs, ours in options.columns.items() for part in ("--map", f"{theirs}={ours}")]
    return command("answer", *given, *renamed, home=options.home)
