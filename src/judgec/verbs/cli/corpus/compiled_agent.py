"""The report of ``judgec compile-agent``."""

from pathlib import Path

from judgec.lm.spec import NO_LM
from judgec.rag.retrieval.manifest import location_shown
from judgec.raters import programs
from judgec.report.numbers import UNKNOWN, brackets, number, show
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.agent_compilation import AgentCompilation
from judgec.verbs.cli.output import command
from judgec.verbs.options.compile_agent import CompileAgentOptions
from judgec.verbs.options.shared import AgentShape


def agent_report(compilation: AgentCompilation, options: CompileAgentOptions) -> Report:
    """Mean scores, the head to head, the verdict and the next command."""
    saved, met, settings = compilation.saved, compilation.duel, compilation.settings
    card, found = saved.card, saved.compiled
    rows = []
    for name in found.scores:
        one = found.found.mean_value(name, settings.pipeline.resampling)
        rows.append((name, number(one.value, 3), brackets(one.low, one.high, 3) or UNKNOWN))
    title = f"{card.name}@{card.version} on {len(found.parts['test'])} test queries: {card.settings['metric']}"
    heads = []
    if met is not None:
        whose = "" if met.independent else ", the judge it was compiled for: optimistic"
        missing = f", {met.unscored} unscored" if met.unscored else ""
        games = f"{met.wins} wins, {met.losses} losses, {met.ties} ties{missing}"
        heads = [f"head to head by {met.judge}{whose}: {games}; net {show(met.net, sign=True)}"]
    verdict = "promoted to champion" if card.promoted else "saved as challenger"
    compiled = f"{card.name}@{programs.CHAMPION if card.promoted else card.version}"
    return Report(
        verdict=[f"{card.name}@{card.version} {verdict}: {card.reason}"],
        tables=[TextTable(title, ("agent", "mean score", "95 % interval"), rows)],
        lines=[*heads, f"prompt {found.chosen.name}; {card.cost.lm_calls} LM calls, {card.cost.seconds:.0f} s"],
        notes=found.notes,
        file=Path(str(saved.report["report_html"])),
        next=[_next(options, compiled)],
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
