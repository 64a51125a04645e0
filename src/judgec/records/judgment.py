"""A judge's grades of many items, as columns."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import Scale

UNSCORED = -1  # in integer arrays of grades and accepts


@dataclass(frozen=True, slots=True)
class Judgments:
    """What a judge said of ``item_ids``, row by row; raw (the LM's verdict) or calibrated.

    A row that could not be judged has grade -1, accept -1, NaN numbers and a reason in ``unscored``.

    Args:
        item_ids: The items, shape (n_items,).
        aspects: As in the label set.
        probabilities: Of each grade, shape (n_items, n_aspects, n_grades); rows sum to 1, or are NaN.
        grade: Grade positions, shape (n_items, n_aspects).
        score: Expected grade value in scale units, same shape.
        accept: 1 / 0, -1 when unscored or when no threshold is known, same shape.
        confidence: 0-1, same shape: the LM's stated confidence in a raw verdict (NaN when not stated), the
            calibrated probability of the returned grade otherwise.
        rationale: The reason given, one an item.
        unscored: Why an item has no grade, or None, one an item.
        flipped: True where the verdict changed with the order of the two answers, shape (n_items,); None for
            judges of single items and where only one order was asked.
    """

    item_ids: tuple[str, ...]
    aspects: tuple[str, ...]
    probabilities: FloatArray
    grade: IntArray
    score: FloatArray
    accept: IntArray
    confidence: FloatArray
    rationale: tuple[str, ...]
    unscored: tuple[str | None, ...]
    flipped: NDArray[np.bool_] | None = None

    @property
    def scored(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """True where the item was judged, shape (n_items,)."""
        return np.array([reason is None for reason in self.unscored], dtype=bool)

    def rows(self, scale: Scale) -> Iterator[dict[str, object]]:
        """The judgments as JSON-ready rows, in item order.

        One aspect gives ``grade``, ``score``, ``accept``, ``probabilities``, ``confidence``; several give
        ``grades``, ``scores``, ``accepts``, ``probabilities``, ``confidences`` keyed by aspect.
        """
        single = len(self.aspects) == 1
        for i, item_id in enumerate(self.item_ids):
            cells = [self._cell(i, j, scale) for j in range(len(self.aspects))]
            if single:
                values: dict[str, object] = dict(cells[0])
            else:
                keyed = dict(zip(self.aspects, cells, strict=True))
                values = {
                    plural: {aspect: cell[name] for aspect, cell in keyed.items()} for name, plural in _PLURALS.items()
                }
            yield {
                "item_id": item_id,
                **values,
                "rationale": self.rationale[i],
                "unscored": self.unscored[i],
            }

    def _cell(self, i: int, j: int, scale: Scale) -> dict[str, object]:
        if self.unscored[i] is not None or self.grade[i, j] == UNSCORED:
            return dict.fromkeys(_PLURALS)
        accept = int(self.accept[i, j])
        confidence = float(self.confidence[i, j])
        return {
            "grade": scale.grades[int(self.grade[i, j])],
            "score": float(self.score[i, j]),
            "accept": None if accept == UNSCORED else bool(accept),
            "probabilities": {
                str(grade): float(p) for grade, p in zip(scale.grades, self.probabilities[i, j], strict=True)
            },
            "confidence": None if np.isnan(confidence) else confidence,
        }


_PLURALS = {
    "grade": "grades",
    "score": "scores",
    "accept": "accepts",
    "probabilities": "probabilities",
    "confidence": "confidences",
}
