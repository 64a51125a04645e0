"""Every statistic of a report, for one judge or a panel of graders, with intervals clustered by query."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import t as student

from judgec.records.agreement import Agreement, BlandAltman
from judgec.records.consensus import mean_of, parts_of
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED
from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.registry import KNOWN, OF_SYSTEMS, ReportedStatistic, reported
from judgec.stats.agreement.statistic import Statistic, bland_altman, weighted_sum
from judgec.stats.agreement.system_tau import orders_systems
from judgec.stats.intervals.jackknife import Interval, interval

NO_THRESHOLD = "no accept threshold is known on this scale; name one with --accept-at"
NO_ACCEPTS = "nobody's accept or reject is known"
NOTHING_SCORED = "no row has both an expert's grade and a judgment"
ONE_ROW = "limits of agreement need two rows"
NO_ORDER = "the classes have no order"
NO_CLASSES = "labels on an interval scale are numbers, of which no two need be the same; tau-b and mae compare these"
NOT_BINARY = "the labels are not binary"
ONE_CLASS = "all labels are of one class"


def measure(
    panel: GradePairs | Sequence[GradePairs],
    *,
    nominal: bool = False,
    beside: Sequence[GradePairs] = (),
    no_grades: str = "",
) -> Agreement:
    """Agreement of a judge with the experts; of several graders, the mean over them, weighted by their labelled rows.

    Args:
        panel: One grader's ratings, or several graders' of the same queries (for the experts' ceiling: each
            annotator beside the consensus of the others). A grader of whom a statistic is undefined is left
            out of its mean.
        nominal: The grades are classes without an order: ordinal statistics are undefined, ``exact`` is
            accuracy.
        beside: The panel that this one is compared with, grader by grader: a grader whose counterpart there is
            undefined is left out, too, so that both means are over the same graders with the same weights.
        no_grades: Why the judge's scores are no grades: then what compares grades is undefined for this reason, and
            tau-b is that of the score; empty where they are.
    """
    graders = (panel,) if isinstance(panel, GradePairs) else tuple(panel)
    compared = [r.where(r.labelled & _scored(r)) for r in graders]
    no_threshold = all((r.judge_accept == UNSCORED).all() for r in compared)
    interval = any(r.interval for r in graders)

    def of(name: str) -> Estimate:
        why = _undefined(name, no_grades, interval=interval)
        if why and name != "tau_b":
            return Estimate(value=None, note=why)
        return _estimate("tau_b_score" if why else name, graders, no_threshold, nominal, beside)

    systems = not nominal and any(orders_systems(r) for r in graders)
    estimates = {name: of(name) for name in reported(interval=interval, systems=systems)}
    undefined = NO_ORDER if nominal else no_grades
    return Agreement(
        estimates=estimates,
        bland_altman=BlandAltman(None, None, None, undefined) if undefined else _bland_altman(graders, beside),
        expert_reject_rate=_reject_rate([r.target_accept for r in compared]),
        judge_reject_rate=_reject_rate([r.judge_accept[:, None] for r in compared]),
        n=sum(len(r.judge) for r in compared),
        n_clusters=len({int(code) for r in compared for code in r.cluster}),
        unscored=sum(int(r.labelled.sum()) for r in graders) - sum(len(r.judge) for r in compared),
    )


def _undefined(name: str, no_grades: str, *, interval: bool) -> str:
    """The reason why a statistic is not defined for a score, or for labels that are numbers; empty where it is."""
    statistic = KNOWN[name]
    if no_grades and (statistic.compares != "score" or statistic.numbers):
        return no_grades
    return NO_CLASSES if interval and statistic.compares == "grades" else ""


def with_aspects(
    whole: Agreement,
    parts: Mapping[str, GradePairs | Sequence[GradePairs]],
    *,
    nominal: bool = False,
    beside: Mapping[str, Sequence[GradePairs]] | None = None,
    no_grades: str = "",
) -> Agreement:
    """The agreement over all aspects with each aspect's own beside it; one aspect has none."""
    if len(parts) < 2:
        return whole
    others = beside or {}
    aspects = {
        name: measure(part, nominal=nominal, beside=others.get(name, ()), no_grades=no_grades)
        for name, part in parts.items()
    }
    return replace(whole, aspects=aspects)


def statistic_of(name: str, ratings: GradePairs) -> Statistic:
    """The statistic ``name`` of ``KNOWN`` on rows that are all labelled and scored; of numbers tau-b is the score's."""
    return KNOWN["tau_b_score" if name == "tau_b" and ratings.interval else name].make(ratings)


def panel_statistic(name: str, panel: Sequence[GradePairs], beside: Sequence[GradePairs] = ()) -> Statistic | None:
    """The mean of a statistic over graders, weighted by their labelled rows; None without a row to compare.

    The weight of a grader is the number of rows that an expert labelled, so that a judge that leaves some of them
    unscored is weighed as the annotator beside it. A grader of whom the statistic is undefined is left out.

    Args:
        name: Of ``KNOWN``.
        panel: Ratings of the same queries.
        beside: The panel that this one is compared with, or none: see ``measure``.
    """
    parts = [_weighed(name, r) for r in panel]
    if beside:
        others = [_weighed(name, r) for r in beside]
        both = [part for part, other in zip(parts, others, strict=True) if _is_defined(part) and _is_defined(other)]
        parts = both or parts
    known = [part for part in parts if part is not None]
    defined = [part for part in known if _is_defined(part)] or known[:1]
    if len(defined) < 2:
        return defined[0][1] if defined else None
    total = sum(weight for weight, _ in defined)
    return weighted_sum([(weight / total, part) for weight, part in defined])


