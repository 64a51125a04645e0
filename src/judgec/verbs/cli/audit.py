"""``judgec audit``."""

from typing import Annotated

import typer

from judgec.verbs.cli.shell import JsonOption, JunitOption, VerboseOption, command_of
from judgec.verbs.options.audit import AuditOptions


@command_of(AuditOptions)
def audit(
    options: AuditOptions,
    *,
    require_pass: Annotated[
        bool, typer.Option("--require-pass", help="Exit 1 unless all audits pass.", rich_help_panel="Output")
    ] = False,
    junit: JunitOption = None,
    verbose: VerboseOption = False,
    json: JsonOption = False,
) -> None:
    """Try to move a judge's verdicts by what must not count, and see whether it looks at what must.

    Example: judgec audit --judge NAME
    """
    from judgec.verbs.audit import audit as audited
    from judgec.verbs.audit import audit_report
    from judgec.verbs.cli.output import needs_gate, run_shown

    needs_gate(junit, gated=options.anchor is not None or require_pass, option="--require-pass")
    run_shown(
        audited.run,
        options,
        lambda found: audit_report(found, options, require_pass=require_pass),
        json=json,
        verbose=verbose,
        junit=junit,
    )
