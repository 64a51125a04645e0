"""Fit the calibrator: LM alone, evidence alone and both compete under cross-validation grouped by query."""

from collections.abc import Iterator, Sequence
from typing import Any  # scikit-learn has no types

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from judgec.compiler.calibrate_choice import Data, Key, choose
from judgec.judges.calibrator import (
    Calibrator,
    Family,
    Linear,
    Source,
    Steps,
    above_cuts,
    join_columns,
    standardize,
)
from judgec.judges.forest import Forest
from judgec.judges.judge import acceptability
from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import Scale

TREES = 128  # in the calibrator that ships; 300 measure the same and apply more slowly
TREES_IN_FOLDS = 64  # while choosing: half the time, the same order of families
LEAF = 3  # fewest training items in a leaf
EVIDENCE_C = 0.01  # inverse penalty: about 100 correlated columns want a strong one
VERDICT_C = 1.0  # one to four columns need hardly any
VERDICT_RELIEF = 3.0  # squared: how much less a verdict column's coefficient is penalized than evidence's
CONSTANT = 1e-12  # spread below which a column is taken to be constant
PSEUDO_LABELS = 0.5  # added to each grade (Krichevsky-Trofimov): one without examples keeps some mass
GRID = np.linspace(0.02, 0.98, 97)  # accept thresholds tried
SOFTNESS = 0.05  # width of the smoothed step in probability
VERSIONS = {"scikit-learn": sklearn.__version__, "numpy": np.__version__}
PULL = 5.0  # queries' worth of weight that keep the threshold near one half


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
    lm_incumbent: bool = True,
) -> Calibrator:
    """Choose by cross-validation and fit the map from verdicts and evidence to the experts' grades.

    Args:
        verdicts: The LM's probabilities of the grades, shape (n, n_grades), NaN rows where unscored; None without an
            LM.
        evidence: Features, shape (n, n_features); None without evidence.
        target: The experts' grade positions, shape (n,); -1 where unlabelled.
        cluster: The query of each row, shape (n,).
        scale: The grades.
        accept: The experts' accept, 1 / 0, -1 where unknown, shape (n,): with it the accept threshold is fitted too, on
            the out-of-fold predictions, which no row has seen its own label in.
        names: Names of the evidence columns.
        seed: Of folds and trees; equal input and seed give an equal calibrator.
        evidence_digest: Digest of the evidence model, kept with the calibrator.
        lm_incumbent: Whether evidence has to beat the LM alone clearly to replace it or to join it; false where the
            embedded evidence engine gave the verdicts.

    Returns:
        The calibrator with its cross-validation table. Fewer than two queries or a single grade give the smoothed
        shares of the grades (``prior``), or the LM's own distribution (``none``) where there is an LM.

    Raises:
        ValueError: When there is neither verdict nor evidence, no labelled row to use, or not one name a feature.
    """
    everything = Data(verdicts, evidence, target, cluster, len(scale.grades), scale.level == "nominal")
    usable = _usable(everything, names)
    data = everything.rows(usable)

    def fit(part: Data, source: Source) -> Iterator[tuple[Key, Calibrator]]:
        return _fit_source(part, source, seed, TREES_IN_FOLDS, _families(source, data))

    # The matrices are small: a second BLAS thread costs ten times what it saves, more on a busy machine.
    with threadpool_limits(limits=1, user_api="blas"):
        table, chosen, predicted = choose(data, fit, seed, lm_incumbent=lm_incumbent)
        # Evidence needs no verdict: rows that the LM left unscored teach it too.
        final = everything.rows(target >= 0) if chosen[0] == "evidence" else data
        fitted = dict(_fit_source(final, chosen[0], seed, TREES, (chosen[1],)))[chosen]
    known: dict[str, object] = {"n_labels": len(final.target), "choices": table, "versions": VERSIONS}
    if chosen[0] != "lm":
        known |= {"feature_names": tuple(names), "evidence_digest": evidence_digest}
    if accept is not None and predicted is not None and (accept[usable] >= 0).any():
        chances = acceptability(predicted, scale)
        known["accept_threshold"] = fit_accept_threshold(chances, accept[usable], cluster[usable])
    return fitted.model_copy(update=known)


