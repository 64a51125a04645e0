"""Two judges on the same items: their agreement side by side, the paired difference, and where they differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.records.agreement import Agreement
from judgec.records.consensus import mean_of, named
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import UNLABELLED, Experts, FloatArray, Item
from judgec.records.ratings import pair
from judgec.records.scale import Scale
from judgec.stats.agreement.difference import differences
from judgec.stats.agreement.measure import measure


@dataclass(frozen=True, slots=True)
class Differing:
    """An item that two judges judged differently.

    Args:
        item: The item.
        expert: The experts' grade by aspect, scale units, as ``3 or 4`` where two share the item; None where nobody
            graded.
        a: One judge's row, as ``Judgments.rows`` gives it.
        b: The other's.
        closer: ``a`` or ``b``, whichever is nearer to the experts, or ``neither``.
        distance: How many grades nearer.
    """

    item: Item
    expert: Mapping[str, object]
    a: Mapping[str, object]
    b: Mapping[str, object]
    closer: str
    distance: float

    def to_json(self) -> dict[str, object]:
        """A row of the item file."""
        inputs = {name: list(text) if isinstance(text, tuple) else text for name, text in self.item.inputs.items()}
        single = next(iter(self.expert.values())) if len(self.expert) == 1 else dict(self.expert)
        return {
            "item_id": self.item.item_id,
            "query_id": self.item.query_id,
            **inputs,
            "expert": single,
            "closer": self.closer,
            "distance": self.distance,
            "a": {name: value for name, value in self.a.items() if name != "item_id"},
            "b": {name: value for name, value in self.b.items() if name != "item_id"},
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two judges on the items that experts labelled.

    Args:
        a: One judge's agreement with the experts.
        b: The other's.
        differences: a - b for every statistic, paired.
        differing: Items with another grade or accept, those first on which the choice of judge matters most.
    """

    a: Agreement
    b: Agreement
    differences: Mapping[str, Estimate]
    differing: tuple[Differing, ...]


def compare(
    items: Sequence[Item],
    experts: Experts,
    a: Judgments,
    b: Judgments,
    scale: Scale,
    *,
    accept_only: bool,
) -> Comparison:
    """Compare two judges; row i of everything belongs to ``items[i]``.

    Args:
        items: What was judged.
        experts: Their labels.
        a: One judge.
        b: The other.
        scale: Of all of them.
        accept_only: The labels are accept / reject alone.
    """
    nominal = scale.level == "nominal"
    one, other = (pair(experts, judged, scale, accept_only=accept_only) for judged in (a, b))
    return Comparison(
        a=measure(one, nominal=nominal),
        b=measure(other, nominal=nominal),
        differences=differences(one, other, nominal=nominal),
        differing=_differing(items, experts, a, b, scale, accept_only=accept_only),
    )


def _differing(
    items: Sequence[Item], experts: Experts, a: Judgments, b: Judgments, scale: Scale, *, accept_only: bool
) -> tuple[Differing, ...]:
    expert = experts.target_accept if accept_only else experts.target
    errors = [_errors(expert, judged, scale, accept_only=accept_only) for judged in (a, b)]
    gained = errors[1] - errors[0]  # grades by which a is nearer
    apart = np.abs(a.grade - b.grade).sum(axis=1)
    other = ((a.grade != b.grade) | (a.accept != b.accept)).any(axis=1) & (expert != UNLABELLED).any(axis=(1, 2))
    order = np.lexsort((np.arange(len(items)), -apart, -np.abs(gained)))
    rows = [tuple(judged.rows(scale)) for judged in (a, b)]
    return tuple(
        Differing(
            item=items[i],
            expert={aspect: named(tied.tolist(), scale) for aspect, tied in zip(a.aspects, expert[i], strict=True)},
            a=rows[0][i],
            b=rows[1][i],
            closer="a" if gained[i] > 0 else "b" if gained[i] < 0 else "neither",
            distance=float(abs(gained[i])),
        )
        for i in order
        if other[i]
    )


def _errors(expert: np.ndarray, judged: Judgments, scale: Scale, *, accept_only: bool) -> FloatArray:
    """Grades between judge and experts, summed over aspects; the whole scale where the judge is silent."""
    judge = judged.accept if accept_only else judged.grade
    farthest = len(scale.grades) - 1
    apart = judge[..., None] - expert
    away = mean_of(np.abs(apart) if scale.level == "ordinal" else (apart != 0) * farthest, expert)
    away = np.where((judge == UNSCORED) & ~np.isnan(away), farthest, away)
    return np.asarray(np.nansum(away, axis=1), dtype=np.float64)
