"""The paired difference of two judges on the same items."""

import numpy as np

from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED
from judgec.records.ratings import GradePairs, on_both
from judgec.stats.agreement.measure import NO_ACCEPTS, NO_CLASSES, NO_ORDER, NOTHING_SCORED, statistic_of, why_no_area
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.registry import KNOWN, reported
from judgec.stats.agreement.statistic import Statistic, zero_where_undefined
from judgec.stats.agreement.system_tau import orders_systems
from judgec.stats.intervals.jackknife import difference_interval


def differences(a: GradePairs, b: GradePairs, *, nominal: bool = False, level: float = 0.95) -> dict[str, Estimate]:
    """``a - b`` for every statistic, each with interval and p, paired by query.

    A row that one judge left unscored counts against it in grades and accepts, as in every objective; the
    statistics of the score are those of the rows that both scored. An undefined statistic (a constant judge)
    counts as 0.

    Args:
        a: One judge's ratings.
        b: The other's, of the same rows; those that one of them was never asked about are left out.
        nominal: The grades are classes: ordinal statistics are undefined.
        level: Coverage of the intervals.
    """
    a, b = on_both(a, b)
    names = reported(interval=a.interval, systems=orders_systems(a) and not nominal)
    return {name: _difference(name, a, b, nominal, level) for name in names}


def _difference(name: str, a: GradePairs, b: GradePairs, nominal: bool, level: float) -> Estimate:
    statistic = KNOWN[name]
    if nominal and statistic.ordinal:
        return Estimate(value=None, note=NO_ORDER)
    if a.interval and statistic.compares == "grades" and name != "tau_b":
        return Estimate(value=None, note=NO_CLASSES)
    accepts = statistic.compares == "accepts"
    if statistic.objective:
        known = a.voted if accepts else a.graded
        if accepts and ((a.judge_accept == UNSCORED).all() or (b.judge_accept == UNSCORED).all()):
            known = np.zeros_like(known)
    else:
        known = a.graded & (a.judge != UNSCORED) & (b.judge != UNSCORED)
    one, other = a.where(known), b.where(known)
    if not len(one.judge):
        note = NO_ACCEPTS if accepts else NOTHING_SCORED
        return Estimate(value=None, note=note)
    if statistic.binary and (note := why_no_area([one])):
        return Estimate(value=None, note=note)
    return difference_interval(_statistic(name, one), _statistic(name, other), level=level).estimate(len(one.judge))


def _statistic(name: str, ratings: GradePairs) -> Statistic:
    if objective := KNOWN[name].objective:
        return parse_objective(objective).statistic(ratings)
    return zero_where_undefined(statistic_of(name, ratings))
