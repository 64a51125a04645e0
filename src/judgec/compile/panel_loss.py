"""Out-of-fold losses of panels and single judges: squared error of the expected grade, of classes the log loss."""

from collections.abc import Sequence

import numpy as np

from judgec.compile.calibrate_choice import clustered_mean
from judgec.records.consensus import mean_of
from judgec.records.judgment import Judgments
from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import Scale
from judgec.stats.intervals.paired_gain import PairedGain

SMOOTHING = 0.5  # rows' worth of each class (Krichevsky-Trofimov): no probability is 0
RIDGE = 1.0  # rows' worth of the mean, so that a grade that was stated once predicts little
CONSTANT = 1e-12  # a score that spreads no more predicts nothing


def loss_out_of_fold(
    said: Sequence[Judgments], target: IntArray, fold: IntArray, scale: Scale, *, joint: bool
) -> FloatArray:
    """The loss of each label, by a linear map from verdict to label that was fitted on the other folds.

    Ordered grades are predicted as positions on a scale from 0 to 1, classes as probabilities, smoothed. A single
    judge's map reads its distribution, which for single verdicts is the mean label of each stated grade. A panel's has
    one slope: its verdict is a score already.

    Args:
        said: Whose verdicts are judged in each fold, raw, on the same items.
        target: The experts' positions, shape (n_items, n_aspects, n_tied), -1 where unlabelled.
        fold: Of each item, shape (n_items,).
        scale: The grades.
        joint: The verdicts are a panel's; those on an interval scale have one slope too.

    Returns:
        Shape (n_items, n_aspects); NaN where there is no label or no verdict.
    """
    nominal, ideal = scale.level == "nominal", _ideal(scale)
    loss, everything = np.full(target.shape[:2], np.nan), _wanted(target, ideal)
    joint = joint or scale.interval
    for number, one in enumerate(said):
        columns = one.probabilities @ ideal if joint else one.probabilities
        for j in range(target.shape[1]):
            known = one.scored & (target[:, j, 0] >= 0)
            learned, held = known & (fold != number), known & (fold == number)
            if not learned.any() or not held.any():
                continue
            truth, x = everything[learned, j], columns[learned, j]
            deviation, wanted = x - x.mean(axis=0), truth - truth.mean(axis=0)
            if joint:
                slope = np.eye(ideal.shape[1]) * (deviation * wanted).sum() / max((deviation**2).sum(), CONSTANT)
            else:
                slope = np.linalg.solve(deviation.T @ deviation + RIDGE * np.eye(x.shape[1]), deviation.T @ wanted)
            found = truth.mean(axis=0) + (columns[held, j] - x.mean(axis=0)) @ slope
            if nominal:
                found = np.clip(found, 0.0, None)
                n, k = len(x), len(ideal)
                found = (n * found / found.sum(axis=1, keepdims=True) + SMOOTHING) / (n + k * SMOOTHING)
                loss[held, j] = -(everything[held, j] * np.log(found)).sum(axis=1)
            else:
                own = target[held, j]
                loss[held, j] = mean_of(((found[:, None] - ideal[own]) ** 2).sum(axis=2), own)
    return loss


def forward_order(given: FloatArray, has: np.ndarray, target: IntArray, scale: Scale) -> list[int]:
    """Judges in the order in which each lowers most the squared error of the mean of those before it and itself.

    The mean is mapped to the label by one slope, not negative. An item that nobody spoke of yet is predicted by the
    mean label, so that who speaks of more items comes earlier.

    Args:
        given: Shape (n_judges, n_items, n_aspects, n_grades), NaN where there is no verdict.
        has: Which there are, shape (n_judges, n_items).
        target: The experts' positions, shape (n_items, n_aspects, n_tied), -1 where unlabelled.
        scale: The grades.
    """
    ideal, spoke = _ideal(scale), has[:, :, None, None]
    x = np.where(spoke, given @ ideal, 0.0)
    known = target[:, :, :1] >= 0
    wanted = np.where(known, _wanted(target, ideal), 0.0)
    wanted = np.where(known, wanted - wanted.sum(axis=0) / np.maximum(known.sum(axis=0), 1), 0.0)
    order: list[int] = []
    total, count = np.zeros(x.shape[1:]), np.zeros(spoke.shape[1:])
    while len(order) < len(x):
        heard = known & (count + spoke > 0)
        mean = (total + x) / np.maximum(count + spoke, 1)
        centre = np.where(heard, mean, 0.0).sum(axis=1) / np.maximum(heard.sum(axis=1), 1)
        deviation = np.where(heard, mean - centre[:, None], 0.0)
        together = (deviation * wanted).sum(axis=(1, 3)).clip(min=0.0)
        spared = (together**2 / np.maximum((deviation**2).sum(axis=(1, 3)), CONSTANT)).sum(axis=1)
        spared[order] = -1.0
        order.append(int(spared.argmax()))
        total, count = total + x[order[-1]], count + spoke[order[-1]]
    return order


def _wanted(target: IntArray, ideal: FloatArray) -> FloatArray:
    """What is predicted of each item, of tied grades their mean, shape (n_items, n_aspects, n_columns)."""
    return mean_of(np.moveaxis(ideal[target], -1, -2), target[:, :, None])


def _ideal(scale: Scale) -> FloatArray:
    """Each grade as what is predicted: a position on a scale from 0 to 1, of classes the certainty of each."""
    values = np.array(scale.values)
    ordered = ((values - values[0]) / (values[-1] - values[0]))[:, None]
    return np.eye(len(values)) if scale.level == "nominal" else ordered


def loss_spared(one: FloatArray, other: FloatArray, cluster: IntArray) -> PairedGain:
    """By how much the loss of ``one`` is lower where both are known, clustered by query; none is 0, and not clear."""
    less = other - one
    row, aspect = np.nonzero(~np.isnan(less))
    if len(np.unique(cluster[row])) < 2:
        return PairedGain(0.0, None)
    return PairedGain(*clustered_mean(less[row, aspect], cluster[row]))
