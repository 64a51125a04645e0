"""Selects labelled items that a judge has not learned from, and what it says of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgec.errors import UserError
from judgec.labels.experts import experts_of
from judgec.labels.labels import item_digest
from judgec.labels.reading import Datasheet
from judgec.labels.rows.raters import left_out
from judgec.labels.split.queries import LearnedQueries, with_swapped_together
from judgec.raters.programs import Program
from judgec.records.card import ProgramCard
from judgec.records.counts import plural
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import UNLABELLED, Experts, Item, LabelSet
from judgec.records.scale import ACCEPT_SCALE

NOT_SAVED = "not judged when this version was compiled"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Items outside a judge's train and dev queries, and those that it was tested on before it learned from them.

    Args:
        items: The items, in file order.
        experts: Their labels, row i of ``items[i]``.
        source: The file.
        learned: Labelled items that were left out because the judge has learned from their queries.
        accept_only: The labels are accept / reject alone.
        left_out: Who is no annotator, in sentences.
    """

    items: tuple[Item, ...]
    experts: Experts
    source: str
    learned: int
    accept_only: bool
    left_out: tuple[str, ...] = ()

    @property
    def notes(self) -> list[str]:
        """A sentence on what was left out, where something was."""
        items = plural(self.learned, "labelled item was", "labelled items were")
        said = f"{items} left out: the judge has learned from their queries."
        return [*([said] if self.learned else []), *self.left_out]


def on_scale_of(card: ProgramCard, sheet: Datasheet) -> Datasheet:
    """The datasheet of labels that a judge is held against: its scale, where they declare no other.

    The grades that a few labels happen to use are no scale: of 0, 1, 2 they may lack the 2. Labels that declare the
    same grades without a threshold have the judge's.
    """
    if card.scale.name == ACCEPT_SCALE.name:
        return sheet
    declared = sheet.scale
    silent = declared is None or (declared.grades == card.scale.grades and declared.accept_at is None)
    return sheet.model_copy(update={"scale": card.scale}) if silent else sheet


def held_out(labels: LabelSet, source: str, *judges: Program, out_of_fold: bool = True) -> HeldOut:
    """Leave out what any of the judges has learned from.

    Args:
        labels: What was read.
        source: From where.
        judges: At least one; the first one's seed settles ties among experts.
        out_of_fold: Keep items that a judge was tested on in folds, for ``judged_unlearned``; false where the verdicts
            are those of the judge as it ships.

    Raises:
        UserError: When the labels are on another scale than a judge's, or none is left.
    """
    for judge in judges:
        _require_scale(labels, source, judge.card)
    labels = with_swapped_together(labels)
    known = {label.item_id for label in labels.labels}
    labelled = [i for i, item in enumerate(labels.items) if item.item_id in known]
    rows = sorted(
        set(labelled).intersection(*(unlearned(labels.items, judge, out_of_fold=out_of_fold) for judge in judges))
    )
    if not rows:
        raise UserError(
            f"{source}: {judges[0].card.name}@{judges[0].card.version} has learned from all {len(labelled)} labelled "
            "items; others are needed. Label further queries."
        )
    experts = experts_of(labels, judges[0].card.seed).rows(rows)
    if labels.accept_only and judges[0].card.scale.name != ACCEPT_SCALE.name:  # accepts are no grades of the judge's
        experts = replace(
            experts,
            target=np.full_like(experts.target, UNLABELLED),
            grade_by=np.full_like(experts.grade_by, UNLABELLED),
        )
    return HeldOut(
        items=tuple(labels.items[i] for i in rows),
        experts=experts,
        source=source,
        learned=len(labelled) - len(rows),
        accept_only=labels.accept_only,
        left_out=tuple(left_out(labels.notes)),
    )


def unlearned(items: Sequence[Item], judge: Program, *, out_of_fold: bool = True) -> list[int]:
    """Positions of the items that may be held against their labels.

    Their query was in neither train nor dev, by its text or its query_id; or the judge was tested on them in folds,
    before it learned from all, and has kept what it said.

    Args:
        items: All of a file.
        judge: As saved.
        out_of_fold: As ``held_out``.
    """
    kept = kept_out_of_fold(judge) if out_of_fold else {}
    return [
        i for i, has in enumerate(memory_of(judge).among(items)) if not has or (kept and item_digest(items[i]) in kept)
    ]


