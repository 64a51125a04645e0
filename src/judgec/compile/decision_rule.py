"""Fits decision rules: cut points on a score that maximize an objective, and how sure the shipped grade is.

The cut points are the mean over resamples of the queries, each fitted by coordinate ascent over the same grid, from
two starts: one resample alone puts its cuts into whatever gap its own items leave.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from judgec.raters.decision import EVEN, LEAST, Sureness
from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.kappa import squared_distances
from judgec.stats.agreement.objective import OBJECTIVES, CutFit, Objective, cut_fit
from judgec.stats.agreement.tables import NumberArray, ratio

GRID = 50  # thresholds tried on a score with more different values than that
RESAMPLES = 20  # whose cut points are averaged; more change the third digit
SWEEPS = 8  # of coordinate ascent; two or three suffice
GROUPS = 400  # most groups of queries that are resampled
SLOPE_WEIGHT, INTERCEPT_WEIGHT = 2.0, 0.5  # ridge towards the probability as it is, in rows' worth of curvature
LITTLE = 1e-3  # weight of QWK beside accepts
SAME = 1e-9  # a difference of objectives that is no more is none
ZERO = 1e-9  # a denominator, of counts, that is no more is a sum that was rounded


@dataclass(frozen=True, slots=True)
class _CellRatio:
    """A measure of tables whose experts' counts are known: a ratio of two sums over the cells, each with its weights.

    Cut points move items between grades and leave the experts' counts alone; with these fixed QWK, kappa and the
    shares of agreement are all of this form, and what moving one cut changes is a difference of two running sums.

    Args:
        weight: Of the measure in its objective.
        above: Weights of the cells in the numerator, shape (..., k, k).
        below: The same in the denominator.
        plus: What the denominator has beside them, shape (...).
    """

    weight: float
    above: FloatArray
    below: FloatArray
    plus: FloatArray

    def value(self, above: FloatArray, below: FloatArray) -> FloatArray:
        """Its part of the objective; 0 where it is undefined."""
        denominator = below + self.plus.reshape(self.plus.shape + (1,) * (below.ndim - self.plus.ndim))
        return self.weight * ratio(above, np.where(np.abs(denominator) > ZERO, denominator, 0.0), undefined=0.0)


Shares = Callable[[FloatArray], tuple[_CellRatio, ...]]
"""An objective from the experts' counts of each grade (..., k), to be maximized."""


def shares_of(objective: Objective, accept_index: int | None) -> Shares:
    """The objective as a function of contingency tables, for fitting cut points.

    Args:
        objective: What was asked for.
        accept_index: The lowest accepted position where accepts follow from the grades; None leaves terms of accepts
            out, and an objective of nothing else becomes QWK.
    """
    terms = [(w, name) for w, name in objective.terms if not OBJECTIVES[name].of_accepts or accept_index is not None]
    terms = terms or [(1.0, "qwk")]
    return lambda rows: tuple(_share(weight, cut_fit(name), rows, accept_index) for weight, name in terms)


def _share(weight: float, fit: CutFit, rows: FloatArray, accept_index: int | None) -> _CellRatio:
    n, n_grades = rows.sum(-1), rows.shape[-1]
    position, same, nothing = np.arange(float(n_grades)), np.eye(n_grades), np.zeros((*rows.shape, n_grades))
    of_all = ratio(rows, n[..., None], undefined=0.0)
    if fit == "qwk":
        deviation = position - (of_all * position).sum(-1, keepdims=True)
        distance = of_all @ squared_distances(n_grades)  # of a judge's grade
        return _CellRatio(
            weight, 2 * deviation[..., None] * position, nothing + distance[..., None, :], np.zeros(n.shape)
        )
    if fit == "kappa":
        by_chance = nothing + of_all[..., None, :]
        return _CellRatio(weight, same - by_chance, -by_chance, n)
    if fit == "balanced_accuracy":
        used = (rows > 0).sum(-1).astype(np.float64)
        return _CellRatio(
            weight, same * ratio(same[0, :1], rows, 0.0)[..., None], nothing, np.where(used < 2, 0.0, used)
        )
    if fit == "accept":
        accepted = position >= (0 if accept_index is None else accept_index)
        same = (accepted[:, None] == accepted).astype(np.float64)
    return _CellRatio(weight, nothing + same, nothing, n)


