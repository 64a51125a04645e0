"""Confidence intervals of statistics whose items are clustered by query, and of paired differences.

Both are value -+ q * se. The standard error is the delete-one-cluster jackknife's, and q Student's t quantile with
(clusters - 1) degrees of freedom. A statistic with limits is taken to the Fisher-z scale first (atanh of it, stretched
to -1..1), so that the interval stays within them. A statistic that moves in steps has percentiles of resampled clusters
in place of all this, and always its own value between them.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from judgec.records.estimate import Estimate
from judgec.stats.agreement.statistic import Statistic, weighted_sum
from judgec.stats.intervals.resampling import resampled, standard_error

MIN_CLUSTERS = 3  # two leave one degree of freedom: such an interval is the whole scale
MIN_TAIL = 20  # resamples beyond a quantile for it to be read off them
MAX_UNDEFINED = 0.1  # share of resamples without a value above which an interval would be a guess
JACKKNIFE = "jackknife t over clusters"
PERCENTILES = "percentiles of resampled queries"
NO_SPREAD = 1e-12  # a standard error below it is rounding


@dataclass(frozen=True, slots=True)
class Interval:
    """A statistic with its confidence interval.

    Args:
        value: The statistic, or None where it is undefined.
        low: Lower limit, or None where there is no interval (``note`` says why).
        high: Upper limit, or None.
        p: Two-sided p-value of "no difference"; differences only.
        se: Standard error in units of the statistic, or None.
        level: Coverage of the interval.
        n_clusters: Clusters with items.
        method: How the interval was made.
        note: Why something is missing, or empty.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    se: float | None
    level: float
    n_clusters: int
    method: str
    note: str = ""

    def estimate(self, n: int) -> Estimate:
        """The record of reports; ``n`` is the number of items."""
        return Estimate(
            value=self.value,
            low=self.low,
            high=self.high,
            p=self.p,
            note=self.note,
            n=n,
            n_clusters=self.n_clusters,
            level=self.level,
            method=self.method,
        )


def interval(statistic: Statistic, *, level: float = 0.95) -> Interval:
    """Confidence interval of one statistic, clusters being the sampling units.

    There is none, and ``note`` says why, below three clusters with items; when the statistic is undefined
    without one of the clusters; and when no cluster changes the value (a perfect judge): nothing was seen of its
    spread.

    Args:
        statistic: What to estimate.
        level: Coverage.

    Raises:
        ValueError: When the level is no share.

    Source: Efron and Stein (1981), Annals of Statistics 9(3), for the jackknife; Cameron and Miller (2015), Journal of
        Human Resources 50(2), for clusters and Student's t with (clusters - 1) degrees of freedom.
    """
    return _interval(statistic, level, paired=False)


def difference_interval(a: Statistic, b: Statistic, *, level: float = 0.95) -> Interval:
    """Confidence interval and p-value of ``a - b``, paired: both are left without, or drawn with, the same clusters.

    ``p`` is the smallest 1 - level at which the interval excludes 0. When no cluster changes a difference
    other than 0 (a perfect judge against a constant one), the interval is that point and p is that of the
    sign test over clusters, 2 ** (1 - clusters); there is no interval while that exceeds 1 - level.
    Otherwise as ``interval``.

    Args:
        a: Statistic of one judge.
        b: The same of another judge, on the same items and cluster codes.
        level: Coverage.

    Raises:
        ValueError: When the numbers of clusters differ, or the level is no share.
    """
    if a.items.size != b.items.size:
        raise ValueError(f"{a.items.size} and {b.items.size} clusters; paired judges share their clusters.")
    return _interval(weighted_sum([(1.0, a), (-1.0, b)]), level, paired=True)


def detectable_difference(difference: Interval, *, power: float = 0.8) -> float | None:
    """The smallest true difference that this test set would have shown with probability ``power``.

    At the interval's level: half its width plus the Student quantile of the power times the standard error.

    Returns:
        The difference, or None where there is no interval or no spread.
    """
    if difference.low is None or difference.high is None or not difference.se:
        return None
    reach = stats.t.ppf(power, difference.n_clusters - 1) * difference.se
    return float((difference.high - difference.low) / 2 + reach)


