"""A fitted map from an LM's verdict and the evidence to probabilities of the experts' grades: JSON in, numpy
out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from judgec.raters.decision import DecisionRule, RuleName, Sureness, spread_of
from judgec.records.judgment import expected
from judgec.records.label import FloatArray, IntArray
from judgec.records.record import FiniteRecord

Source = Literal["lm", "evidence", "both"]
Family = Literal["none", "prior", "isotonic", "ordinal", "multinomial", "ridge"]

VERDICT_FLOOR = 0.01  # an LM that says "certain" is taken to mean 99 %
OUTLIER = 3.0  # standard deviations at which a column of evidence was cut until 0.9


class Linear(FiniteRecord):
    """One logistic score a row: a cut between grades (``ordinal``) or a grade (``multinomial``).

    Args:
        coefficients: Shape (n_scores, n_columns), for standardized columns.
        intercepts: Shape (n_scores,).
        classes: The grade position of each score (``multinomial``) or the lowest grade above the cut (``ordinal``).
    """

    coefficients: tuple[tuple[float, ...], ...]
    intercepts: tuple[float, ...]
    classes: tuple[int, ...]

    def fits(self, width: int, n_grades: int) -> bool:
        """True when the scores read ``width`` columns and name grades below ``n_grades``."""
        return (
            len(self.coefficients) == len(self.intercepts) == len(self.classes) > 0
            and all(len(row) == width for row in self.coefficients)
            and all(0 <= grade < n_grades for grade in self.classes)
        )


class Steps(FiniteRecord):
    """A non-decreasing piecewise-linear map of P(grade >= cut), one a cut."""

    cut: int
    x: tuple[float, ...]
    y: tuple[float, ...]


class CalibratorChoice(FiniteRecord):
    """One row of the cross-validation table: a way from verdict and evidence to a grade, and what it is worth.

    Args:
        source: What it reads.
        family: How it maps.
        rule: How the grade follows.
        loss: Mean ranked probability score (Brier score on a nominal scale) out of fold; lower is better.
        grade_error: Mean distance in grades between the grade it ships and the experts' (share wrong on a nominal
            scale).
        value: The objective out of fold.
        gain: How much higher its objective is than the incumbent's; 0 for the incumbent itself.
        gain_error: Standard error of ``gain``, clustered by query; None where undefined: it may not ship then.
        guarded: True when kappa or QWK fall too far below the incumbent's, or the loss is higher: it may not ship.
        incumbent: True for the one that had to be beaten.
        chosen: True for the one in use.
    """

    source: Source
    family: Family
    rule: RuleName
    loss: float
    grade_error: float
    value: float
    gain: float = 0.0
    gain_error: float | None = 0.0
    guarded: bool = False
    incumbent: bool = False
    chosen: bool = False


@dataclass(slots=True)
class Trace:
    """Steps of a calibrator to its probabilities, kept for what explains them.

    Args:
        kept: The rows that were calibrated, ascending; the arrays below have a row for each of these.
        scaled: The standardized columns of the linear part, or None without one.
    """

    kept: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    scaled: FloatArray | None = None

    def places(self, rows: IntArray) -> IntArray:
        """Places of the rows in ``kept``; -1 for one that is not."""
        if not len(self.kept):
            return np.full(len(rows), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.kept, rows), len(self.kept) - 1)
        return np.where(self.kept[at] == rows, at, -1)


class Calibrator(FiniteRecord):
    """Maps verdicts and evidence to probabilities of the experts' grades; saved as JSON, applied in numpy.

    Args:
        source: What it reads: the LM's verdict, the evidence, or both.
        family: ``none`` passes the verdict on, ``prior`` ignores it; of numbers ``isotonic`` and ``ridge`` are
            regressions of the score.
        n_grades: Grades on the scale.
        prior: Shares of the grades in training, smoothed.
        smoothing: Share of the uniform distribution in every fitted probability, so that none is 0.
        center: Subtracted from each column before a linear score.
        spread: Divides each column before a linear score.
        outlier: Standard deviations at which a column of evidence is cut: what is unlike every label must not dominate.
        linear: The logistic part, of ``ridge`` the regression; or None.
        ordinal: True when ``linear`` scores cuts between grades.
        steps: The isotonic part, or empty.
        forest: Nothing: a file of 0.9 has a null here.
        feature_names: Names of the evidence columns, or empty.
        evidence_digest: Digest of the evidence model they came from, or empty.
        n_labels: Items it was fitted on.
        choices: The cross-validation table.
        rule: How the grade follows.
        sureness: The probability that the grade is right, or None: then that of the grade as it is.
        accept_threshold: Accept when P(accept) reaches it; None where accepts follow from the grade.
        versions: Of the libraries that fitted it.
        values: Of an interval scale what each position stands for; empty on a scale of grades.
        root: Evidence counts by its square root, with its sign: differences of two answers have long tails.
    """

    source: Source
    family: Family
    n_grades: int = Field(ge=2)
    prior: tuple[float, ...]
    smoothing: float = Field(ge=0, le=1)
    center: tuple[float, ...] = ()
    spread: tuple[float, ...] = ()
    outlier: float = OUTLIER
    linear: Linear | None = None
    ordinal: bool = False
    steps: tuple[Steps, ...] = ()
    forest: None = Field(default=None, exclude=True)
    feature_names: tuple[str, ...] = ()
    evidence_digest: str = ""
    n_labels: int = 0
    choices: tuple[CalibratorChoice, ...] = ()
    rule: DecisionRule = DecisionRule()
    sureness: Sureness | None = None
    accept_threshold: float | None = None
    versions: dict[str, str] = Field(default_factory=dict)
    values: tuple[float, ...] = Field(default=(), exclude_if=lambda said: not said)
    root: bool = Field(default=False, exclude_if=lambda said: not said)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        verdict_columns = 0 if self.source == "evidence" else self.n_grades - 1
        width = verdict_columns + (0 if self.source == "lm" else len(self.feature_names))
        width -= (self.n_grades - 2) * (self.source != "evidence" and self.of_numbers)  # one column, the score
        needs_linear = self.family in {"ridge", "ordinal", "multinomial"}
        sound = (
            len(self.prior) == self.n_grades
            and (self.linear is not None or not needs_linear)
            and (not needs_linear or len(self.center) == len(self.spread) == width)
            and (self.linear is None or self.linear.fits(width, self.n_grades))
            and (
                self.family != "isotonic"
                or [s.cut for s in self.steps] == list(range(1, 2 if self.of_numbers else self.n_grades))
            )
            and len(self.values) == self.n_grades * self.of_numbers
            and (self.family != "ridge" or self.of_numbers)
            and (self.rule.name not in {"raw", "map"} or self.source != "evidence")
            and (len(self.rule.cuts) == (self.n_grades - 1) * (self.rule.name in {"map", "cuts"}))
            and list(self.rule.cuts) == sorted(self.rule.cuts)
        )
        if not sound:
            raise ValueError("calibrator: parts that do not fit together; the calibration file is damaged.")
        return self

    @property
    def of_numbers(self) -> bool:
        """True for a regression of the score, of an interval scale."""
        return bool(self.values)

    def apply(self, verdicts: FloatArray | None, evidence: FloatArray | None, trace: Trace | None = None) -> FloatArray:
        """Probabilities of the experts' grades, shape (n_items, n_grades); rows sum to 1.

        Args:
            verdicts: The LM's probabilities of the grades, shape (n_items, n_grades), NaN rows where it gave none.
            evidence: Features, shape (n_items, n_features).
            trace: Filled with how the probabilities came about.

        Returns:
            Rows are NaN where the verdict is NaN and the calibrator reads verdicts; an evidence-only calibrator gives
            every row, and the caller decides what an unscored reply means.

        Raises:
            ValueError: When what the calibrator reads is missing or has another width.
        """
        self._check(verdicts, evidence)
        given = [array for array in (verdicts, evidence) if array is not None]
        n = len(given[0])
        scored = np.ones(n, dtype=bool)
        if self.source != "evidence" and verdicts is not None:
            scored &= ~np.isnan(verdicts).any(axis=1)
        out = np.full((n, self.n_grades), np.nan)
        if scored.any():
            inputs = [None if array is None else array[scored] for array in (verdicts, evidence)]
            out[scored] = self._probabilities(inputs[0], inputs[1], int(scored.sum()), trace)
        if trace is not None:
            trace.kept = np.flatnonzero(scored)
        return out

    def score(self, spread: FloatArray, verdicts: FloatArray | None, values: FloatArray) -> FloatArray:
        """The expected value in scale units, shape (n_items,); of the verdict itself where that is the only source.

        A map of four verdict values keeps four values, and each fold maps them otherwise: the verdict orders better.

        Args:
            spread: What ``apply`` gave.
            verdicts: What ``apply`` was given.
            values: What each grade stands for, shape (n_grades,).
        """
        alone = verdicts if self.source == "lm" and self.rule.name != "nearest" else None
        return expected(spread if alone is None else alone, values)

    def sure(self, probability: FloatArray) -> FloatArray:
        """Probability that the shipped grade is right, from its calibrated probability, same shape."""
        return probability if self.sureness is None else self.sureness.of(probability)

    def _check(self, verdicts: FloatArray | None, evidence: FloatArray | None) -> None:
        wanted = {"verdicts": self.n_grades, "evidence": len(self.feature_names)}
        reads = {"verdicts": self.source != "evidence", "evidence": self.source != "lm"}
        for name, array in (("verdicts", verdicts), ("evidence", evidence)):
            if reads[name] and (array is None or array.ndim != 2 or array.shape[1] != wanted[name]):
                seen = "nothing" if array is None else f"shape {array.shape}"
                raise ValueError(f"calibrator: {seen} for {name}; shape (n_items, {wanted[name]}) is needed.")
        if verdicts is None and evidence is None:
            raise ValueError("calibrator: neither verdicts nor evidence; at least one is needed.")

    def _probabilities(
        self, verdicts: FloatArray | None, evidence: FloatArray | None, n: int, trace: Trace | None
    ) -> FloatArray:
        if self.family == "none" and verdicts is not None:
            passed_on: FloatArray = verdicts / verdicts.sum(axis=1, keepdims=True)
            return passed_on
        if self.family == "prior":
            return np.tile(np.array(self.prior), (n, 1))
        if self.family == "isotonic" and verdicts is not None and not self.of_numbers:
            return self._smooth(isotonic_probabilities(self.steps, verdicts))
        columns = join_columns(self.source, verdicts, evidence, self.values)
        if self.linear is None:  # isotonic of numbers, as fitted until 0.9
            return spread_of(np.interp(columns[:, 0], self.steps[0].x, self.steps[0].y), np.array(self.values))
        n_verdict = columns.shape[1] - (0 if self.source == "lm" else len(self.feature_names))
        scaled = standardize(
            columns, np.array(self.center), np.array(self.spread), n_verdict, outlier=self.outlier, root=self.root
        )
        if trace is not None:
            trace.scaled = scaled
        if not self.of_numbers:
            return self._smooth(linear_probabilities(self.linear, scaled, self.n_grades, ordinal=self.ordinal))
        terms = [scaled[:, i] * weight for i, weight in enumerate(self.linear.coefficients[0])]
        numbers = sum(terms, start=np.full(len(scaled), self.linear.intercepts[0]))
        return spread_of(np.asarray(numbers), np.array(self.values))

    def _smooth(self, probabilities: FloatArray) -> FloatArray:
        return (1.0 - self.smoothing) * probabilities + self.smoothing / self.n_grades


def join_columns(
    source: Source, verdicts: FloatArray | None, evidence: FloatArray | None, values: Sequence[float] = ()
) -> FloatArray:
    """The columns a fitted family reads: logits of P(grade >= j) for each cut j of the verdict, then the evidence.

    Of an interval scale, whose ``values`` are given, the verdict's score stands for the logits.
    """
    columns = []
    if source != "evidence" and verdicts is not None:
        above = above_cuts(verdicts).clip(VERDICT_FLOOR, 1.0 - VERDICT_FLOOR)
        columns.append(expected(verdicts, values)[:, None] if values else np.log(above / (1.0 - above)))
    if source != "lm" and evidence is not None:
        columns.append(evidence)
    return np.concatenate(columns, axis=1)


def above_cuts(probabilities: FloatArray) -> FloatArray:
    """P(grade >= j) for j = 1 .. n_grades - 1, shape (n_items, n_grades - 1)."""
    tails: FloatArray = np.cumsum(probabilities[:, ::-1], axis=1)[:, ::-1]
    return tails[:, 1:] / tails[:, :1]


def standardize(
    columns: FloatArray,
    center: FloatArray,
    spread: FloatArray,
    n_verdict: int,
    *,
    outlier: float = OUTLIER,
    root: bool = False,
) -> FloatArray:
    """Columns centered and scaled; those after the first ``n_verdict`` are cut at ``outlier``, or their root is taken.

    ``spread`` 0 marks a column that was constant in training: it becomes 0.
    """
    scaled = (columns - center) / np.where(spread > 0, spread, np.inf)
    rest = scaled[:, n_verdict:]
    scaled[:, n_verdict:] = np.sign(rest) * np.sqrt(np.abs(rest)) if root else np.clip(rest, -outlier, outlier)
    return scaled


def linear_probabilities(linear: Linear, scaled: FloatArray, n_grades: int, *, ordinal: bool) -> FloatArray:
    """Probabilities from logistic scores; grades that training never saw get 0 here and their mass by
    smoothing.
    """
    scores = np.zeros((len(scaled), len(linear.intercepts)))
    for column, weights in zip(scaled.T, np.array(linear.coefficients).T, strict=True):
        scores += column[:, None] * weights  # term by term: a matrix product would round a row by the rows beside it
    scores += np.array(linear.intercepts)
    out = np.zeros((len(scaled), n_grades))
    if not ordinal:
        scores -= scores.max(axis=1, keepdims=True)
        weights = np.exp(scores)
        out[:, list(linear.classes)] = weights / weights.sum(axis=1, keepdims=True)
        return out
    above = np.zeros((len(scaled), n_grades + 1))
    above[:, 0] = 1.0
    cuts = dict(zip(linear.classes, (0.5 * (1.0 + np.tanh(0.5 * scores))).T, strict=True))
    for cut in range(1, n_grades):
        # A cut that training never crossed lies below or above all its grades.
        above[:, cut] = cuts[cut] if cut in cuts else float(cut < linear.classes[0])
    above = np.minimum.accumulate(above, axis=1)
    return above[:, :-1] - above[:, 1:]


def isotonic_probabilities(steps: tuple[Steps, ...], verdicts: FloatArray) -> FloatArray:
    """Probabilities from isotonic maps of P(grade >= cut), made non-increasing over the cuts."""
    raw = above_cuts(verdicts)
    above = np.zeros((len(verdicts), verdicts.shape[1] + 1))
    above[:, 0] = 1.0
    for step in steps:
        above[:, step.cut] = np.interp(raw[:, step.cut - 1], step.x, step.y)
    above = np.minimum.accumulate(above, axis=1)
    return above[:, :-1] - above[:, 1:]