def fit_cuts(
    score: FloatArray,
    target: IntArray,
    cluster: IntArray,
    n_grades: int,
    objective: Objective,
    *,
    accept_index: int | None = None,
    seed: int = 0,
    weight: FloatArray | None = None,
) -> tuple[float, ...]:
    """Cut points on ``score`` at which the grade changes, so that the grades agree with the experts'.

    An objective of accepts alone fits the cut between rejected and accepted grades; the others are fitted to QWK, which
    counts so little beside it that it only decides between equals.

    Args:
        score: One number an item, shape (n_items,), rising with the grade.
        target: The experts' positions, same shape, none missing.
        cluster: The query of each item, same shape.
        n_grades: Grades on the scale.
        objective: What the grades are to maximize.
        accept_index: The lowest accepted position where accepts follow from the grades, else None.
        seed: Of the resamples.
        weight: The part of an item that each row stands for, same shape as ``score``; None where each is an item.

    Returns:
        n_grades - 1 cut points that do not fall; a score that never differs gives all items the grade that is best.
    """
    different = np.unique(score)
    if len(different) <= GRID:
        thresholds = (different[1:] + different[:-1]) / 2.0
    else:
        thresholds = np.unique(np.quantile(score, np.linspace(0.01, 0.99, GRID)))
    bins = np.searchsorted(thresholds, score, side="right")
    _, group = np.unique(cluster, return_inverse=True)
    group %= GROUPS
    n_groups = int(group.max()) + 1
    counts = np.zeros((n_groups, n_grades, len(thresholds) + 1))
    np.add.at(counts, (group, target, bins), 1.0 if weight is None else weight)
    weights = np.random.default_rng(seed).multinomial(n_groups, np.full(n_groups, 1.0 / n_groups), size=RESAMPLES)
    tables = np.tensordot(weights.astype(np.float64), counts, 1)
    reached = np.zeros((RESAMPLES, n_grades, len(thresholds) + 2))  # [b, y, i]: items of grade y in bins >= i
    reached[:, :, :-1] = tables[:, :, ::-1].cumsum(axis=2)[:, :, ::-1]
    if accept_index is not None and all(OBJECTIVES[name].of_accepts for _, name in objective.terms):
        objective = Objective((*objective.terms, (LITTLE, "qwk")))
    starts = _starts(reached)  # both climb at once, each in every resample
    shares = shares_of(objective, accept_index)
    found, values = _ascend(np.tile(reached, (len(starts), 1, 1)), np.concatenate(starts), shares)
    reached_by = values.reshape(len(starts), RESAMPLES)
    best = (reached_by >= reached_by.max(axis=0) - SAME).argmax(axis=0)  # the first of those that are equally good
    index = found.reshape(len(starts), RESAMPLES, -1)[best, np.arange(RESAMPLES)]
    low, high = (different[0] - 1.0, different[-1] + 1.0)
    places = np.concatenate([[low], thresholds, [high]])
    return tuple(map(float, np.maximum.accumulate(places[index].mean(axis=0))))


