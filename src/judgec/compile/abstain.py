"""Leaves judgments below a confidence to a human, and measures agreement on the rest."""

from dataclasses import dataclass, replace

import numpy as np

from judgec.compile.dataset import Dataset, Part
from judgec.errors import UserError
from judgec.raters.decision import acceptability
from judgec.records.consensus import mean_of
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import UNLABELLED, FloatArray, IntArray
from judgec.records.scale import Scale
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.statistic import SHARE, mean
from judgec.stats.intervals.jackknife import interval

ABSTAINED = "abstained"
ACCEPT, EXACT = "accept_agreement", "exact"
COVERAGES = tuple(step / 10 for step in range(9, 0, -1))  # points of the curve below that of all rows


@dataclass(frozen=True, slots=True)
class GradedRows:
    """Graded rows: how sure the judge was, and whether it agreed with the experts.

    Args:
        confidence: Shape (n,), 0-1.
        agrees: Shape (n,), 1 / 0, between them where two grades share the row.
        cluster: The query of each row, shape (n,).
    """

    confidence: FloatArray
    agrees: FloatArray
    cluster: IntArray


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """The judge when it abstains below a confidence.

    Args:
        below: The threshold; 0 abstains from nothing.
        coverage: Share of the labelled rows that it still scores.
        agreement: Share of those on which it agrees with the experts.
    """

    below: float
    coverage: float
    agreement: Estimate


@dataclass(frozen=True, slots=True)
class Abstention:
    """Agreement against coverage on the test items.

    Args:
        of: What counts as agreeing, from ``agreement_of``.
        curve: From full coverage down.
        chosen: At the threshold that the judge is saved with, or None when it never abstains.
    """

    of: str
    curve: tuple[CoveragePoint, ...]
    chosen: CoveragePoint | None

    @property
    def below(self) -> float | None:
        """The threshold that the judge is saved with."""
        return None if self.chosen is None else self.chosen.below

    def to_json(self) -> dict[str, object]:
        """The report's ``abstention``."""
        return {
            "of": self.of,
            **({"below": None, "coverage": 1.0} if self.chosen is None else _json(self.chosen)),
            "curve": [_json(point) for point in self.curve],
        }


def agreement_of(objective: str) -> str:
    """Meaning of agreement for a judge that was compiled for ``objective``: the accept, or the grade itself."""
    return ACCEPT if parse_objective(objective).needs_accept else EXACT


def certainty(judgments: Judgments, of: str, scale: Scale) -> FloatArray:
    """Confidence of the judge in each item, by its least sure aspect, shape (n_items,); NaN where it said nothing.

    Its confidence, which is the probability of the returned grade; of accepts, the probability of the returned accept
    or reject.
    """
    sure = judgments.confidence
    if of == ACCEPT:
        columns = [acceptability(judgments.probabilities[:, j], scale) for j in range(len(judgments.aspects))]
        chances = np.stack(columns, axis=1)
        sure = np.where(judgments.accept == 1, chances, 1 - chances)
    return np.asarray(sure.min(axis=1, initial=np.inf))


def abstain(judgments: Judgments, below: float, of: str, scale: Scale) -> Judgments:
    """The judgments without those of which the judge is less sure than ``below``: unscored, with the reason."""
    sure = certainty(judgments, of, scale)
    left = np.flatnonzero(judgments.scored & ~(sure >= below)).tolist()
    said = {i: f"{ABSTAINED}: {_said(float(sure[i]))} is under {below:g}; for a human to judge" for i in left}
    return replace(judgments.without(said), rationale=judgments.rationale)


def abstention(dataset: Dataset, tested: Judgments, *, of: str, below: float | None) -> Abstention:
    """Measures what abstaining brings on test.

    Args:
        dataset: Whose test items were judged.
        tested: The compiled judge's judgments of them.
        of: From ``agreement_of``.
        below: The threshold asked for, or None.
    """
    test = dataset.test
    rows = graded_rows(test, tested, of, dataset.labels.scale)
    labelled = int((_expert(test, of)[..., 0] != UNLABELLED)[tested.asked].sum())
    cuts = [0.0, *_quantiles(rows.confidence, labelled)]
    points = (_point(rows, cut, labelled) for cut in reversed(cuts))
    by_coverage = {point.coverage: point for point in points}  # of equal ones the lowest threshold
    curve = tuple(by_coverage[coverage] for coverage in sorted(by_coverage, reverse=True))
    return Abstention(of, curve, None if below is None else _point(rows, below, labelled))


def graded_rows(part: Part, judgments: Judgments, of: str, scale: Scale) -> GradedRows:
    """The rows that experts labelled and the judge scored; aspects are flattened, each with its item's certainty."""
    expert = _expert(part, of)
    judge = judgments.accept if of == ACCEPT else judgments.grade
    sure = np.broadcast_to(certainty(judgments, of, scale)[:, None], judge.shape)
    known = (expert[..., 0] != UNLABELLED) & (judge != UNSCORED) & ~np.isnan(sure)
    cluster = np.broadcast_to(part.experts.cluster[:, None], judge.shape)
    return GradedRows(sure[known], mean_of(expert == judge[..., None], expert)[known], cluster[known])


def check_options(below: float | None) -> None:
    """Refuse a threshold that cannot be.

    Raises:
        UserError: When it is out of range.
    """
    if below is not None and not 0 < below < 1:
        raise UserError(f"--abstain-below {below:g}: out of range; a number between 0 and 1 is valid. Correct it.")


def _expert(part: Part, of: str) -> IntArray:
    return part.experts.target_accept if of == ACCEPT else part.experts.target


def _quantiles(confidence: FloatArray, labelled: int) -> list[float]:
    """The threshold that keeps each share of the labelled rows."""
    falling = np.sort(confidence)[::-1]
    counts = [round(share * labelled) for share in COVERAGES]
    return [float(falling[count - 1]) for count in counts if 0 < count <= len(falling)]


def _point(rows: GradedRows, below: float, labelled: int) -> CoveragePoint:
    kept = rows.confidence >= below
    n = int(kept.sum())
    if not n:
        return CoveragePoint(below, 0.0, Estimate(value=None, note="nothing is left to score"))
    share = mean(rows.agrees[kept], rows.cluster[kept], n_clusters=int(rows.cluster.max()) + 1, bounds=SHARE)
    return CoveragePoint(below, n / labelled, interval(share).estimate(n))


def _json(point: CoveragePoint) -> dict[str, object]:
    return {"below": point.below, "coverage": point.coverage, "agreement": point.agreement.to_json()}


def _said(confidence: float) -> str:
    return "an unstated confidence" if np.isnan(confidence) else f"confidence {confidence:.2f}"
