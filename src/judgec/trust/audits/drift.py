"""Drift: items frozen with a judge's replies, and a later run of the judge on the same items."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from judgec.errors import ArtifactError, UserError
from judgec.records.agreement import Agreement
from judgec.records.audit import Finding
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import Item, Text
from judgec.records.ratings import GradePairs
from judgec.records.record import Record
from judgec.records.scale import Scale
from judgec.stats.agreement.measure import measure
from judgec.table.regular import regular
from judgec.trust.audits.effect import Effect, bound_shown, finding_of
from judgec.trust.audits.subject import AuditedJudge, AuditSubject

MOST_BYTES = 100_000_000  # of an anchor file
MAX_FLIPS = 0.10
MAX_SHIFT = 0.05


class AnchorItem(Record):
    """An item and what the judge said of it.

    Args:
        item_id: As ``Item``.
        query_id: As ``Item``.
        inputs: As ``Item``.
        grades: Position on the scale by aspect; empty when the judge gave no verdict.
        merit: How good the judge said it is, 0-1 (``AuditSubject.merit``); None likewise.
        rationale: The judge's reason.
        unscored: Why there is no verdict, or None.
    """

    item_id: str
    query_id: str
    inputs: Mapping[str, Text]
    grades: tuple[int, ...]
    merit: float | None
    rationale: str = ""
    unscored: str | None = None


class Anchor(Record):
    """A file of frozen items.

    Args:
        format: The format's number.
        judge: ``NAME@VERSION`` that was frozen.
        lm: The model that replied.
        created: When, ISO 8601.
        scale: The judge's.
        aspects: What it grades.
        noise: Share of verdicts that differed when the judge was asked once more at once: what is no drift.
        items: The items.
    """

    format: int = 1
    judge: str
    lm: str
    created: str
    scale: Scale
    aspects: tuple[str, ...]
    noise: float | None
    items: tuple[AnchorItem, ...]


@dataclass(frozen=True, slots=True)
class Drift:
    """Change of the frozen verdicts.

    Args:
        flips: Share of verdicts that changed; one that was lost, or that there is now, has changed too.
        shift: Mean change of the score, as a part of the scale; of pairs, of the first answer's points.
        agreement: The new verdicts held against the frozen ones.
        lost: Items that have no verdict any more.
        noise: As frozen.
    """

    flips: Finding
    shift: Finding
    agreement: Agreement
    lost: int
    noise: float | None

    @property
    def beyond(self) -> bool:
        """True when flips or shift are beyond their bounds: these are the frozen items themselves, not a sample."""
        return any(one.status == "fail" for one in (self.flips, self.shift))

    def to_json(self) -> dict[str, object]:
        """The part ``drift`` of the report."""
        return {
            "status": "fail" if self.beyond else "pass",
            "flips": self.flips.to_json(),
            "shift": self.shift.to_json(),
            "agreement": self.agreement.to_json(),
            "lost": self.lost,
            "noise": self.noise,
        }


def freeze(subject: AuditSubject, *, judge: str, aspects: tuple[str, ...], created: str) -> Anchor:
    """The items of a subject with its judge's replies.

    Args:
        subject: The judge and the items.
        judge: Its name and version.
        aspects: What it grades.
        created: When, ISO 8601.

    Raises:
        UserError: When there is no item that the judge gives a verdict on.
    """
    said = subject.base
    if not said.scored.any():
        raise UserError(
            "--anchor: the judge gave no verdict on any item; there is nothing to freeze. Judge other items."
        )
    merit = subject.merit(said)
    again = subject.moved(said, subject.judging(subject.items, run=1))
    known = again[~np.isnan(again)]
    items = tuple(
        AnchorItem(
            item_id=item.item_id,
            query_id=item.query_id,
            inputs=dict(item.inputs),
            grades=tuple(said.grade[i].tolist()) if said.scored[i] else (),
            merit=float(merit[i]) if said.scored[i] else None,
            rationale=said.rationale[i],
            unscored=said.unscored[i],
        )
        for i, item in enumerate(subject.items)
    )
    return Anchor(
        judge=judge,
        lm=subject.model,
        created=created,
        scale=subject.scale,
        aspects=aspects,
        noise=float(known.mean()) if len(known) else None,
        items=items,
    )


def read_anchor(path: Path) -> Anchor:
    """Read a file that ``freeze`` made.

    Raises:
        ArtifactError: When it is no such file, or larger than any such file.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ArtifactError(
                f"--anchor {path}: {path.stat().st_size} bytes; at most {MOST_BYTES} are read. Name an anchor file."
            )
        anchor = Anchor.model_validate_json(regular(path).read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise ArtifactError(
            f"--anchor {path}: it exists, so verdicts would be compared with it; {place}: {first['msg']}, but a file "
            "that judgec audit --anchor wrote was expected. Restore it, or name a new file to freeze."
        ) from error
    except OSError as error:
        raise ArtifactError(f"--anchor {path}: {error.strerror}; a file is needed. Name another.") from error
    width, grades = len(anchor.aspects), len(anchor.scale.grades)
    for number, item in enumerate(anchor.items):
        sound = item.unscored is not None or (len(item.grades) == width and item.merit is not None)
        if not sound or any(not 0 <= grade < grades for grade in item.grades):
            raise ArtifactError(
                f"--anchor {path}: item {number} has no verdict on its scale; the file is damaged. Freeze anew."
            )
    return anchor


def compare(
    anchor: Anchor,
    judging: AuditedJudge,
    *,
    run: int,
    pairwise: bool,
    max_flips: float = MAX_FLIPS,
    max_shift: float = MAX_SHIFT,
) -> Drift:
    """Judge the frozen items anew and compare.

    Args:
        anchor: The frozen items.
        judging: The judge of today.
        run: Tells this run's calls from those of any other run: nothing is answered from the journal.
        pairwise: The judge compares answers.
        max_flips: Bound of the share of changed verdicts.
        max_shift: Bound of the mean change of the score.
    """
    items = tuple(Item(one.item_id, one.query_id, dict(one.inputs)) for one in anchor.items)
    subject = AuditSubject(judging, items, anchor.scale, (), pairwise=pairwise)
    now = judging(items, run=run)
    then = _frozen_judgments(anchor, now)
    changed = subject.moved(then, now)
    changed = np.where(then.scored != now.scored, 1.0, changed)
    merit = np.array([np.nan if one.merit is None else one.merit for one in anchor.items])
    moved = subject.merit(now) - merit
    flips = finding_of(
        "flips",
        [Effect("", "{effect} of the frozen verdicts changed", changed, subject.cluster, share=True)],
        max_flips,
    )
    shift = finding_of(
        "shift",
        [Effect("", "The score moved by {effect} of the scale", moved, subject.cluster, subject.step, two_sided=True)],
        max_shift,
    )
    agreement = measure(_ratings(subject, then, now), nominal=anchor.scale.level == "nominal")
    return Drift(_as_gated(flips), _as_gated(shift), agreement, int((then.scored & ~now.scored).sum()), anchor.noise)


def _as_gated(found: Finding) -> Finding:
    """The finding as the gate sees it: the effect itself against the bound, nothing left to chance."""
    if found.effect.value is None:
        return found
    beyond = abs(found.effect.value) > found.bound
    seen = found.sentence.rpartition(": ")[0]
    plain = f"{'beyond' if beyond else 'within'} the bound of {bound_shown(found.bound, two_sided=found.two_sided)}"
    status = "fail" if beyond else "pass"
    return found.model_copy(update={"status": status, "sentence": f"{seen}: {plain}.", "more_items": None})


def _frozen_judgments(anchor: Anchor, like: Judgments) -> Judgments:
    """The frozen grades in the form of today's judgments; what was not frozen is NaN."""
    shape = (len(anchor.items), len(anchor.aspects))
    return Judgments(
        item_ids=like.item_ids,
        aspects=anchor.aspects,
        probabilities=np.full((*shape, len(anchor.scale.grades)), np.nan),
        grade=np.array([one.grades or (UNSCORED,) * shape[1] for one in anchor.items], dtype=np.int64),
        score=np.full(shape, np.nan),
        accept=np.full(shape, UNSCORED, dtype=np.int64),
        confidence=np.full(shape, np.nan),
        rationale=tuple(one.rationale for one in anchor.items),
        unscored=tuple(one.unscored for one in anchor.items),
    )


def _ratings(subject: AuditSubject, then: Judgments, now: Judgments) -> GradePairs:
    width = then.grade.shape[1]
    return GradePairs(
        expert=then.grade.ravel(),
        judge=now.grade.ravel(),
        score=now.score.ravel(),
        expert_accept=then.accept.ravel(),
        judge_accept=now.accept.ravel(),
        cluster=np.repeat(subject.cluster, width),
        values=subject.scale.values,
        n_clusters=int(subject.cluster.max(initial=-1)) + 1,
    )