def fit_sureness(probability: FloatArray, right: NumberArray) -> Sureness:
    """A logistic map from the probability of the shipped grade to whether it was right, pulled towards the identity.

    Args:
        probability: Out of fold, of the shipped grade, shape (n_items,).
        right: 1 where the grade was the experts', else 0; between them where it was one of two.

    Source: Platt (1999), Advances in Large Margin Classifiers, with a ridge instead of his target smoothing.
    """
    p = np.clip(probability, LEAST, 1.0 - LEAST)
    x = np.column_stack([np.log(p / (1.0 - p)), np.ones(len(p))])
    start, ridge = np.array([1.0, 0.0]), np.array([SLOPE_WEIGHT, INTERCEPT_WEIGHT])

    def loss(at: FloatArray) -> tuple[float, FloatArray]:
        margin, away = x @ at, at - start
        value = np.logaddexp(0.0, margin).sum() - margin @ right + 0.5 * (ridge * away**2).sum()
        return float(value), x.T @ (expit(margin) - right) + ridge * away

    found = minimize(loss, start, jac=True, bounds=[(0.0, None), (None, None)], options={"ftol": 0.0, "gtol": EVEN})
    slope, intercept = found.x
    return Sureness(slope=float(slope), intercept=float(intercept))


def _starts(reached: FloatArray) -> list[IntArray]:
    """Starting points of the ascent: cuts that give the experts' shares of the grades, and equally spaced ones."""
    n_resamples, n_grades, width = reached.shape
    tail = reached.sum(axis=1)
    tail = tail / np.maximum(tail[:, :1], 1.0)
    rows = reached[:, :, 0]
    wanted = rows[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:] / np.maximum(rows.sum(axis=1, keepdims=True), 1.0)
    shares = np.abs(tail[:, None, :] - wanted[:, :, None]).argmin(axis=2)
    spaced = np.tile(np.rint(np.linspace(0, width - 1, n_grades + 1)[1:-1]).astype(np.int64), (n_resamples, 1))
    return [np.sort(shares, axis=1), spaced]


def _ascend(reached: FloatArray, start: IntArray, shares: Shares) -> tuple[IntArray, FloatArray]:
    """Coordinate ascent in all resamples at once; of equally good places for a cut the middle one.

    Args:
        reached: Items of each grade in bins >= i, shape (n_resamples, n_grades, n_places).
        start: Places of the cuts, shape (n_resamples, n_cuts).
        shares: What is maximized.

    Returns:
        Places, and the value there, shape (n_resamples,).
    """
    n_resamples, n_grades, width = reached.shape
    places, cuts = np.arange(width), start.copy()
    terms = [
        (share, [np.swapaxes(weights, 1, 2) @ reached for weights in (share.above, share.below)])
        for share in shares(reached[:, :, 0])
    ]

    def ends() -> IntArray:
        return np.concatenate([np.zeros((n_resamples, 1), np.int64), cuts, np.full((n_resamples, 1), width - 1)], 1)

    def sums(of: FloatArray) -> FloatArray:
        """Over all cells of the tables of the present cuts, from the sums over the bins from each place on."""
        at = ends()[:, :, None]
        return np.asarray((np.take_along_axis(of, at[:, :-1], 2) - np.take_along_axis(of, at[:, 1:], 2)).sum((1, 2)))

    best = np.sum([share.value(*map(sums, both)) for share, both in terms], axis=0)
    for _ in range(SWEEPS):
        moved = False
        for j in range(n_grades - 1):
            around = ends()
            low, high = around[:, j, None], around[:, j + 2, None]
            total = np.zeros((n_resamples, width))
            for share, both in terms:
                tried = []
                for of in both:
                    moves = of[:, j + 1] - of[:, j]  # of the whole sum, by the place of this cut
                    tried.append((sums(of)[:, None] - np.take_along_axis(moves, cuts[:, j, None], 1)) + moves)
                total += share.value(*tried)
            values = np.where((places >= low) & (places <= high), total, -np.inf)
            top = values.max(axis=1)
            as_good = values >= top[:, None] - 1e-12
            middle = (as_good.cumsum(axis=1) > as_good.sum(axis=1, keepdims=True) // 2).argmax(axis=1)
            better = top > best + SAME
            cuts[better, j] = middle[better]
            best = np.where(better, top, best)
            moved |= bool(better.any())
        if not moved:
            break
    return cuts, best
