"""Pools several candidates: the mean of a few of them, in place of the best one where it is clearly better.

Members come by forward selection inside each fold, and what a number of them is worth is measured on the fold that did
not choose them: the best of many on the rows that chose it looks better than it is.

Source: Caruana et al. (2004), ICML, for forward selection.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgec.compile.assemble import Bench, Fitted, fitted, rated_out_of_fold
from judgec.compile.calibrate_choice import folds_by_query
from judgec.compile.rated import Rated, RecordedCost, best_of, bill_of
from judgec.compile.search.candidates import Candidate
from judgec.compile.settings import PoolLimit
from judgec.compile.winner import difference, gain, worth
from judgec.lm.watch import Watch
from judgec.raters.pool import MEAN, mean_distribution, pool
from judgec.raters.recorded import RECORDED_KIND
from judgec.raters.tree import Mean
from judgec.records.consensus import mean_of
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.judgment import Judgments
from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.records.scale import Scale
from judgec.report.numbers import objective_name
from judgec.stats.intervals.paired_gain import PairedGain
from judgec.stats.intervals.resampling import standard_error
from judgec.table.rows.columns import shortly

SINGLE = "single"  # the kind of a panel that was not better than the best single judge
ONLY = "the only member"
CONSTANT = 1e-12  # a score that spreads no more predicts nothing


@dataclass(frozen=True, slots=True)
class PanelSize:
    """Cost and agreement of a pool of so many.

    Args:
        members: How many.
        bill: What they cost.
        worth: The objective out of fold on train and dev; members and calibrators are those of the other folds.
        error: Its standard error, clustered by query; None where it is undefined.
        below_best: How much more the best size is worth, on the items of both.
        chosen: It ships.
    """

    members: int
    bill: RecordedCost
    worth: Estimate
    error: float | None
    below_best: PairedGain
    chosen: bool = False

    def to_json(self) -> dict[str, object]:
        """A row of the report's ``panel.curve``."""
        below = {"value": self.below_best.value, "standard_error": self.below_best.error}
        return {
            "members": self.members,
            "calls_per_item": self.bill.calls_per_item,
            "usd_per_1000": self.bill.usd_per_1000,
            "objective": self.worth.to_json() | {"standard_error": self.error},
            "below_best": below,
            "chosen": self.chosen,
            "n": self.worth.n,
        }


@dataclass(frozen=True, slots=True)
class PoolFound:
    """What came of looking for a pool.

    Args:
        single: The best single candidate, calibrated, with evidence.
        members: Of the pool; that one alone where the pool is not clearly better.
        curve: The sizes that were compared.
        note: Why.
        rated: The pool among the candidates; None where there was none to compare.
        judge: It, calibrated; None where the single one ships.
    """

    single: Fitted
    members: tuple[str, ...]
    curve: tuple[PanelSize, ...]
    note: str
    rated: Rated | None = None
    judge: Fitted | None = None

    @property
    def kind(self) -> str:
        """``mean`` or ``single``."""
        return SINGLE if self.judge is None else MEAN

    def adds(self, bench: Bench, rated: Mapping[str, Rated]) -> dict[str, Estimate]:
        """What the pool loses without each member, out of fold on train and dev.

        Args:
            bench: What it was made from.
            rated: The candidates.
        """
        if self.judge is None:
            return {name: Estimate(value=None, note=ONLY) for name in self.members}

        def of(names: Sequence[str]) -> GradePairs:
            if len(names) == 1:
                return _graded(rated[names[0]], bench)
            raw = pool([rated[name].raw for name in names], bench.scale)
            return _graded(Rated.of(bench, _candidate(bench, names), raw), bench)

        whole = of(self.members)
        others = {name: [one for one in self.members if one != name] for name in self.members}
        return {name: difference(whole, of(rest), bench.objective) for name, rest in others.items()}