def _usable(data: Data, names: Sequence[str]) -> NDArray[np.bool_]:
    """The rows that are labelled and scored."""
    if data.verdicts is None and data.evidence is None:
        raise ValueError("fit_calibrator: neither verdicts nor evidence; give at least one.")
    if data.evidence is not None and len(names) != data.evidence.shape[1]:
        raise ValueError(f"fit_calibrator: {len(names)} names for {data.evidence.shape[1]} features; give one each.")
    usable = data.target >= 0
    if data.verdicts is not None:
        usable &= ~np.isnan(data.verdicts).any(axis=1)
    if not usable.any():
        raise ValueError(f"fit_calibrator: {len(usable)} rows, none labelled and scored; give at least one.")
    return np.asarray(usable)


def fit_accept_threshold(p_accept: FloatArray, accept: IntArray, cluster: IntArray) -> float:
    """The P(accept) from which to accept: the smoothed fewest disagreements, pulled towards one half.

    The step is softened over ``SOFTNESS`` and one half counts for ``PULL`` queries, so that 60 items cannot carry the
    threshold to a chance gap between two of them. It moves far only where many queries ask for it, as when the
    experts' own accept labels are stricter than the grades.

    Args:
        p_accept: P(grade >= accept_at), shape (n,); NaN where unscored.
        accept: The experts' accept, 1 / 0, -1 where unknown, shape (n,).
        cluster: The query of each row, shape (n,).

    Returns:
        A threshold within .02 .. .98; .5 when nothing is labelled.
    """
    usable = (accept >= 0) & ~np.isnan(p_accept)
    n_queries = len(np.unique(cluster[usable]))
    if n_queries == 0:
        return 0.5
    margin = (p_accept[usable][None, :] - GRID[:, None]) / SOFTNESS
    said = 0.5 * (1.0 + np.tanh(0.5 * margin))
    disagreement = np.abs(said - accept[usable][None, :]).mean(axis=1)
    cost = disagreement + (PULL / n_queries) * (GRID - 0.5) ** 2
    return float(GRID[int(np.argmin(cost))])


def _families(source: Source, data: Data) -> tuple[Family, ...]:
    """What competes within a source, simplest first: equal losses go to the simpler one."""
    linear: tuple[Family, ...] = ("multinomial",) if data.nominal else ("ordinal", "multinomial")
    if data.n_grades == 2 and not data.nominal:
        linear = ("ordinal",)  # with one cut the two are the same model
    if source == "lm":
        return ("prior", "none", *linear) if data.nominal else ("prior", "none", "isotonic", *linear)
    return (*(("prior",) if data.verdicts is None else ()), *linear, "trees", "mix")


def _fit_source(
    data: Data, source: Source, seed: int, trees: int, families: tuple[Family, ...]
) -> Iterator[tuple[Key, Calibrator]]:
    """Each family fitted; where ``data`` holds a single grade, its shares stand in for every fitted
    family.
    """
    k, n = data.n_grades, len(data.target)
    shares = (np.bincount(data.target, minlength=k) + PSEUDO_LABELS) / (n + k * PSEUDO_LABELS)
    blank = Calibrator(
        source=source,
        family="prior",
        n_grades=k,
        prior=tuple(map(float, shares)),
        smoothing=k * PSEUDO_LABELS / (n + k * PSEUDO_LABELS),
        feature_names=() if source == "lm" or data.evidence is None else ("",) * data.evidence.shape[1],
    )
    columns = join_columns(source, data.verdicts, data.evidence)
    center, spread = columns.mean(axis=0), columns.std(axis=0)
    spread[spread < CONSTANT] = 0.0
    fixed = {"center": tuple(map(float, center)), "spread": tuple(map(float, spread))}
    n_verdict = 0 if source == "evidence" else k - 1
    scaled = standardize(columns, center, spread, n_verdict)
    mixed: Family = "multinomial" if data.nominal else "ordinal"
    one_grade = len(np.unique(data.target)) < 2
    forest = None
    if not one_grade and not {"trees", "mix"}.isdisjoint(families):
        forest = _forest(columns, data, trees, seed)
    for family in families:
        parts: dict[str, object] = {}
        if family != "none" and one_grade:
            yield (source, family), blank
            continue
        if family == "isotonic" and data.verdicts is not None:
            parts = {"steps": _isotonic(data.verdicts, data)}
        if family in {"ordinal", "multinomial", "mix"}:
            ordinal = (mixed if family == "mix" else family) == "ordinal"
            linear = _logistic(scaled, data, source, n_verdict, ordinal=ordinal)
            parts = {"linear": linear, "ordinal": ordinal, **fixed}
        if family in {"trees", "mix"}:
            parts["forest"] = forest
        yield (source, family), blank.model_copy(update={"family": family, **parts})


