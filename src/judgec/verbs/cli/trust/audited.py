"""The report of ``judgec audit``."""

from judgec.records.audit import AuditReport
from judgec.report.numbers import show
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.trust.audits.drift import Drift
from judgec.verbs.audit import JudgeAudit
from judgec.verbs.cli.output import command, judgec_here
from judgec.verbs.options.audit import AuditOptions


def audit_report(found: JudgeAudit, options: AuditOptions) -> Report:
    """What each audit saw and how it ended; of an anchor, what was frozen or what became of it."""
    if found.audit is not None:
        return _of_audit(found, found.audit)
    if found.drift is not None:
        return _of_drift(found, found.drift)
    again = command("audit", "--judge", str(options.judge), "--anchor", str(options.anchor), home=options.home)
    return Report(verdict=[found.sentence], lines=["When the model may have changed:"], next=[again])


def _of_audit(found: JudgeAudit, audit: AuditReport) -> Report:
    title = f"Audit of {found.judge} on {audit.items} items of {audit.queries} queries, 95 % intervals"
    heads = ("", "audit", "what was seen")
    skipped = [one.audit for one in audit.findings if one.status == "skipped"]
    rows = [
        (one.status, one.audit, one.sentence.split(": ")[0].removesuffix("."))
        for one in audit.findings
        if one.status != "skipped"
    ]
    notes = found.report["notes"]
    return Report(
        verdict=[audit.summary],
        tables=[TextTable(title, heads, [*rows, *([("skipped", ", ".join(skipped), "")] if skipped else [])])],
        full=[TextTable(title, heads, [(one.status, one.audit, one.sentence) for one in audit.findings])],
        lines=[f"{found.report['lm_calls']} LM calls, {found.report['journaled']} from the journal"],
        notes=notes if isinstance(notes, list) else [],
        more="bounds, how many items would settle it, why some were skipped",
        next=[f"{judgec_here()} ui", f"{judgec_here()} audit --judge NAME --anchor FILE  (keeps watch over drift)"],
    )


def _of_drift(found: JudgeAudit, drift: Drift) -> Report:
    assert found.anchor is not None  # drift is held against one
    agreed = drift.agreement.estimates["exact"]
    lost = f"{drift.lost} verdicts lost; noise when frozen: {found.anchor.noise}"
    return Report(
        verdict=[
            f"{found.judge} against {found.anchor.judge} of {found.anchor.created}",
            drift.flips.sentence,
            drift.shift.sentence,
        ],
        lines=[f"exact: {show(agreed, 3)}; {lost}; {found.report['lm_calls']} LM calls"],
    )
