"""The items of a judge's page: what experts and judge said of each, and how far apart they are."""

from collections.abc import Mapping, Sequence

import numpy as np

from judgec.records.consensus import mean_of, named
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import UNLABELLED, FloatArray, IntArray, Item, Label
from judgec.records.scale import Scale
from judgec.report.items import BrowsedItem, ItemLabel

FIRST = ("query", "answer", "answer_a", "answer_b", "document", "reference")  # the order of reading; others follow


def browsed_items(
    items: Sequence[Item],
    target: IntArray,
    judged: Judgments,
    scale: Scale,
    labels: Mapping[str, Sequence[Label]],
) -> tuple[BrowsedItem, ...]:
    """All items with what was said of them.

    Args:
        items: What was judged.
        target: The experts' positions, shape (n_items, n_aspects, n_tied), -1 where nobody graded.
        judged: The judge's, row i being ``items[i]``.
        scale: The grades.
        labels: Every annotator's, by item_id.
    """
    far = _distance(target, judged, scale, (target[..., 0] != UNLABELLED) & (judged.grade != UNSCORED))
    sure = [_least(row) for row in judged.confidence.tolist()]
    scores = judged.score.tolist()
    return tuple(
        BrowsedItem(
            item_id=item.item_id,
            query_id=item.query_id,
            agent=item.agent,
            group=item.group,
            expert=_named(target[i], judged.aspects, scale),
            judge=_named(judged.grade[i, :, None], judged.aspects, scale),
            score={name: _least([score]) for name, score in zip(judged.aspects, scores[i], strict=True)},
            confidence=sure[i],
            distance=float(far[i]),
            unscored=judged.unscored[i],
            reason=judged.rationale[i],
            labels=[_said_by(label, scale) for label in labels.get(item.item_id, ())],
            texts={name: item.texts(name) for name in in_reading_order(item)},
            claims=_detail(judged, i, "claims"),
            nuggets=_detail(judged, i, "found_nuggets"),
        )
        for i, item in enumerate(items)
    )


def _detail(judged: Judgments, row: int, name: str) -> Sequence[Mapping[str, object]]:
    """A list in the further columns of a judgment; empty where there is none."""
    found = None if judged.details is None else judged.details[row].get(name)
    return found if isinstance(found, list) else ()


def _least(values: Sequence[float]) -> float | None:
    """The smallest known number, or None."""
    return min((value for value in values if value == value), default=None)  # noqa: PLR0124 -- NaN is not itself


def _said_by(label: Label, scale: Scale) -> ItemLabel:
    grades = {aspect: scale.grades[position] for aspect, position in label.grades.items()}
    return ItemLabel(label.annotator, grades, label.accept, label.rationale)


def in_reading_order(item: Item) -> list[str]:
    """Names of the item's fields, the query first."""
    names = [name for name in FIRST if name in item.inputs]
    return [*names, *(name for name in item.inputs if name not in FIRST)]


def _distance(target: IntArray, judged: Judgments, scale: Scale, known: np.ndarray) -> FloatArray:
    """Mean over the known aspects: for classes the chance that was given to others, else score against grade."""
    if scale.level == "nominal":
        chance = np.take_along_axis(judged.probabilities, np.maximum(target, 0), axis=2)
        apart = 1.0 - np.nan_to_num(chance)
    else:
        values = np.array(scale.values)
        apart = np.abs(np.nan_to_num(judged.score)[..., None] - values[target]) / (values[-1] - values[0])
    return np.asarray(np.where(known, mean_of(apart, target), 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def _named(target: IntArray, aspects: Sequence[str], scale: Scale) -> dict[str, object]:
    return {aspect: named(tied, scale) for aspect, tied in zip(aspects, target.tolist(), strict=True)}
