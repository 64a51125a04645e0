"""``judgec probe``."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.verbs.cli.shell import JsonOption, JunitOption, VerboseOption, command_of
from judgec.verbs.options.probe import ProbeOptions


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
    junit: JunitOption = None,
    verbose: VerboseOption = False,
    json: JsonOption = False,
) -> None:
    """Put questions of known kinds to RAG systems: where they fail, how often, and which part of them does.

    Example: judgec probe --scenarios all --index docs.index --system rag-bm25
    """
    if compare is None:
        _probe(options, junit=junit, verbose=verbose, json=json)
    else:
        _compare(*compare, seed=options.seed, json=json)


def _probe(options: ProbeOptions, *, junit: Path | None, verbose: bool, json: bool) -> None:
    from judgec.errors import ServiceError
    from judgec.verbs.cli.output import needs_gate, run_shown
    from judgec.verbs.probe import probe_report, run_probe

    needs_gate(junit, gated=bool(options.max_failure), option="--max-failure")
    found = run_shown(run_probe, options, probe_report, json=json, verbose=verbose, junit=junit)
    if found.unanswered:
        raise ServiceError(found.unanswered)


def _compare(a: str, b: str, *, seed: int, json: bool) -> None:
    from judgec.verbs.cli.output import show
    from judgec.verbs.compare_probes import compare_probes, comparison_report

    show(comparison_report(compare_probes(a, b, seed=seed).comparison), json=json)
