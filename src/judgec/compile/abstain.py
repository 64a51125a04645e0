"""Fits a confidence threshold below which judgments go to a human, and what agreement it promises for the rest."""

from dataclasses import asdict, dataclass, replace

import numpy as np

from judgec.compile.assemble import Bench, out_of_fold
from judgec.compile.dataset import Part
from judgec.errors import UserError
from judgec.raters.judge import CompiledJudge, acceptability
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import UNLABELLED, FloatArray, IntArray
from judgec.records.scale import Scale
from judgec.stats.agreement.measure import Resampling
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.statistic import table_statistic
from judgec.stats.intervals.bootstrap import interval
from judgec.stats.intervals.promise import Promise, Rows, promised_threshold

ABSTAINED = "abstained"
ACCEPT, EXACT = "accept_agreement", "exact"
COVERAGES = tuple(step / 10 for step in range(9, 0, -1))  # points of the curve below that of all rows


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
        promise: What was promised, or None when nobody asked.
    """

    of: str
    curve: tuple[CoveragePoint, ...]
    chosen: CoveragePoint | None
    promise: Promise | None

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
            "promise": None if self.promise is None else asdict(self.promise),
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
    left = judgments.scored & ~(sure >= below)
    grade, accept = judgments.grade.copy(), judgments.accept.copy()
    probabilities, score, confidence = (
        numbers.copy() for numbers in (judgments.probabilities, judgments.score, judgments.confidence)
    )
    grade[left] = accept[left] = UNSCORED
    probabilities[left] = score[left] = confidence[left] = np.nan
    reasons = [
        f"{ABSTAINED}: {_said(float(sure[i]))} is under {below:g}; for a human to judge" if left[i] else reason
        for i, reason in enumerate(judgments.unscored)
    ]
    return replace(
        judgments,
        grade=grade,
        accept=accept,
        probabilities=probabilities,
        score=score,
        confidence=confidence,
        unscored=tuple(reasons),
    )


def abstention(
    bench: Bench,
    judge: CompiledJudge,
    tested: Judgments,
    how: Resampling,
    *,
    of: str,
    below: float | None,
    promise: float | None,
    risk: float,
    of_reserve: Judgments | None = None,
) -> Abstention:
    """Measures what abstaining brings on test; with ``promise``, the threshold comes from the reserved train queries.

    Args:
        bench: With a reserve in its data set when something is to be promised.
        judge: The compiled judge.
        tested: Its judgments of the test items.
        how: How intervals are made.
        of: From ``agreement_of``.
        below: The threshold asked for, or None.
        promise: The agreement to promise, or None.
        risk: The chance that the promise may be wrong.
        of_reserve: The judge's judgments of the reserve, needed for a promise.
    """
    test, reserve = bench.dataset.test, bench.dataset.reserve
    found = None
    if promise is not None and reserve is not None:
        dev = bench.dataset.dev
        assert of_reserve is not None  # whoever promises something has judged it
        judged = [(reserve, of_reserve), out_of_fold(judge, dev)]
        rows = [graded_rows(part, said, of, bench.scale) for part, said in judged]
        found = promised_threshold(rows[0], rows[1], agreement=promise, risk=risk, seed=bench.seed)
        below = found.below
    rows_tested = graded_rows(test, tested, of, bench.scale)
    labelled = int((_expert(test, of) != UNLABELLED)[tested.asked].sum())
    cuts = [0.0, *_quantiles(rows_tested.confidence, labelled)]
    points = (_point(rows_tested, cut, labelled, how) for cut in reversed(cuts))
    by_coverage = {point.coverage: point for point in points}  # of equal ones the lowest threshold
    curve = tuple(by_coverage[coverage] for coverage in sorted(by_coverage, reverse=True))
    chosen = None if below is None else _point(rows_tested, below, labelled, how)
    return Abstention(of, curve, chosen, found)


def graded_rows(part: Part, judgments: Judgments, of: str, scale: Scale) -> Rows:
    """The rows that experts labelled and the judge scored; aspects are flattened, each with its item's certainty."""
    expert = _expert(part, of)
    judge = judgments.accept if of == ACCEPT else judgments.grade
    sure = np.broadcast_to(certainty(judgments, of, scale)[:, None], expert.shape)
    known = (expert != UNLABELLED) & (judge != UNSCORED) & ~np.isnan(sure)
    cluster = np.broadcast_to(part.experts.cluster[:, None], expert.shape)
    return Rows(sure[known], (expert == judge)[known].astype(np.int64), cluster[known])


def check_options(below: float | None, promise: float | None, risk: float) -> None:
    """Refuse thresholds that cannot be.

    Raises:
        UserError: When one is out of range, or both a threshold and a promise are given.
    """
    for option, value in (("--abstain-below", below), ("--promise", promise), ("--risk", risk)):
        if value is not None and not 0 < value < 1:
            raise UserError(f"{option} {value:g}: out of range; a number between 0 and 1 is valid. Correct it.")
    if below is not None and promise is not None:
        raise UserError("--abstain-below and --promise: both given; a promise finds the threshold. Drop one of them.")


def promise_note(promise: Promise) -> str:
    """The promise as a sentence."""
    wanted = f"agreement {promise.agreement:g} at risk {promise.risk:g}"
    if promise.below is not None:
        return f"promised: {wanted} where confidence is at least {promise.below:g}; below it the judge abstains"
    seen = f"{promise.disagreements} of {promise.queries} reserved queries disagree"
    return f"nothing promised: {wanted} needs at least {promise.needed} queries without one disagreement; {seen}"


def _expert(part: Part, of: str) -> IntArray:
    return part.experts.accept if of == ACCEPT else part.experts.grade


def _quantiles(confidence: FloatArray, labelled: int) -> list[float]:
    """The threshold that keeps each share of the labelled rows."""
    falling = np.sort(confidence)[::-1]
    counts = [round(share * labelled) for share in COVERAGES]
    return [float(falling[count - 1]) for count in counts if 0 < count <= len(falling)]


def _point(rows: Rows, below: float, labelled: int, how: Resampling) -> CoveragePoint:
    kept = rows.confidence >= below
    n = int(kept.sum())
    if not n:
        return CoveragePoint(below, 0.0, Estimate(value=None, note="nothing is left to score", level=how.level))
    share = table_statistic(
        "exact",
        np.ones(n, dtype=np.int64),
        rows.agrees[kept],
        rows.cluster[kept],
        n_grades=2,
        n_clusters=int(rows.cluster.max()) + 1,
    )
    found = interval(share, level=how.level, resamples=how.resamples, seed=how.seed)
    return CoveragePoint(below, n / labelled, found.estimate(n))


def _json(point: CoveragePoint) -> dict[str, object]:
    return {"below": point.below, "coverage": point.coverage, "agreement": point.agreement.to_json()}


def _said(confidence: float) -> str:
    return "an unstated confidence" if np.isnan(confidence) else f"confidence {confidence:.2f}"