def _logistic(scaled: FloatArray, data: Data, source: Source, n_verdict: int, *, ordinal: bool) -> Linear:
    """Multinomial logistic regression, or one a cut between grades.

    Source: Frank and Hall (2001), A simple approach to ordinal classification, ECML.
    """
    relief = np.ones(scaled.shape[1])
    if source == "both":
        relief[:n_verdict] = VERDICT_RELIEF
    c = VERDICT_C if source == "lm" else EVIDENCE_C
    if ordinal:
        cuts = range(int(data.target.min()) + 1, int(data.target.max()) + 1)
        targets, classes = [(data.target >= cut).astype(np.int64) for cut in cuts], np.array(cuts)
    else:
        targets, classes = [data.target], np.unique(data.target)
    models = [LogisticRegression(C=c, max_iter=500).fit(scaled * relief, target) for target in targets]
    coefficients = np.vstack([model.coef_ for model in models]) * relief
    intercepts = np.concatenate([model.intercept_ for model in models])
    if len(intercepts) < len(classes):  # of two classes scikit-learn keeps the second one's score only
        coefficients, intercepts = np.vstack([0.0 * coefficients, coefficients]), np.append(0.0, intercepts)
    return Linear(
        coefficients=tuple(tuple(map(float, row)) for row in coefficients),
        intercepts=tuple(map(float, intercepts)),
        classes=tuple(map(int, classes)),
    )


def _isotonic(verdicts: FloatArray, data: Data) -> tuple[Steps, ...]:
    above = above_cuts(verdicts)
    steps = []
    for cut in range(1, data.n_grades):
        model = IsotonicRegression(out_of_bounds="clip").fit(above[:, cut - 1], data.target >= cut)
        steps.append(
            Steps(
                cut=cut,
                x=tuple(map(float, model.X_thresholds_)),
                y=tuple(map(float, model.y_thresholds_)),
            )
        )
    return tuple(steps)


def _forest(columns: FloatArray, data: Data, trees: int, seed: int) -> Forest:
    model = ExtraTreesClassifier(trees, min_samples_leaf=LEAF, random_state=seed).fit(columns, data.target)
    return forest_arrays([tree.tree_ for tree in model.estimators_], np.asarray(model.classes_), data.n_grades)


def forest_arrays(trees: Sequence[Any], classes: IntArray, n_grades: int) -> Forest:
    """scikit-learn's fitted trees as flat arrays.

    Args:
        trees: The ``tree_`` of each estimator.
        classes: The grade position of each of the trees' classes.
        n_grades: Grades on the scale.
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
        own[:, classes] = np.rint(tree.value[leaf, 0] * tree.n_node_samples[leaf, None])
        counts.append(own)
    return Forest(
        roots=tuple(roots),
        feature=tuple(feature),
        threshold=tuple(threshold),
        right=tuple(right),
        counts=tuple(map(tuple, np.concatenate(counts).tolist())),
    )
