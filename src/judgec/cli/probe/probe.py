"""``judgec probe``."""

from typing import Annotated

import typer

from judgec.api.options.probe import ProbeOptions
from judgec.cli.shell import JsonOption, command_of


@command_of(ProbeOptions)
def probe(
    options: ProbeOptions,
    *,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--compare", metavar="A B", help="Two probes' folders (DIR or DIR:SYSTEM).", rich_help_panel="What"
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Put questions of known kinds to RAG systems: where they fail, how often, and which part of them does."""
    if compare is None:
        _probe(options, json=json)
    else:
        _compare(*compare, seed=options.seed, json=json)


def _probe(options: ProbeOptions, *, json: bool) -> None:
    from judgec.api.probe import run_probe
    from judgec.cli.output import print_json, say
    from judgec.cli.probe.tables import show_probe
    from judgec.errors import GateError, ServiceError
    from judgec.report.progress import Bar
    from judgec.stats.intervals.gate import announced

    bar = Bar(shown=not json)
    found = run_probe(options, bar)
    bar.close()
    if json:
        print_json(found.report)
    else:
        show_probe(found)
    if found.unanswered:
        raise ServiceError(found.unanswered)
    if found.breaches:
        raise GateError(announced(found.gate or "not shown", "--max-failure: " + "; ".join(found.breaches) + "."))
    if found.gate is not None:
        limits = ", ".join(options.max_failure)
        say(announced(found.gate, f"--max-failure {limits}: every upper bound is within its limit"))


def _compare(a: str, b: str, *, seed: int, json: bool) -> None:
    from judgec.api.compare_probes import compare_probes
    from judgec.cli.output import print_json
    from judgec.cli.probe.tables import show_comparison

    found = compare_probes(a, b, seed=seed)
    if json:
        print_json(found.comparison.to_json())
    else:
        show_comparison(found.comparison)
