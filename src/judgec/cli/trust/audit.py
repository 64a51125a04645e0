"""``judgec audit``."""

from typing import Annotated

import typer

from judgec.api.options.audit import AuditOptions
from judgec.cli.shell import JsonOption, command_of


@command_of(AuditOptions)
def audit(
    options: AuditOptions,
    *,
    require_pass: Annotated[
        bool, typer.Option("--require-pass", help="Exit 1 unless all audits pass.", rich_help_panel="Output")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Try to move a judge's verdicts by what must not count, and see whether it looks at what must."""
    from judgec.api.audit import audit as audited
    from judgec.cli.output import print_json, say
    from judgec.cli.trust.audited import show_audit, show_drift, show_frozen
    from judgec.errors import GateError
    from judgec.report.progress import Bar

    bar = Bar(shown=not json)
    try:
        found = audited.run(options, bar)
    finally:
        bar.close()
    gated = options.anchor is not None or require_pass
    if json:
        gate = {"gate": {"verdict": found.verdict, "sentence": found.announced}}
        print_json(dict(found.report) | (gate if found.audit is not None and require_pass else {}))
    elif found.audit is not None:
        show_audit(found, found.audit)
    elif found.drift is not None:
        show_drift(found, found.drift)
    else:
        show_frozen(found, options)
    if gated and found.verdict != "passed":
        raise GateError(found.announced)
    if gated and not json and (found.audit is not None or found.drift is not None):
        say(found.announced)
