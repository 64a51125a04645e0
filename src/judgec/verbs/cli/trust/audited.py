"""Prints the result of ``judgec audit``."""

from judgec.records.audit import AuditReport
from judgec.report.numbers import show
from judgec.trust.audits.drift import Drift
from judgec.verbs.audit import JudgeAudit
from judgec.verbs.cli.output import command, judgec_here, say
from judgec.verbs.options.audit import AuditOptions


def show_audit(found: JudgeAudit, audit: AuditReport, *, verbose: bool = False) -> None:
    """Print what each audit saw and how it ended; or all that it says, and why some were skipped."""
    print(f"Audit of {found.judge} on {audit.items} items of {audit.queries} queries, 95 % intervals\n")
    skipped = [one.audit for one in audit.findings if one.status == "skipped" and not verbose]
    for finding in audit.findings:
        if finding.audit not in skipped:
            said = finding.sentence if verbose else finding.sentence.split(": ")[0].removesuffix(".")
            print(f"{finding.status:<11}{finding.audit:<17}{said}")
    if skipped:
        print(f"{'skipped':<11}{', '.join(skipped)}")
    notes = found.report["notes"]
    say(
        audit.summary,
        *([] if verbose else ["bounds, how many items would settle it, why some were skipped: -v, or the page"]),
        f"{found.report['lm_calls']} LM calls, {found.report['journaled']} from the journal",
        *[f"note: {note}" for note in (notes if isinstance(notes, list) else [])],
        f"Next: {judgec_here()} ui; {judgec_here()} audit --judge NAME --anchor FILE keeps watch over drift",
    )


def show_frozen(found: JudgeAudit, options: AuditOptions) -> None:
    """Say what was frozen, and the command that compares."""
    again = command("audit", "--judge", str(options.judge), "--anchor", str(options.anchor), home=options.home)
    say(found.sentence, f"Next, when the model may have changed: {again}")


def show_drift(found: JudgeAudit, drift: Drift) -> None:
    """Print what became of the frozen verdicts."""
    assert found.anchor is not None  # drift is held against one
    agreed = drift.agreement.estimates["exact"]
    print(f"{found.judge} against {found.anchor.judge} of {found.anchor.created}")
    print(f"{drift.flips.sentence}\n{drift.shift.sentence}")
    calls = f"{found.report['lm_calls']} LM calls"
    say(f"exact: {show(agreed, 3)}; {drift.lost} verdicts lost; noise when frozen: {found.anchor.noise}; {calls}")
