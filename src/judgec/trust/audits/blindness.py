"""Audits whether a judge uses reference and documents: with wrong ones a good grade must fall."""

from dataclasses import replace

import numpy as np

from judgec.records.audit import Finding
from judgec.records.label import Item
from judgec.trust.audits.effect import Effect, finding_of, skipped
from judgec.trust.audits.subject import AuditSubject, with_input

GOOD = 0.5  # only a grade in the upper half can be expected to fall
MIN_GOOD = 5  # items with such a grade
ALONE = "without the reference, which would decide by itself, "
REMEDY = "A judge compiled on labels without the column reference can be tried"


def audit_reference(subject: AuditSubject, bound: float) -> Finding:
    """Swap in another question's reference: the share of good grades that does not fall."""
    return _blindness(subject, "reference", bound)


def audit_context(subject: AuditSubject, bound: float) -> Finding:
    """Swap in another question's documents, without a reference: the share of good grades that does not fall."""
    return _blindness(subject, "contexts", bound)


def _blindness(subject: AuditSubject, name: str, bound: float) -> Finding:
    audit = "reference" if name == "reference" else "context"
    if name not in subject.fields:
        return skipped(audit, bound, f"the judge sees no {name}")
    if subject.pairwise:
        return skipped(audit, bound, "a judge of pairs has no grade that could fall")
    rows = [
        row
        for row, (item, partner) in enumerate(zip(subject.items, subject.partners, strict=True))
        if partner is not None and item.text(name) and subject.items[partner].inputs.get(name) not in (None, "", ())
    ]
    # A reference would rightly decide about an answer whose documents are wrong, so it is left out.
    alone = name == "contexts" and "reference" in subject.fields
    originals = [_without_reference(subject.items[row]) if alone else subject.items[row] for row in rows]
    base = subject.judging(originals) if alone else subject.base
    standing = subject.standing(base) if alone else subject.standing(base)[rows]
    good = [k for k, value in enumerate(standing) if value >= GOOD]
    if len(good) < MIN_GOOD:
        few = f"{len(good)} of {len(rows)} items have a good grade; {MIN_GOOD} are needed to see grades fall"
        return skipped(audit, bound, f"{ALONE}{few}. {REMEDY}" if alone else few)
    swapped = []
    for k in good:
        partner = subject.partners[rows[k]]
        assert partner is not None  # rows were chosen so
        swapped.append(with_input(originals[k], name, subject.items[partner].inputs[name], audit))
    after = subject.standing(subject.judging(swapped))
    stayed = np.where(np.isnan(after), np.nan, after >= standing[good])
    what = "a wrong reference" if name == "reference" else "wrong documents"
    says = f"With {what} {{effect}} of good grades do not fall"
    cluster = subject.cluster[[rows[k] for k in good]]
    return finding_of(audit, [Effect("", says, stayed.astype(np.float64), cluster, share=True)], bound)


def _without_reference(item: Item) -> Item:
    inputs = {name: text for name, text in item.inputs.items() if name != "reference"}
    return replace(item, item_id=f"{item.item_id}#no-reference", inputs=inputs)