def best_pool(
    bench: Bench, rated: Mapping[str, Rated], best: str, beside: str, limit: PoolLimit, watch: Watch
) -> PoolFound:
    """The mean of several candidates, where it is clearly better than the best of them.

    Args:
        bench: What they are made from.
        rated: The candidates, each calibrated.
        best: The best single one.
        beside: Whom all were compared with.
        limit: How many.
        watch: Told what happens.
    """
    objective, part = bench.objective, bench.learned
    few = "as few as are enough " if limit.few else "" if limit.most is None else f"at most {limit.most} "
    watch.stage("panel", f"{few}of {plural(len(rated), 'judge')}, by {objective_name(objective.name)}")
    single = rated[best].judge or fitted(bench, rated[best].candidate, part, rated[best].raw)
    fold = folds_by_query(part.experts.cluster, bench.seed)
    said = {name: rated[name].raw for name in sorted(rated)}
    if len(said) < 2 or fold is None:
        return PoolFound(single, (best,), (), f"panel: no second judge beside {best}")
    rows = np.arange(len(fold))
    order = _order(bench, said, rows)
    by_fold = [_order(bench, said, rows[fold != number]) for number in range(int(fold.max()) + 1)]
    sizes = _sizes(min(len(order), limit.most or len(order)))
    found = {n: _sized(bench, said, by_fold, n, fold) for n in sizes[1:]} | {1: _nested(bench, rated, beside, fold)}
    below = {
        n: gain(found[max(sizes, key=lambda n: (objective.value(found[n]), -n))], found[n], objective) for n in sizes
    }
    largest = min(sizes, key=lambda n: (below[n].value, n))
    chosen = min(n for n in sizes if n == largest or (limit.few and not below[n].clear))
    curve, members = [], tuple(order[:chosen])
    for n in sizes:
        bill = bill_of(bench, bench.rater(rated[best].candidate) if n == 1 else _mean(bench, order[:n]))
        error = standard_error(objective.statistic(found[n]))
        curve.append(PanelSize(n, bill, worth(found[n], objective), error, below[n], chosen=n == chosen))
    tried, note = None, f"no panel is clearly better than {best} alone"
    if chosen > 1:
        candidate, raw = _candidate(bench, members), pool([said[name] for name in members], bench.scale)
        tried = replace(Rated.of(bench, candidate, raw), graded=found[chosen])
        gained = gain(found[chosen], found[1], objective)
        by = "undefined" if gained.error is None else f"{gained.error:.4f}"
        shown = f"{gained.value:+.4f} (standard error {by}) out of fold"
        if gained.clear:
            judge = fitted(bench, candidate, part, raw)
            if bench.evidence is None or _better_with_evidence((judge, raw), (single, said[best]), bench):
                note = f"panel: {candidate.name} in place of {best}: {shown}; {_spoke(said, members)}"
                return PoolFound(single, members, tuple(curve), note, tried, judge)
            shown += ", and nothing once both use evidence"
        note = f"{candidate.name} gains only {shown}, over the best single judge, {best}"
    curve = [replace(one, chosen=one.members == 1) for one in curve]
    return PoolFound(single, (best,), tuple(curve), f"panel: {note}", tried)


def _better_with_evidence(one: tuple[Fitted, Judgments], other: tuple[Fitted, Judgments], bench: Bench) -> bool:
    """True if the first of two judges is better with the evidence beside both, which may make others superfluous."""
    first, second = (rated_out_of_fold(bench, judge, bench.learned, raw) for judge, raw in (one, other))
    return gain(first, second, bench.objective).value > 0


def _sizes(most: int) -> list[int]:
    """1, 2, 3, 5, 8, ... up to the most that there may be."""
    sizes, ahead = [1], 1
    while sizes[-1] < most:
        sizes.append(min(sizes[-1] + ahead, most))
        ahead = sizes[-2]
    return sizes


def _sized(
    bench: Bench, said: Mapping[str, Judgments], orders: Sequence[Sequence[str]], size: int, fold: IntArray
) -> GradePairs:
    """The grades of a pool of this size, each fold by the first members of its own order."""
    spread = np.empty((len(fold), len(bench.aspects), len(bench.scale.grades)))
    for number, order in enumerate(orders):
        held = np.flatnonzero(fold == number)
        spread[held] = mean_distribution([said[name].subset(held.tolist()) for name in order[:size]])
    raw = pool(list(said.values()), bench.scale, spread=spread)
    return _graded(Rated.of(bench, _candidate(bench, orders[0][:size]), raw), bench)


def _graded(one: Rated, bench: Bench) -> GradePairs:
    """The grades of a candidate out of fold, calibrated."""
    found = one.graded or one.calibrated(bench).graded
    assert found is not None  # just calibrated
    return found


def _nested(bench: Bench, rated: Mapping[str, Rated], beside: str, fold: IntArray) -> GradePairs:
    """The best single candidate as it is worth: each fold is judged by the one that is best on the other folds."""
    graded = {name: one.graded for name, one in rated.items() if one.graded is not None}
    raw = {name: rated[name].ratings for name in graded}
    found = None
    for number in range(int(fold.max()) + 1):
        held = np.isin(graded[beside].cluster, bench.learned.experts.cluster[fold == number])
        as_is, calibrated = ({name: one.where(~held) for name, one in of.items()} for of in (raw, graded))
        one = graded[best_of(as_is, calibrated, beside, bench.objective)]
        found = one if found is None else found.with_rows(held, one)
    assert found is not None  # a fold at least
    return found


def _mean(bench: Bench, members: Sequence[str]) -> Mean:
    return Mean(of=tuple(bench.leaves[name] for name in members))


def _candidate(bench: Bench, members: Sequence[str]) -> Candidate:
    """A pool as a candidate."""
    name = f"{MEAN} of {len(members)}"
    made: dict[str, str | int] = {"kind": RECORDED_KIND, "judge": name, "panel": MEAN}
    return Candidate(name, bench.module, settings=made, rater=_mean(bench, members))


def _spoke(said: Mapping[str, Judgments], members: Sequence[str]) -> str:
    """Sentence on how many members gave a verdict on the items of train and dev."""
    count = np.sum([said[name].scored for name in members], axis=0)
    every, none = int((count == len(members)).sum()), int((count == 0).sum())
    some = len(count) - every - none
    return (
        f"members {shortly(list(members))}; on {every:,} of {len(count):,} items of train and dev all {len(members)} "
        f"gave a verdict, on {some:,} some, on {none:,} none"
    )


def _order(bench: Bench, said: Mapping[str, Judgments], rows: IntArray) -> list[str]:
    """The candidates, each the one that helps those before it most on these rows."""
    names = list(said)
    has = np.array([said[name].scored[rows] for name in names])
    given = np.array([said[name].probabilities[rows] for name in names])
    return [names[i] for i in forward_order(given, has, bench.target(bench.learned)[rows], bench.scale)]


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
