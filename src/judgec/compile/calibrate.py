"""Fits the calibrator and its decision rule: LM alone, evidence alone and both compete out of fold, by query."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logsumexp, softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import Ridge
from threadpoolctl import ThreadpoolController

from judgec.compile.calibrate_choice import Data, TrainingRows, choose, fit_accept_threshold
from judgec.compile.decision_rule import fit_sureness
from judgec.raters.calibrator import (
    Calibrator,
    Family,
    Linear,
    Source,
    Steps,
    above_cuts,
    join_columns,
    standardize,
)
from judgec.raters.decision import acceptability
from judgec.raters.grading import decided
from judgec.records.consensus import accept_rate_of, mean_of
from judgec.records.counts import plural
from judgec.records.judgment import UNSCORED
from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.objective import Objective, parse_objective

EVIDENCE_C = 0.03  # inverse penalty: about 100 correlated columns want a strong one
VERDICT_C = 1.0  # one to four columns need hardly any
VERDICT_RELIEF = 3.0  # squared: how much less a verdict column's coefficient is penalized than evidence's
OUTLIER = 2.0  # standard deviations at which a column of evidence is cut
CONSTANT = 1e-12  # spread below which a column is taken to be constant
PSEUDO_LABELS = 0.5  # added to each grade (Krichevsky-Trofimov): one without examples keeps some mass
PRECISE = 1e-5  # the largest slope of the mean loss where a fit ends
VERSIONS = {"scikit-learn": sklearn.__version__, "numpy": np.__version__}


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """Predictions of the shipped calibrator for its own training rows, each from folds without its query.

    Rows that it was not chosen on (unlabelled or unscored ones, or all where nothing could be cross-validated) are
    missing: -1 and NaN.

    Args:
        probabilities: Shape (n, n_grades).
        grade: Positions, shape (n,).
        score: In scale units, shape (n,).
        accept: 1 / 0, shape (n,).
        confidence: That the grade is right, shape (n,).
    """

    probabilities: FloatArray
    grade: IntArray
    score: FloatArray
    accept: IntArray
    confidence: FloatArray


def fit_out_of_fold(
    everything: Data,
    *,
    names: Sequence[str] = (),
    seed: int = 0,
    evidence_digest: str = "",
    objective: Objective | None = None,
) -> tuple[Calibrator, OutOfFold]:
    """Choose by cross-validation and fit the map from verdicts and evidence to the experts' grades.

    Args:
        everything: Verdicts (NaN rows where unscored), evidence and targets (-1 where unlabelled).
        names: Names of the evidence columns.
        seed: Of folds and resamples; equal input and seed give an equal calibrator.
        evidence_digest: Digest of the evidence model, kept with the calibrator.
        objective: What is maximized; by default kappa for classes and for two grades, else tau-b.

    Returns:
        The calibrator with its decision rule and cross-validation table, and what it says of each row out of fold.
        Fewer than two queries or a single grade give the smoothed shares of the grades (``prior``), or, of verdicts,
        their own distribution (``none``) and the raw verdict.

    Raises:
        ValueError: When there is neither verdict nor evidence, no labelled row to use, or not one name a feature.
    """
    scale = everything.scale
    usable = _usable(everything, names)
    data = everything.rows(usable)
    if objective is None:
        two = data.n_grades == 2 and not scale.interval
        objective = parse_objective("kappa" if data.nominal or two else "tau_b")
    with _blas().limit(limits=1, user_api="blas"):
        chosen = choose(data, fit_source, objective, seed)
        source, family = chosen.key
        # Evidence needs no verdict: rows that the LM left unscored teach it too.
        final = everything.rows(everything.target[:, 0] >= 0) if source == "evidence" else data
        ((_, fitted),) = fit_source(final, source, (family,))
    facts: dict[str, object] = {
        "n_labels": len(final.target),
        "choices": chosen.table,
        "versions": VERSIONS,
        "rule": chosen.rule,
    }
    if source != "lm":
        facts |= {"feature_names": tuple(names), "evidence_digest": evidence_digest}
    n = len(usable)
    missing, unknown = np.full(n, UNSCORED, dtype=np.int64), np.full(n, np.nan)
    said = OutOfFold(np.full((n, data.n_grades), np.nan), missing, unknown, missing.copy(), unknown.copy())
    if chosen.probabilities is None or chosen.grade is None:
        return fitted.model_copy(update=facts), said
    if data.own_accept and (data.accept >= 0).any():
        chances = acceptability(chosen.probabilities, scale)
        facts["accept_threshold"] = fit_accept_threshold(chances, accept_rate_of(data.accept), data.cluster)
    of_grade = chosen.probabilities[np.arange(len(chosen.grade)), chosen.grade]
    if scale.interval:
        of_grade = np.full(len(of_grade), np.nan)
    else:
        facts["sureness"] = fit_sureness(of_grade, mean_of(chosen.grade[:, None] == data.target, data.target))
    calibrator = fitted.model_copy(update=facts)
    said.probabilities[usable] = chosen.probabilities
    said.grade[usable] = chosen.grade
    said.score[usable] = calibrator.score(chosen.probabilities, data.verdicts, data.values)
    said.accept[usable] = decided(chosen.probabilities, chosen.grade, scale, calibrator)
    said.confidence[usable] = calibrator.sure(of_grade)
    return calibrator, said


@cache
def _blas() -> ThreadpoolController:
    """Found once: a look through all loaded libraries takes as long as a small fit.

    The matrices are small: a second BLAS thread costs ten times what it saves, more on a busy machine.
    """
    return ThreadpoolController()


def _usable(data: Data, names: Sequence[str]) -> NDArray[np.bool_]:
    """The rows that are labelled and scored."""
    if data.verdicts is None and data.evidence is None:
        raise ValueError("calibrator: neither verdicts nor evidence; give at least one.")
    if data.evidence is not None and len(names) != data.evidence.shape[1]:
        raise ValueError(f"calibrator: {len(names)} names for {data.evidence.shape[1]} features; give one each.")
    usable = data.target[:, 0] >= 0
    if data.verdicts is not None:
        usable &= ~np.isnan(data.verdicts).any(axis=1)
    if not usable.any():
        raise ValueError(f"calibrator: {plural(len(usable), 'row')}, none labelled and scored; give at least one.")
    return np.asarray(usable)


def families_of(source: Source, data: Data) -> tuple[Family, ...]:
    """Families that compete within a source, simplest first: equal losses go to the simpler one."""
    first: tuple[Family, ...] = ("none",) if source == "lm" else ("prior",) if data.verdicts is None else ()
    if data.scale.interval:
        return (*first, "ridge")
    if data.nominal:
        return (*first, "multinomial")
    steps: tuple[Family, ...] = ("isotonic",) if source == "lm" else ()
    return (*first, *steps, "ordinal")


def fit_source(data: Data, source: Source, families: Sequence[Family] = ()) -> Iterator[tuple[Family, Calibrator]]:
    """Each family (all of the source where none is named) fitted; where ``data`` holds a single grade, its shares
    stand in for every fitted one.
    """
    k, n = data.n_grades, len(data.target)
    rows = data.training_rows()
    shares = (np.bincount(rows.grade, rows.weight, minlength=k) + PSEUDO_LABELS) / (n + k * PSEUDO_LABELS)
    blank = Calibrator(
        source=source,
        family="prior",
        n_grades=k,
        prior=tuple(map(float, shares)),
        smoothing=k * PSEUDO_LABELS / (n + k * PSEUDO_LABELS),
        feature_names=() if source == "lm" or data.evidence is None else ("",) * data.evidence.shape[1],
    )
    one_grade = len(np.unique(rows.grade)) < 2 and not data.scale.interval
    if data.pairs:
        data = data.both_orders()
        rows = data.training_rows()
    if source == "lm" and data.verdicts is not None:
        rows = rows.merged(data.verdicts)
    for family in families or families_of(source, data):
        if family == "none":
            parts: dict[str, object] = {}
        elif family == "prior" or one_grade:
            yield family, blank
            continue
        elif family == "isotonic":
            parts = {"steps": _isotonic(data, rows)}
        else:
            parts = _linear(data, rows, source, family)
        yield family, blank.model_copy(update={"family": family, **parts})


def _linear(data: Data, rows: TrainingRows, source: Source, family: Family) -> dict[str, object]:
    """The linear part of a family, on standardized columns."""
    number, values = family == "ridge", data.scale.values
    evidence = None if source == "lm" else data.read_by(source)
    columns = join_columns(source, data.verdicts, evidence, values if number else ())
    n_verdict = columns.shape[1] - (0 if evidence is None else evidence.shape[1])
    center, spread = columns.mean(axis=0), columns.std(axis=0)
    spread[spread < CONSTANT] = 0.0
    relief = np.ones(columns.shape[1])
    relief[:n_verdict] = VERDICT_RELIEF if source == "both" or number else 1.0
    scaled = standardize(columns, center, spread, n_verdict, outlier=OUTLIER, root=data.pairs) * relief
    c = VERDICT_C if source == "lm" else EVIDENCE_C
    parts: dict[str, object] = {
        "center": tuple(map(float, center)),
        "spread": tuple(map(float, spread)),
        "outlier": OUTLIER,
    }
    if number:
        model = Ridge(alpha=1.0 / c).fit(scaled, data.truth)
        coefficients, intercepts, classes = model.coef_[None], np.array([model.intercept_]), [0]
        parts["values"] = values
    else:
        parts |= {"ordinal": family == "ordinal", "root": data.pairs}
        coefficients, intercepts, classes = _logistic(scaled, rows, c, ordinal=family == "ordinal")
    parts["linear"] = Linear(
        coefficients=tuple(tuple(map(float, row)) for row in coefficients * relief),
        intercepts=tuple(map(float, intercepts)),
        classes=tuple(classes),
    )
    return parts


def _logistic(
    scaled: FloatArray, rows: TrainingRows, c: float, *, ordinal: bool
) -> tuple[FloatArray, FloatArray, list[int]]:
    """Multinomial logistic regression, or one a cut between grades: coefficients, intercepts and classes.

    A coefficient of cuts has a part that all cuts share and one of its own, penalized alike: what is unlike every label
    is then graded by what the cuts share.
    Source: Frank and Hall (2001), A simple approach to ordinal classification, ECML; Peterson and Harrell (1990),
        Partial proportional odds models, Applied Statistics 39.
    """
    grades, x = np.unique(rows.grade), np.column_stack([scaled[rows.row], np.ones(len(rows.row))])
    cuts = ordinal or len(grades) == 2  # of two classes the first one's score is 0
    scored = np.arange(grades[0] + 1, grades[-1] + 1) if ordinal else grades[1:] if cuts else grades
    given, n_scores = rows.grade[:, None], len(scored)
    truth = (given >= scored if cuts else given == scored).astype(np.float64)
    covariance = c * (np.eye(n_scores) + (1.0 if ordinal and n_scores > 1 else 0.0))
    weight = np.ones(len(x)) if rows.weight is None else rows.weight
    found = _fit_scores(x, truth, weight, np.asarray(np.linalg.inv(covariance), dtype=np.float64), cuts=cuts)
    if cuts and not ordinal:
        found, scored = np.vstack([np.zeros_like(found), found]), grades
    return found[:, :-1], found[:, -1], list(map(int, scored))


def _fit_scores(
    x: FloatArray, truth: FloatArray, weight: FloatArray, precision: FloatArray, *, cuts: bool
) -> FloatArray:
    """Coefficients of the most likely scores, shape (n_scores, n_columns).

    With independent scores as scikit-learn's ``LogisticRegression``, whose checks take five times as long as fitting
    the few rows of verdicts.

    Args:
        x: Columns, the last one of ones, whose coefficients are not penalized.
        truth: 1 where a row is of the class, or above the cut, of a score, shape (n_rows, n_scores).
        weight: Of the rows.
        precision: Of the coefficients that a column has in all scores: inverse of their covariance before any row.
        cuts: Each score decides for itself; else one class of all is true.
    """
    total, shape = weight.sum(), (truth.shape[1], x.shape[1])

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        theta = flat.reshape(shape)
        pulled, scores = precision @ theta, x @ theta.T
        pulled[:, -1] = 0.0
        if cuts:
            each, chances = np.logaddexp(0.0, scores).sum(axis=1), expit(scores)
        else:
            each, chances = logsumexp(scores, axis=1), softmax(scores, axis=1)
        value = weight @ (each - (truth * scores).sum(axis=1)) + 0.5 * (theta * pulled).sum()
        slopes = ((chances - truth) * weight[:, None]).T @ x + pulled
        return float(value) / total, slopes.ravel() / total

    start = np.zeros(truth.shape[1] * x.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "gtol": PRECISE, "ftol": 0.0})
    return np.asarray(found.x.reshape(shape))


def _isotonic(data: Data, rows: TrainingRows) -> tuple[Steps, ...]:
    assert data.verdicts is not None  # a family of verdicts
    above, steps = above_cuts(data.verdicts)[rows.row], []
    for cut in range(1, data.n_grades):
        model = IsotonicRegression(out_of_bounds="clip")
        model.fit(above[:, cut - 1], rows.grade >= cut, sample_weight=rows.weight)
        x, y = (tuple(map(float, ends)) for ends in (model.X_thresholds_, model.y_thresholds_))
        steps.append(Steps(cut=cut, x=x, y=y))
    return tuple(steps)