def memory_of(judge: Program) -> LearnedQueries:
    """Queries that a judge has learned from: train and dev, or all of them where it was tested in folds."""
    sides, by_id = judge.split.get("keys", {}), judge.split.get("queries", {})
    learned = {"train", "dev"}
    if "folds" in judge.split:
        learned |= set(sides.values())  # numbers of folds
    return LearnedQueries(
        keys=frozenset(key for key, side in sides.items() if side in learned),
        known=frozenset(sides),
        ids=frozenset(query_id for query_id, side in by_id.items() if side in learned),
    )


def judged_unlearned(items: Sequence[Item], program: Program, said: Callable[[Sequence[Item]], Judgments]) -> Judgments:
    """Judgments of ``unlearned`` items: out of fold where the judge has learned from them since.

    Args:
        items: To judge.
        program: As saved.
        said: What the judge says of items that it has not learned from.
    """
    kept = kept_out_of_fold(program)
    fresh = [i for i, item in enumerate(items) if not kept or item_digest(item) not in kept]
    if len(fresh) == len(items):
        return said(items)
    chosen = set(fresh)
    saved = [i for i in range(len(items)) if i not in chosen]
    pieces = [saved_judgments(program.report, [items[i] for i in saved], program.card)]
    if fresh:
        pieces.append(said([items[i] for i in fresh]))
    row = {i: at for at, i in enumerate([*saved, *fresh])}
    return concatenate(pieces).subset([row[i] for i in range(len(items))])


def saved_judgments(report: Mapping[str, object], items: Sequence[Item], card: ProgramCard) -> Judgments:
    """The judgments of ``items`` that a version was saved with; those it has not are unscored, ``NOT_SAVED``."""
    table = report.get("judgments")
    kept = table if isinstance(table, dict) else {}
    found = Judgments.blank([item.item_id for item in items], card.aspects, len(card.scale.grades))
    rows = [kept.get(item_digest(item), {"unscored": NOT_SAVED}) for item in items]
    for i, row in enumerate(rows):
        for name in ("grade", "accept", "score", "probabilities", "confidence"):
            if row.get(name) is not None:
                getattr(found, name)[i] = row[name]  # None is NaN
    rationale, unscored = (
        tuple(row.get(name, usual) for row in rows) for name, usual in (("rationale", ""), ("unscored", None))
    )
    return replace(found, rationale=rationale, unscored=unscored)


def kept_out_of_fold(program: Program) -> Mapping[str, object]:
    """The judgments that were made of the items in folds, by the items' digests; empty with a single split."""
    table = program.report.get("judgments") if "folds" in program.split else None
    return table if isinstance(table, dict) else {}


def spread(items: Sequence[Item], n: int, draw: Sequence[int]) -> list[int]:
    """Positions of at most ``n`` items over as many queries as there are, in file order.

    Args:
        items: To choose from.
        n: Most items.
        draw: A random number for each item: smaller ones of a query go first.
    """
    taken: dict[str, int] = {}
    rank = []
    for i in sorted(range(len(items)), key=lambda i: draw[i]):
        query = items[i].query_id
        taken[query] = taken.get(query, 0) + 1
        rank.append((taken[query], draw[i], i))
    return sorted(i for _, _, i in sorted(rank)[:n])


def _require_scale(labels: LabelSet, source: str, card: ProgramCard) -> None:
    fits = labels.accept_only or labels.scale.grades == card.scale.grades
    if not fits or labels.aspects != card.aspects:
        raise UserError(
            f"{source}: {', '.join(labels.aspects)} with grades {', '.join(map(str, labels.scale.grades))}; "
            f"{card.name}@{card.version} gives {', '.join(card.aspects)} with "
            f"{', '.join(map(str, card.scale.grades))}. Give labels on the judge's scale, with its datasheet."
        )
