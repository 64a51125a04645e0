"""Estimates the true rate behind a judge's rate from how often it accepts and rejects what experts do.

    rate = (raw + specificity - 1) / (sensitivity + specificity - 1)

It holds when the judge's two error rates are the same among the labelled items as among all; the labelled need not be
a random sample of all items, but within what experts accept, and within what they reject, they have to be.
Source: Rogan and Gladen (1978), American Journal of Epidemiology 107(1); the interval inverts the linear form
raw + specificity - 1 - rate * (sensitivity + specificity - 1) as Fieller (1954) does, clustered by query.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray
from judgec.stats.correction.ppi import cluster_sums, unseen_variance, within_unit

BoolArray = NDArray[np.bool_]
METHOD = "Rogan-Gladen, Fieller interval, clustered by query"
MIN_OF_EACH = 5  # labelled items that experts accept, and that they reject


@dataclass(frozen=True, slots=True)
class RoganGladen:
    """A corrected rate.

    Args:
        estimate: The rate; without a value where it is refused, and ``note`` says why.
        sensitivity: Share of what experts accept that the judge accepts; NaN without such labels.
        specificity: Share of what experts reject that the judge rejects; NaN likewise.
    """

    estimate: Estimate
    sensitivity: float
    specificity: float


def rogan_gladen(judge: FloatArray, expert: FloatArray, cluster: IntArray, *, level: float = 0.95) -> RoganGladen:
    """The experts' accept rate over all items.

    Refused (no value, the reason in ``note``): fewer than five labels of either kind; a judge that is not shown to
    tell the two apart; a raw rate that no true rate between 0 and 1 could give with these error rates.

    Args:
        judge: 1 accept, 0 reject, of every item, shape (n_items,).
        expert: The same by the experts, NaN where unlabelled.
        cluster: Code of each item's query.
        level: Coverage of the interval.

    Raises:
        ValueError: When shapes differ or a value is not 0 or 1.
    """
    known = ~np.isnan(expert)
    if not judge.shape == expert.shape == cluster.shape or not np.isin(np.r_[judge, expert[known]], (0, 1)).all():
        raise ValueError("rogan_gladen: three equal shapes (n_items,) with values 0 and 1 are needed.")
    accepts, rejects = known & (expert == 1), known & (expert == 0)
    n, clusters = int(known.sum()), len(np.unique(cluster[known]))
    sensitivity = float(judge[accepts].mean()) if accepts.any() else float("nan")
    specificity = float(1 - judge[rejects].mean()) if rejects.any() else float("nan")

    def refused(why: str) -> RoganGladen:
        nothing = Estimate(value=None, note=why, n=n, n_clusters=clusters, level=level, method=METHOD)
        return RoganGladen(nothing, sensitivity, specificity)

    few = min(int(accepts.sum()), int(rejects.sum()))
    if few < MIN_OF_EACH or clusters < 2:
        return refused(
            f"the labels hold {int(accepts.sum())} accepted and {int(rejects.sum())} rejected items of {clusters} "
            f"queries; {MIN_OF_EACH} of each are needed"
        )
    raw = float(judge.mean())
    limits = _limits(judge, accepts, rejects, cluster, (sensitivity, specificity), clusters, level)
    if limits is None:
        return refused(
            f"on these labels the judge accepts {100 * sensitivity:.0f} % of what experts accept and "
            f"{100 * (1 - specificity):.0f} % of what they reject; it is not shown to tell them apart"
        )
    low, high = limits
    if high < 0 or low > 1:
        return refused(
            f"the judge accepts {100 * raw:.1f} % of all items; with its error rates on the labels only "
            f"{100 * (1 - specificity):.1f} % to {100 * sensitivity:.1f} % can come about, "
            "so the labels are not like these items"
        )
    rate = (raw + specificity - 1) / (sensitivity + specificity - 1)
    found = Estimate(value=rate, low=low, high=high, n=n, n_clusters=clusters, level=level, method=METHOD)
    return RoganGladen(within_unit(found), sensitivity, specificity)


def _limits(
    judge: FloatArray,
    accepts: BoolArray,
    rejects: BoolArray,
    cluster: IntArray,
    right: tuple[float, float],
    clusters: int,
    level: float,
) -> tuple[float, float] | None:
    """The rates that the data do not speak against, or None where these are all: g(rate)^2 <= t^2 var(g(rate)).

    g(rate) = raw + specificity - 1 - rate * (sensitivity + specificity - 1), whose variance is quadratic in the rate.
    """
    sensitivity, specificity = right
    raw = float(judge.mean())
    # What each query adds to the errors of the three parts of g.
    of_raw = cluster_sums((judge - raw) / len(judge), cluster)
    of_sensitivity = cluster_sums(np.where(accepts, judge - sensitivity, 0.0) / accepts.sum(), cluster)
    of_specificity = cluster_sums(np.where(rejects, 1 - judge - specificity, 0.0) / rejects.sum(), cluster)
    constant, slope = of_raw + of_specificity, of_sensitivity + of_specificity
    few = clusters / (clusters - 1)
    unseen = [
        unseen_variance(share, len(np.unique(cluster[group])))
        for share, group in ((sensitivity, accepts), (specificity, rejects))
    ]
    squared = float(stats.t.isf((1 - level) / 2, clusters - 1)) ** 2
    a, b = raw + specificity - 1, sensitivity + specificity - 1
    A = b * b - squared * (float(slope @ slope) * few + unseen[0] + unseen[1])
    B = a * b - squared * (float(constant @ slope) * few + unseen[1])
    C = a * a - squared * (float(constant @ constant) * few + unseen[1])
    if A <= 0 or b <= 0:
        return None
    root = float(np.sqrt(max(0.0, B * B - A * C)))
    return (B - root) / A, (B + root) / A