def _interval(statistic: Statistic, level: float, *, paired: bool) -> Interval:
    if not 0 < level < 1:
        raise ValueError(f"{level=}; 0 < level < 1 is valid.")
    value = statistic.point()
    present = statistic.items > 0
    n_clusters = int(present.sum())
    none = Interval(value, None, None, None, None, level, n_clusters, "none")
    if np.isnan(value):
        note = statistic.why_undefined or "undefined: one of the two gave one grade only, or there are no items"
        return replace(none, value=None, note=note)
    if n_clusters < MIN_CLUSTERS:
        return replace(none, note=f"no interval: {n_clusters} clusters, at least {MIN_CLUSTERS} are needed")
    if statistic.steps is not None:
        return _by_percentiles(none, statistic, value, paired=paired)
    se = standard_error(statistic)
    if se is None:
        return replace(none, note="no interval: without one of the clusters the value is undefined")
    if se <= NO_SPREAD:
        return _without_spread(none, value, paired=paired)
    middle, slope = _stretch(value, statistic.bounds)
    reach = float(stats.t.isf((1 - level) / 2, n_clusters - 1)) * se * slope
    low, high = (_shrink(end, statistic.bounds) for end in (middle - reach, middle + reach))
    p = float(2 * stats.t.sf(abs(value) / se, n_clusters - 1)) if paired else None
    return replace(none, low=low, high=high, p=p, se=se, method=JACKKNIFE)


def _by_percentiles(none: Interval, statistic: Statistic, value: float, *, paired: bool) -> Interval:
    drawn = resampled(statistic)
    known = drawn[~np.isnan(drawn)]
    if len(known) < (1 - MAX_UNDEFINED) * len(drawn):
        return replace(
            none, note=f"no interval: undefined in {100 * (1 - len(known) / len(drawn)):.0f} % of the resamples"
        )
    se = float(np.std(known, ddof=1))
    if se <= NO_SPREAD:
        return _without_spread(none, value, paired=paired)
    alpha = 1 - none.level
    shown = max(alpha, 2 * MIN_TAIL / (len(known) + 1))
    further = float(stats.t.isf(alpha / 2, none.n_clusters - 1) / stats.t.isf(shown / 2, none.n_clusters - 1))
    low, high = (value + further * (end - value) for end in np.quantile(known, [shown / 2, 1 - shown / 2]).tolist())
    least, most = statistic.bounds or (-np.inf, np.inf)
    return replace(
        none,
        low=max(least, min(low, value)),
        high=min(most, max(high, value)),
        p=min(1.0, 2 * (1 + min(int((known <= 0).sum()), int((known >= 0).sum()))) / (len(known) + 1))
        if paired
        else None,
        se=se,
        method=PERCENTILES,
    )


def _without_spread(none: Interval, value: float, *, paired: bool) -> Interval:
    if not paired:
        return replace(none, se=0.0, note="no interval: leaving any cluster out gives the same value")
    if abs(value) <= NO_SPREAD:
        return replace(none, low=0.0, high=0.0, p=1.0, se=0.0, method="no difference anywhere")
    p = 2.0 ** (1 - none.n_clusters)
    if p > 1 - none.level:
        note = f"no interval: all {none.n_clusters} clusters agree on the difference, too few to be sure of it"
        return replace(none, p=p, se=0.0, note=note)
    return replace(none, low=value, high=value, p=p, se=0.0, method="sign test over clusters")


def _stretch(value: float, bounds: tuple[float, float] | None) -> tuple[float, float]:
    """A value on the Fisher-z scale, and its slope there: infinite, and 0, at the limits."""
    if bounds is None:
        return value, 1.0
    low, high = bounds
    unit = max(-1.0, min(1.0, (2 * value - low - high) / (high - low)))
    if abs(unit) >= 1 - NO_SPREAD:
        return float(np.copysign(np.inf, unit)), 0.0
    return float(np.arctanh(unit)), 2 / (high - low) / (1 - unit**2)


def _shrink(position: float, bounds: tuple[float, float] | None) -> float:
    """Back from the Fisher-z scale."""
    if bounds is None:
        return position
    low, high = bounds
    return float((np.tanh(position) * (high - low) + low + high) / 2)