def _weighed(name: str, ratings: GradePairs) -> tuple[float, Statistic] | None:
    """The statistic of one grader with its weight; None without a row to compare."""
    compared = compared_rows(name, ratings)
    if not len(compared.judge):
        return None
    labels = ratings.voted if KNOWN[name].compares == "accepts" else ratings.graded
    return float(labels.sum()), statistic_of(name, compared)


def _is_defined(part: tuple[float, Statistic] | None) -> bool:
    return part is not None and not np.isnan(part[1].point())


def compared_rows(name: str, ratings: GradePairs) -> GradePairs:
    """The rows that the statistic ``name`` compares: labelled and scored; one of systems leaves out whole queries."""
    if name in OF_SYSTEMS:
        return ratings.where(ratings.graded)
    if KNOWN[name].compares == "accepts":
        return ratings.where(ratings.voted & (ratings.judge_accept != UNSCORED))
    return ratings.where(ratings.graded & (ratings.judge != UNSCORED))


def why_no_area(panel: Sequence[GradePairs]) -> str:
    """The reason why a panel has no area under the ROC curve, or empty: it needs two grades, and both in use."""
    if any(r.n_grades != 2 for r in panel):
        return NOT_BINARY
    return "" if any(len(np.unique(r.target[r.target >= 0])) == 2 for r in panel) else ONE_CLASS


def _scored(ratings: GradePairs) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray((ratings.judge != UNSCORED) | (ratings.judge_accept != UNSCORED))


def _estimate(
    name: str, graders: Sequence[GradePairs], no_threshold: bool, nominal: bool, beside: Sequence[GradePairs]
) -> Estimate:
    statistic = KNOWN[name]
    panel = [compared_rows(name, r) for r in graders]
    n = sum(len(r.judge) for r in panel)
    note = ""
    if nominal and statistic.ordinal:
        note = NO_ORDER
    elif n == 0 and statistic.compares == "accepts":
        note = NO_ACCEPTS if not no_threshold else NO_ORDER if nominal else NO_THRESHOLD
    elif n == 0:
        note = NOTHING_SCORED
    elif statistic.binary:
        note = why_no_area(panel)
    if note:
        return Estimate(value=None, note=note)
    whole = panel_statistic(name, graders, beside)
    assert whole is not None  # n > 0
    found = interval(whole)
    return replace(found, p=_p(statistic, panel, found)).estimate(n)


def _p(statistic: ReportedStatistic, panel: Sequence[GradePairs], found: Interval) -> float | None:
    """Two-sided p-value of "no association".

    The classical test where every row is a query of its own, and no two grades share one; else Student's t with the
    clustered standard error, since rows of one query are not independent.
    """
    if found.value is None or statistic.p_value is None:
        return None
    if len(panel) == 1 and not panel[0].shared and len(np.unique(panel[0].cluster)) == len(panel[0].judge):
        judge = panel[0].score if statistic.compares == "score" else panel[0].judge.astype(np.float64)
        p = statistic.p_value(panel[0].target[:, 0].astype(np.float64), judge)
        return None if np.isnan(p) else p
    if not found.se:
        return None
    return float(2 * student.sf(abs(found.value) / found.se, found.n_clusters - 1))


def _bland_altman(graders: Sequence[GradePairs], beside: Sequence[GradePairs]) -> BlandAltman:
    limits, weights = [], []
    for number, grader in enumerate(graders):
        r = compared_rows("exact", grader)
        if not len(r.judge) or (beside and not len(compared_rows("exact", beside[number]).judge)):
            continue
        values, (row, expert, weight) = np.array(r.values), parts_of(r.target)
        people, judge = (r.given, r.score) if r.interval else (values[expert], values[r.judge[row]])
        three = bland_altman(people, judge, r.cluster[row], n_clusters=r.n_clusters, weight=weight)
        bias = three[0].point() if r.people is None or r.interval else _bias(r, values)
        limits.append([bias, *(part.point() for part in three[1:])])
        weights.append(float(grader.graded.sum()))
    if not limits:
        return BlandAltman(None, None, None, NOTHING_SCORED)
    means = np.average(np.array(limits), axis=0, weights=weights)
    apart, low, high = (None if np.isnan(x) else float(x) for x in means)
    return BlandAltman(apart, low, high, ONE_ROW if low is None else "")


def _bias(ratings: GradePairs, values: FloatArray) -> float:
    """Mean of the judge's grade minus the mean of what people gave."""
    return float((values[ratings.judge] - ratings.given).mean())


def _reject_rate(accepts: Sequence[IntArray]) -> float | None:
    rates = [mean_of(one == 0, one) for one in accepts]
    known = np.concatenate(rates) if rates else np.empty(0)
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else None
