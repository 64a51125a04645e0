"""Audits whether a judge repeats its verdict: with the answers in another order, or simply once more."""

from dataclasses import replace
from itertools import combinations

import numpy as np

from judgec.raters.pairwise import mirrored
from judgec.records.audit import Finding
from judgec.records.label import FloatArray
from judgec.trust.audits.effect import Effect, finding_of, skipped
from judgec.trust.audits.subject import AuditSubject

RUNS = 5
MOVED = 0.10  # bound of the share of verdicts that another order of documents moves
EVEN = 0.5  # points of the first answer without a bias


def audit_position(subject: AuditSubject, bound: float) -> Finding:
    """Pairs: the advantage of the answer shown first, over both orders. Else: documents in reverse order."""
    if not subject.pairwise:
        return _documents_reversed(subject)
    n = len(subject.items)
    judged = subject.judging([*subject.items, *map(mirrored, subject.items)], one_order=True)
    first = subject.standing(judged)  # of the answer that was shown first, in either order
    advantage = (first[:n] + first[n:]) / 2 - EVEN
    flipped = np.where(np.isnan(advantage), np.nan, first[:n] != 1 - first[n:])
    says = "The answer shown first gets {effect} more of the points than even orders would give it"
    found = finding_of("position", [Effect("first", says, advantage, subject.cluster, 0.5, two_sided=True)], bound)
    other = finding_of("position", [Effect("flipped", "{effect}", flipped, subject.cluster, share=True)], bound)
    return found.model_copy(update={"parts": {"first": found.effect, "flipped": other.effect}})


def _documents_reversed(subject: AuditSubject) -> Finding:
    rows = [row for row, item in enumerate(subject.items) if len(item.texts("contexts")) > 1]
    if "contexts" not in subject.fields or not rows:
        return skipped("position", MOVED, "the judge compares no answers and sees no item with two documents")
    turned = [
        replace(
            item, item_id=f"{item.item_id}#reversed", inputs={**item.inputs, "contexts": item.texts("contexts")[::-1]}
        )
        for item in (subject.items[row] for row in rows)
    ]
    judged = subject.judging(turned)
    differs = (judged.grade != subject.base.grade[rows]).any(axis=1)
    moved = np.where(judged.scored & subject.base.scored[rows], differs, np.nan).astype(np.float64)
    says = "Showing the documents in reverse order moves {effect} of verdicts"
    return finding_of("position", [Effect("documents", says, moved, subject.cluster[rows], share=True)], MOVED)


def audit_repeat(subject: AuditSubject, bound: float) -> Finding:
    """Judge every item five times anew: how often two runs differ."""
    runs = [subject.judging(subject.items, run=run) for run in range(1, RUNS + 1)]
    pairs = [subject.moved(one, other) for one, other in combinations(runs, 2)]
    changing: FloatArray = np.array(pairs)
    known = ~np.isnan(changing)
    counted = np.maximum(known.sum(axis=0), 1)
    share = np.where(known.any(axis=0), np.where(known, changing, 0).sum(axis=0) / counted, np.nan)
    ever = np.where(np.isnan(share), np.nan, share > 0)
    says = f"Asked anew, {{effect}} of verdicts differ from one run to another ({RUNS} runs)"
    found = finding_of("repeat", [Effect("runs", says, share, subject.cluster, share=True)], bound)
    other = finding_of(
        "repeat", [Effect("ever", "{effect}", ever.astype(np.float64), subject.cluster, share=True)], bound
    )
    return found.model_copy(update={"parts": {"between runs": found.effect, "in any run": other.effect}})
