"""The items of a label file's page: what each annotator said of them, those first on which they are farthest apart."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from judgec.records.label import UNLABELLED, Experts, FloatArray, Item, Label, LabelSet
from judgec.records.scale import Scale
from judgec.report.cases import BrowsedCase, CaseSide
from judgec.report.columns import NO_NUMBER
from judgec.report.items import WORDS, grades_said
from judgec.report.page.judged_items import in_reading_order

HEAD = ("item", "grade by annotator")
NOBODY = "nobody graded it"
LABEL_WORDS = WORDS | {
    "intro": "Items on which the annotators are farthest apart come first.",
    "rater": "Annotator",
    "unscored": "without a grade",
}
DIFFER = 1e-9  # a distance above this is one


def label_cases(labels: LabelSet, experts: Experts) -> tuple[BrowsedCase, ...]:
    """Every item of a label file with its labels side by side, in file order.

    Args:
        labels: What was read.
        experts: The same as arrays.
    """
    by_item: dict[str, list[Label]] = defaultdict(list)
    for label in labels.labels:
        by_item[label.item_id].append(label)
    far = distances(experts, labels.scale)
    return tuple(
        _case(item, by_item[item.item_id], float(apart), labels.scale)
        for item, apart in zip(labels.items, far, strict=True)
    )


def distances(experts: Experts, scale: Scale) -> FloatArray:
    """Distance of the annotators of each item, shape (n_items,): 0 where they agree or only one graded.

    Ordered grades: the highest minus the lowest, as a share of the scale. Grades without an order, and accept against
    reject: the share of annotators who did not say what most said. The mean over aspects, of grades or of accept,
    whichever is larger: neighbouring grades on both sides of the threshold are worth reading.
    """
    if scale.level == "nominal":
        grades = _minorities(experts.grade_by, len(scale.grades))
    else:
        values = np.array(scale.values, dtype=np.float64)
        given = experts.grade_by != UNLABELLED
        each = values[np.maximum(experts.grade_by, 0)]
        highest = np.where(given, each, -np.inf).max(0, initial=-np.inf)
        lowest = np.where(given, each, np.inf).min(0, initial=np.inf)
        grades = np.where(given.any(0), highest - lowest, 0.0) / (values.max() - values.min())
    found = np.maximum(grades.mean(1), _minorities(experts.accept_by, 2).mean(1))
    return np.asarray(found, dtype=np.float64)


def _minorities(said: np.ndarray, k: int) -> FloatArray:
    """The share of annotators outside the largest group, shape (n_items, n_aspects)."""
    counts = np.stack([(said == value).sum(0) for value in range(k)])
    total = counts.sum(0)
    return np.asarray(1.0 - np.where(total > 0, counts.max(0) / np.maximum(total, 1), 1.0), dtype=np.float64)


def _case(item: Item, labels: Sequence[Label], distance: float, scale: Scale) -> BrowsedCase:
    sides = [CaseSide(label.annotator, _word(label, scale), {}, label.rationale) for label in labels]
    return BrowsedCase(
        item_id=item.item_id,
        head=", ".join(f"{side.who} {side.grade}" for side in sides) or NOBODY,
        title=item.text("query") or item.item_id,
        group=item.group,
        differs=distance > DIFFER,
        unscored=None if sides else NOBODY,
        distance=distance,
        sides=sides,
        texts={name: item.texts(name) for name in in_reading_order(item) if item.texts(name)},
    )


def _word(label: Label, scale: Scale) -> str:
    """``4`` or ``4 accept``, as the annotator said it."""
    grades = {aspect: scale.grades[position] for aspect, position in label.grades.items()}
    accept = "" if label.accept is None else "accept" if label.accept else "reject"
    return f"{grades_said(grades) if grades else ''} {accept}".strip() or NO_NUMBER
