"""Fits the calibrator and its decision rule: LM alone, evidence alone and both compete out of fold, by query."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any  # scikit-learn has no types

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, Ridge
from threadpoolctl import ThreadpoolController

from judgec.compile.calibrate_choice import Data, Key, TrainingRows, choose, fit_accept_threshold
from judgec.compile.decision_rule import fit_sureness
from judgec.raters.calibrator import (
    Calibrator,
    Family,
    Linear,
    Source,
    Steps,
    above_cuts,
    join_columns,
    number_columns,
    standardize,
)
from judgec.raters.decision import acceptability
from judgec.raters.forest import Forest
from judgec.raters.grading import decided
from judgec.records.consensus import accept_rate_of, mean_of
from judgec.records.counts import plural
from judgec.records.judgment import UNSCORED
from judgec.records.label import UNLABELLED, FloatArray, IntArray
from judgec.records.scale import Scale
from judgec.stats.agreement.objective import Objective, parse_objective

TREES = 128  # in the calibrator that ships; 300 measure the same and apply more slowly
TREES_IN_FOLDS = 64  # while choosing: half the time, the same order of families
LEAF = 3  # fewest training items in a leaf
EVIDENCE_C = 0.01  # inverse penalty: about 100 correlated columns want a strong one
VERDICT_C = 1.0  # one to four columns need hardly any
VERDICT_RELIEF = 3.0  # squared: how much less a verdict column's coefficient is penalized than evidence's
CONSTANT = 1e-12  # spread below which a column is taken to be constant
SHARE_UNITS = 840  # leaves count shares in these: whole numbers for up to eight annotators
SCORE_UNITS = 1_000_000  # the same of a regression: its mean is kept to so many parts of the range
PSEUDO_LABELS = 0.5  # added to each grade (Krichevsky-Trofimov): one without examples keeps some mass
MIRRORED: tuple[Family, ...] = ("mirrored", "mirrored_mix")  # compete where two answers are compared
VERSIONS = {"scikit-learn": sklearn.__version__, "numpy": np.__version__}


Fits = dict[bytes, tuple[tuple[Key, Calibrator], ...]]
"""Calibrators of evidence alone, by a hash of all that they were fitted on."""


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


def fit_calibrator(
    *,
    verdicts: FloatArray | None,
    evidence: FloatArray | None,
    target: IntArray,
    cluster: IntArray,
    scale: Scale,
    accept: IntArray | None = None,
    names: Sequence[str] = (),
    seed: int = 0,
    evidence_digest: str = "",
    objective: Objective | None = None,
    stated: IntArray | None = None,
    own_accept: bool = False,
) -> Calibrator:
    """Choose by cross-validation and fit the map from verdicts and evidence to the experts' grades.

    Args:
        verdicts: The LM's probabilities of the grades, shape (n, n_grades), NaN rows where unscored; None without an
            LM. A verdict between two grades gives each one half.
        evidence: Features, shape (n, n_features); None without evidence.
        target: The experts' grade positions, shape (n,); -1 where unlabelled.
        cluster: The query of each row, shape (n,).
        scale: The grades.
        accept: The experts' accept, 1 / 0, -1 where unknown, shape (n,); None takes it from the grades where the
            scale says which are accepted.
        names: Names of the evidence columns.
        seed: Of folds, trees and resamples; equal input and seed give an equal calibrator.
        evidence_digest: Digest of the evidence model, kept with the calibrator.
        objective: What is maximized; by default kappa for classes and for two grades, else tau-b.
        stated: The positions that the LM stated, shape (n,), -1 where unscored; None takes them from ``verdicts``.
        own_accept: The experts said accept or reject apart from their grades: then a threshold on P(accept) is
            fitted, on out-of-fold predictions, and accepts do not follow from the grade.

    Returns:
        The calibrator with its decision rule and cross-validation table. Fewer than two queries or a single grade
        give the smoothed shares of the grades (``prior``), or, where a language model gave the verdicts or there is
        no evidence, its own distribution (``none``) and its raw verdict.

    Raises:
        ValueError: When there is neither verdict nor evidence, no labelled row to use, or not one name a feature.
    """
    if accept is None:
        known = (target >= 0) & (scale.accept_index is not None)
        accept = np.where(known, target >= (scale.accept_index or 0), UNLABELLED).astype(np.int64)
    data = Data(verdicts, evidence, target[:, None], cluster, scale, accept[:, None], own_accept, stated)
    return fit_out_of_fold(data, names=names, seed=seed, evidence_digest=evidence_digest, objective=objective)[0]


def fit_out_of_fold(
    everything: Data,
    *,
    names: Sequence[str] = (),
    seed: int = 0,
    evidence_digest: str = "",
    objective: Objective | None = None,
    known: Fits | None = None,
) -> tuple[Calibrator, OutOfFold]:
    """As ``fit_calibrator``, with what the calibrator says of each row of ``everything`` out of fold.

    ``known`` keeps what was fitted on evidence alone, which several prompts of one compile have in common.
    """
    scale = everything.scale
    usable = _usable(everything, names)
    data = everything.rows(usable)
    if objective is None:
        objective = parse_objective(
            "kappa" if data.nominal or (data.n_grades == 2 and not data.scale.interval) else "tau_b"
        )

    def fit(part: Data, source: Source) -> Iterable[tuple[Key, Calibrator]]:
        return _fit_once(part, source, seed, TREES_IN_FOLDS, _families(source, data), {} if known is None else known)

    with _blas().limit(limits=1, user_api="blas"):
        chosen = choose(data, fit, objective, seed)
        source, family = chosen.key
        # Evidence needs no verdict: rows that the LM left unscored teach it too.
        final = everything.rows(everything.target[:, 0] >= 0) if source == "evidence" else data
        fitted = dict(_fit_once(final, source, seed, TREES, (family,), {} if known is None else known))[chosen.key]
    facts: dict[str, object] = {
        "n_labels": len(final.target),
        "choices": chosen.table,
        "versions": VERSIONS,
        "rule": chosen.rule,
    }
    if source != "lm":
        facts |= {"feature_names": tuple(names), "evidence_digest": evidence_digest}
    said = _nothing_said(len(usable), data.n_grades)
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
    said.score[usable] = calibrator.score(chosen.probabilities, data.verdicts, np.array(scale.values))
    said.accept[usable] = decided(chosen.probabilities, chosen.grade, scale, calibrator)
    said.confidence[usable] = calibrator.sure(of_grade)
    return calibrator, said


@cache
def _blas() -> ThreadpoolController:
    """Found once: a look through all loaded libraries takes as long as a small fit.

    The matrices are small: a second BLAS thread costs ten times what it saves, more on a busy machine.
    """
    return ThreadpoolController()


def _nothing_said(n: int, n_grades: int) -> OutOfFold:
    missing, unknown = np.full(n, UNSCORED, dtype=np.int64), np.full(n, np.nan)
    return OutOfFold(np.full((n, n_grades), np.nan), missing, unknown, missing.copy(), unknown.copy())


def _usable(data: Data, names: Sequence[str]) -> NDArray[np.bool_]:
    """The rows that are labelled and scored."""
    if data.verdicts is None and data.evidence is None:
        raise ValueError("fit_calibrator: neither verdicts nor evidence; give at least one.")
    if data.evidence is not None and len(names) != data.evidence.shape[1]:
        raise ValueError(f"fit_calibrator: {len(names)} names for {data.evidence.shape[1]} features; give one each.")
    usable = data.target[:, 0] >= 0
    if data.verdicts is not None:
        usable &= ~np.isnan(data.verdicts).any(axis=1)
    if not usable.any():
        raise ValueError(f"fit_calibrator: {plural(len(usable), 'row')}, none labelled and scored; give at least one.")
    return np.asarray(usable)


def _families(source: Source, data: Data) -> tuple[Family, ...]:
    """Families that compete within a source, simplest first: equal losses go to the simpler one."""
    if data.scale.interval:
        alone: tuple[Family, ...] = ("prior",) if data.verdicts is None else ()
        return ("none", "isotonic", "ridge") if source == "lm" else (*alone, "ridge", "trees")
    linear: tuple[Family, ...] = ("multinomial",) if data.nominal else ("ordinal", "multinomial")
    if data.n_grades == 2 and not data.nominal:
        linear = ("ordinal",)  # with one cut the two are the same model
    if source == "lm":
        return ("prior", "none", *linear) if data.nominal else ("prior", "none", "isotonic", *linear)
    mirrored = MIRRORED if data.pairs and source == "evidence" else ()
    return (*(("prior",) if data.verdicts is None else ()), *linear, "trees", "mix", *mirrored)


def _fit_once(
    data: Data, source: Source, seed: int, trees: int, families: tuple[Family, ...], known: Fits
) -> Iterable[tuple[Key, Calibrator]]:
    """As ``_fit_source``; what reads evidence alone is looked up, since it does not depend on the verdicts."""
    evidence = data.read_by(source)
    if source != "evidence" or evidence is None:
        return _fit_source(data, source, seed, trees, families)
    facts = hashlib.sha256(repr((seed, trees, families, data.n_grades, data.nominal, evidence.shape)).encode())
    facts.update(np.ascontiguousarray(evidence).tobytes())
    facts.update(np.ascontiguousarray(data.target).tobytes())
    key = facts.digest()
    if key not in known:
        known[key] = tuple(_fit_source(data, source, seed, trees, families))
    return known[key]


def _fit_source(
    data: Data, source: Source, seed: int, trees: int, families: tuple[Family, ...]
) -> Iterator[tuple[Key, Calibrator]]:
    """Each family fitted; where ``data`` holds a single grade, its shares stand in for every fitted family."""
    k, n = data.n_grades, len(data.target)
    training_rows = data.training_rows()
    shares = (np.bincount(training_rows.grade, training_rows.weight, minlength=k) + PSEUDO_LABELS) / (
        n + k * PSEUDO_LABELS
    )
    blank = Calibrator(
        source=source,
        family="prior",
        n_grades=k,
        prior=tuple(map(float, shares)),
        smoothing=k * PSEUDO_LABELS / (n + k * PSEUDO_LABELS),
        feature_names=() if source == "lm" or data.evidence is None else ("",) * data.evidence.shape[1],
    )
    if data.scale.interval:
        yield from _regressions(data, source, blank, (seed, trees), families)
        return
    columns = join_columns(source, data.verdicts, data.read_by(source))
    center, spread = columns.mean(axis=0), columns.std(axis=0)
    spread[spread < CONSTANT] = 0.0
    fixed = {"center": tuple(map(float, center)), "spread": tuple(map(float, spread))}
    n_verdict = 0 if source == "evidence" else k - 1
    scaled = standardize(columns, center, spread, n_verdict)
    mixed: Family = "multinomial" if data.nominal else "ordinal"
    one_grade = len(np.unique(training_rows.grade)) < 2
    forest, linears = None, dict[bool, Linear]()  # a mix has the same linear part as its family alone
    if not one_grade and not {"trees", "mix", "mirrored_mix"}.isdisjoint(families):
        forest = _forest(columns[training_rows.row], training_rows, k, trees, seed)
    for family in families:
        parts: dict[str, object] = {}
        if family != "none" and one_grade:
            yield (source, family), blank
            continue
        if family == "isotonic" and data.verdicts is not None:
            parts = {"steps": _isotonic(data.verdicts[training_rows.row], training_rows, k)}
        if family in {"ordinal", "multinomial", "mix"}:
            ordinal = (mixed if family == "mix" else family) == "ordinal"
            if ordinal not in linears:
                rows = scaled[training_rows.row]
                linears[ordinal] = _logistic(rows, training_rows, source, n_verdict, ordinal=ordinal)
            parts = {"linear": linears[ordinal], "ordinal": ordinal, **fixed}
        if family in {"mirrored", "mirrored_mix"}:
            parts = _mirrored(columns, training_rows, data.scale)
        if family in {"trees", "mix", "mirrored_mix"}:
            parts["forest"] = forest
        yield (source, family), blank.model_copy(update={"family": family, **parts})


def _regressions(
    data: Data, source: Source, blank: Calibrator, seed_and_trees: tuple[int, int], families: tuple[Family, ...]
) -> Iterator[tuple[Key, Calibrator]]:
    """Each regression of the score fitted to what the annotators gave on average."""
    seed, trees = seed_and_trees
    values, truth = data.scale.values, data.truth
    columns = number_columns(source, data.verdicts, data.read_by(source), values)
    n_verdict = int(source != "evidence")
    for family in families:
        parts: dict[str, object] = {} if family in {"none", "prior"} else {"values": values}
        if family == "isotonic":
            model = IsotonicRegression(out_of_bounds="clip").fit(columns[:, 0], truth)
            x, y = (tuple(map(float, ends)) for ends in (model.X_thresholds_, model.y_thresholds_))
            parts["steps"] = (Steps(cut=1, x=x, y=y),)
        if family == "ridge":
            center, spread = columns.mean(axis=0), columns.std(axis=0)
            spread[spread < CONSTANT] = 0.0
            relief = np.ones(columns.shape[1])
            relief[:n_verdict] = VERDICT_RELIEF
            scaled = standardize(columns, center, spread, n_verdict) * relief
            model = Ridge(alpha=1.0 / (VERDICT_C if source == "lm" else EVIDENCE_C)).fit(scaled, truth)
            weights = tuple(map(float, model.coef_ * relief))
            linear = Linear(coefficients=(weights,), intercepts=(float(model.intercept_),), classes=(0,))
            parts |= {"linear": linear, "center": tuple(map(float, center)), "spread": tuple(map(float, spread))}
        if family == "trees":
            share = (truth - values[0]) / (values[-1] - values[0])
            forest = ExtraTreesRegressor(trees, min_samples_leaf=LEAF, random_state=seed).fit(columns, share)
            parts["forest"] = forest_arrays([one.tree_ for one in forest.estimators_], np.arange(2), 2, SCORE_UNITS)
        yield (source, family), blank.model_copy(update={"family": family, **parts})


def _logistic(
    scaled: FloatArray, training_rows: TrainingRows, source: Source, n_verdict: int, *, ordinal: bool
) -> Linear:
    """Multinomial logistic regression, or one a cut between grades.

    Source: Frank and Hall (2001), A simple approach to ordinal classification, ECML.
    """
    relief = np.ones(scaled.shape[1])
    if source == "both":
        relief[:n_verdict] = VERDICT_RELIEF
    c = VERDICT_C if source == "lm" else EVIDENCE_C
    if ordinal:
        cuts = range(int(training_rows.grade.min()) + 1, int(training_rows.grade.max()) + 1)
        targets, classes = [(training_rows.grade >= cut).astype(np.int64) for cut in cuts], np.array(cuts)
    else:
        targets, classes = [training_rows.grade], np.unique(training_rows.grade)
    models = [  # one object each: fitted again, the same one would hold the last cut's coefficients for all of them
        LogisticRegression(C=c, max_iter=500).fit(scaled * relief, target, sample_weight=training_rows.weight)
        for target in targets
    ]
    coefficients = np.vstack([model.coef_ for model in models]) * relief
    intercepts = np.concatenate([model.intercept_ for model in models])
    if len(intercepts) < len(classes):  # of two classes scikit-learn keeps the second one's score only
        coefficients, intercepts = np.vstack([0.0 * coefficients, coefficients]), np.append(0.0, intercepts)
    return Linear(
        coefficients=tuple(tuple(map(float, row)) for row in coefficients),
        intercepts=tuple(map(float, intercepts)),
        classes=tuple(map(int, classes)),
    )


def _mirrored(columns: FloatArray, training_rows: TrainingRows, scale: Scale) -> dict[str, object]:
    """A logistic regression of pairs that changes sides when the answers do: fitted to each pair in both orders.

    Features of a pair are those of one answer less those of the other; what a side has by itself is not learned, since
    a judge of pairs says the same of both orders.
    """
    spread = np.sqrt((columns**2).mean(axis=0))
    spread[spread < CONSTANT] = 0.0
    center = np.zeros(len(spread))
    scaled = standardize(columns, center, spread, 0)[training_rows.row]
    turned = np.arange(len(scale.grades))
    turned[[scale.position("a"), scale.position("b")]] = scale.position("b"), scale.position("a")
    both = TrainingRows(
        row=np.concatenate([training_rows.row, training_rows.row]),
        grade=np.concatenate([training_rows.grade, turned[training_rows.grade]]),
        weight=None if training_rows.weight is None else np.concatenate([training_rows.weight, training_rows.weight]),
    )
    linear = _logistic(np.concatenate([scaled, -scaled]), both, "evidence", 0, ordinal=False)
    return {"linear": linear, "center": tuple(map(float, center)), "spread": tuple(map(float, spread))}


def _isotonic(verdicts: FloatArray, training_rows: TrainingRows, n_grades: int) -> tuple[Steps, ...]:
    above = above_cuts(verdicts)
    steps = []
    for cut in range(1, n_grades):
        model = IsotonicRegression(out_of_bounds="clip")
        model.fit(above[:, cut - 1], training_rows.grade >= cut, sample_weight=training_rows.weight)
        steps.append(
            Steps(
                cut=cut,
                x=tuple(map(float, model.X_thresholds_)),
                y=tuple(map(float, model.y_thresholds_)),
            )
        )
    return tuple(steps)


def _forest(columns: FloatArray, training_rows: TrainingRows, n_grades: int, trees: int, seed: int) -> Forest:
    # Lessons of one row are one item: a leaf holds as many items as without shares.
    leaf = round(LEAF * len(training_rows.row) / len(np.unique(training_rows.row)))
    model = ExtraTreesClassifier(trees, min_samples_leaf=leaf, random_state=seed)
    model.fit(columns, training_rows.grade, sample_weight=training_rows.weight)
    units = 1 if training_rows.weight is None else SHARE_UNITS
    return forest_arrays([tree.tree_ for tree in model.estimators_], np.asarray(model.classes_), n_grades, units)


def forest_arrays(trees: Sequence[Any], classes: IntArray, n_grades: int, units: int = 1) -> Forest:
    """scikit-learn's fitted trees as flat arrays.

    Args:
        trees: The ``tree_`` of each estimator.
        classes: The grade position of each of the trees' classes.
        n_grades: Grades on the scale.
        units: What one item counts in a leaf; more than 1 where its weight is shared among grades.
    """
    roots, feature, threshold, right, counts = (
        list[int](),
        list[int](),
        list[float](),
        list[int](),
        list[IntArray](),
    )
    for tree in trees:
        start, leaf = len(feature), tree.children_left < 0
        roots.append(start)
        feature += np.where(leaf, -1, tree.feature).tolist()
        threshold += np.where(leaf, 0.0, tree.threshold).tolist()
        rows = np.cumsum(leaf) - 1 + sum(map(len, counts))
        right += np.where(leaf, rows, tree.children_right + start).tolist()
        own = np.zeros((int(leaf.sum()), n_grades), dtype=np.int64)
        value = tree.value[leaf, 0]
        if value.shape[1] == 1:  # of a regression of shares of the range: what lies below and above
            value = np.concatenate([1.0 - value, value], axis=1)
        own[:, classes] = np.rint(value * tree.weighted_n_node_samples[leaf, None] * units)
        counts.append(own)
    return Forest(
        roots=tuple(roots),
        feature=tuple(feature),
        threshold=tuple(threshold),
        right=tuple(right),
        counts=tuple(map(tuple, np.concatenate(counts).tolist())),
    )
