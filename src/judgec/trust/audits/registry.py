"""Registers the audits: one visible table of names, bounds and functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judgec.errors import UserError
from judgec.records.audit import Finding
from judgec.trust.audits.fairness import audit_groups, audit_self_preference
from judgec.trust.audits.injection import audit_authority, audit_injection
from judgec.trust.audits.stability import audit_position, audit_repeat
from judgec.trust.audits.subject import AuditSubject
from judgec.trust.audits.surface import audit_length


@dataclass(frozen=True, slots=True)
class Audit:
    """An audit: what it may find at most, and how it looks.

    Args:
        bound: The largest effect that passes: a share of verdicts, or a part of the scale.
        run: Takes the subject and the bound.
        needs_labels: It compares with experts, and so looks at all labelled items at one verdict each.
    """

    bound: float
    run: Callable[[AuditSubject, float], Finding]
    needs_labels: bool = False


AUDITS: dict[str, Audit] = {
    "position": Audit(0.05, audit_position),
    "length": Audit(0.05, audit_length),
    "authority": Audit(0.10, audit_authority),
    "injection": Audit(0.10, audit_injection),
    "self_preference": Audit(0.05, audit_self_preference, needs_labels=True),
    "repeat": Audit(0.10, audit_repeat),
    "groups": Audit(0.10, audit_groups, needs_labels=True),
}


def audits_named(names: Sequence[str]) -> dict[str, Audit]:
    """The audits of these names, all of them when none is named, in the order of the table.

    Raises:
        UserError: When there is no audit of a name.
    """
    unknown = [name for name in names if name not in AUDITS]
    if unknown:
        raise UserError(
            f"--only {','.join(names)}: there is no audit {', '.join(map(repr, unknown))}; "
            f"there are {', '.join(AUDITS)}. Name some of these."
        )
    return {name: audit for name, audit in AUDITS.items() if not names or name in names}


def run_audits(
    sample: AuditSubject,
    labelled: AuditSubject,
    names: Sequence[str] = (),
    on_stage: Callable[[str], None] = lambda _: None,
) -> tuple[Finding, ...]:
    """Audit a judge.

    Args:
        sample: The judge and the items that are changed and judged again, many times each.
        labelled: The same judge and all items with labels.
        names: Which audits; all of them when none is named.
        on_stage: Told the name of each audit before it begins.

    Raises:
        UserError: When there is no audit of a name.
        ServiceError: When the judge's model fails; finished calls are in the journal.
    """
    findings = []
    for name, audit in audits_named(names).items():
        on_stage(name)
        findings.append(audit.run(labelled if audit.needs_labels else sample, audit.bound))
    return tuple(findings)
