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
    from judgec.report.progress import Bar
    from judgec.stats.intervals.gate import GateVerdict
    from judgec.verbs.audit import audit as audited
    from judgec.verbs.audit import audit_report
    from judgec.verbs.cli.gates import Gate, end_gated, needs_gate
    from judgec.verbs.cli.output import print_json, print_report

    gated = options.anchor is not None or require_pass
    needs_gate(junit, gated=gated, option="--require-pass")
    bar = Bar(shown=not json)
    try:
        found = audited.run(options, bar)
    finally:
        bar.close()
    if json:
        gate = {"gate": {"verdict": found.verdict, "sentence": found.announced}}
        print_json(dict(found.report) | (gate if found.audit is not None and require_pass else {}))
    else:
        print_report(audit_report(found, options), verbose=verbose)
    if gated:
        demand = "--require-pass" if options.anchor is None else f"--anchor {options.anchor}"
        findings = found.audit.findings if found.audit else ()
        verdicts: dict[str, GateVerdict] = {"pass": "passed", "fail": "failed", "not shown": "not shown"}
        parts = [Gate(one.audit, verdicts[one.status], one.sentence) for one in findings if one.status in verdicts]
        end_gated(
            "audit",
            parts or [Gate(demand, found.verdict, found.sentence)],
            sentence=found.sentence,
            junit_file=junit,
            report=found.report_path,
            quiet=json or (found.audit is None and found.drift is None),
        )
