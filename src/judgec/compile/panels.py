"""Makes a panel of recorded judges, and lets it replace the best of them where it is better out of fold.

Everything is compared on train and dev, each item by calibrators and cut points that were fitted without its query, and
by a single judge that was chosen without it: the best of many on the rows that chose it looks better than it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgec.compile.assemble import Bench, Fitted, bill_of, fitted, learned_part, rated_out_of_fold
from judgec.compile.calibrate_choice import Data, decided_by_cuts, folds_by_query
from judgec.compile.choose import ChosenPanel, ChosenPrompt, PanelSize
from judgec.compile.compared import difference, gain
from judgec.compile.dataset import Part, ratings_of
from judgec.compile.panel_loss import forward_order, loss_out_of_fold, loss_spared
from judgec.compile.recorded import best_single, scored_candidate, worth_of
from judgec.compile.search.candidates import Candidate
from judgec.compile.settings import ALL, AUTO, CompileSettings
from judgec.lm.watch import Watch
from judgec.raters.pool import MEAN, mean_distribution, pool
from judgec.raters.recorded import RECORDED_KIND, RecordedVerdicts
from judgec.raters.tree import Mean
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.judgment import Judgments
from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.report.numbers import objective_name
from judgec.stats.agreement.objective import Objective
from judgec.stats.intervals.paired_gain import PairedGain
from judgec.stats.intervals.resampling import standard_error
from judgec.table.rows.columns import shortly

NEAR = 0.5  # standard errors: of two whose losses are nearer than this the one with fewer calls ships
ONLY = "the only member"

ByMember = Mapping[str, Judgments]
"""Raw verdicts on the items of train and dev, by judge."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the panel that ships.

    Args:
        judge: Its name.
        adds: What the panel loses without it, out of fold on train and dev.
        cost_usd: What its verdicts on train and dev cost; None where nobody knows.
    """

    judge: str
    adds: Estimate
    cost_usd: float | None

    def to_json(self) -> dict[str, object]:
        """A row of the report's ``panel.members``."""
        return {"judge": self.judge, "adds": self.adds.to_json(), "cost_usd": self.cost_usd}


@dataclass(frozen=True)
class _Tried:
    """A judge, what it says out of fold beside the experts, and its loss of each item and aspect."""

    rated: GradePairs
    loss: FloatArray


@dataclass(frozen=True)
class _Table:
    """The data on which panels are compared: all judges' verdicts on train and dev, beside the experts."""

    bench: Bench
    part: Part
    said: ByMember
    objective: Objective

    @property
    def recorded(self) -> RecordedVerdicts:
        """All that was recorded."""
        assert self.bench.recorded is not None  # panels are of recorded judges
        return self.bench.recorded

    @property
    def target(self) -> IntArray:
        """The experts' positions, shape (n_items, n_aspects, n_tied), -1 where unlabelled."""
        return self.bench.target(self.part)

    def mean(self, members: Sequence[str]) -> Mean:
        """The panel of these judges."""
        return Mean(of=tuple(self.bench.leaves[name] for name in members))

    def pooled(self, members: Sequence[str]) -> Judgments:
        """The raw verdicts of a panel of these judges."""
        return pool([self.said[name] for name in members], self.bench.scale)

    def spared(self, one: _Tried, other: _Tried) -> PairedGain:
        """By how much the loss of ``one`` is lower on the items of both."""
        return loss_spared(one.loss, other.loss, self.part.experts.cluster)

    def gain(self, one: GradePairs, other: GradePairs) -> PairedGain:
        """By how much ``one`` is better on the items of both; of none it is 0, and not clear."""
        return gain(one, other, self.objective)


def choose_panel(
    bench: Bench, choice: ChosenPrompt, settings: CompileSettings, objective: Objective, watch: Watch
) -> ChosenPrompt:
    """A panel in place of the best single judge, where it is better.

    Args:
        bench: With the recorded verdicts.
        choice: From ``recorded.choose_recorded``: the best single judge, and all that were compared.
        settings: With ``panel``: all judges, at most how many, or as few as are enough.
        objective: Decides.
        watch: Told what happens.
    """
    table = _table(bench, [one.candidate.name for one in choice.scored], objective)
    incumbent = choice.chosen
    most = settings.combine.panel
    limit = {ALL: "", AUTO: "as few as are enough "}.get(str(most), f"at most {most} ")
    watch.stage("panel", f"{limit}of {plural(len(table.said), 'judge')}, by {objective_name(objective.name)}")
    single = fitted(bench, incumbent, table.part, table.said[incumbent.name])
    fold = folds_by_query(table.part.experts.cluster, bench.seed)
    most = settings.combine.panel if isinstance(settings.combine.panel, int) else None
    members = list(table.said) if most is None else _selected(table, incumbent.name, most)
    if len(members) < 2 or fold is None:
        note = f"no second judge improves {incumbent.name} by one standard error"
        return _alone(choice, single, note)
    nested, curve = _nested(table, choice, fold), tuple[PanelSize, ...]()
    if settings.combine.panel == AUTO:
        members, curve = _enough(table, incumbent.name, nested, fold, settings)
        if len(members) < 2:
            note = f"no panel is better by half a standard error than {incumbent.name} alone"
            return _alone(choice, single, note, curve)
    panel, raw = table.mean(members), table.pooled(members)
    by_fold = [raw] * (int(fold.max()) + 1)
    tried = _Tried(_by_cuts(table, raw), loss_out_of_fold(by_fold, table.target, fold, bench.scale, joint=True))
    candidate = _candidate(panel, incumbent)
    as_it_is = ratings_of(bench.dataset, table.part, raw)  # with the grade that the members state together
    scored = scored_candidate(candidate, table.recorded, raw, as_it_is, objective, settings, tried.rated)
    choice = replace(choice, scored=(*choice.scored, replace(scored, members=panel.members)))
    gain, spared = table.gain(tried.rated, nested.rated), table.spared(tried, nested)
    said = f"{_with_error(gain)} out of fold, and spares a loss of {_with_error(spared)}"
    if not _replaces(gain, spared):
        note = f"panel {candidate.name} gains only {said}, over the best single judge, {incumbent.name}"
        return _alone(choice, single, note, curve)
    judge = fitted(bench, candidate, table.part, raw)
    if any(one.source != "lm" for one in single.calibrators.values()):  # evidence may make others superfluous
        both = ((judge, raw), (single, table.said[incumbent.name]))
        beside = table.gain(*(rated_out_of_fold(bench, one, table.part, own) for one, own in both))
        if not _apart(beside):
            note = (
                f"panel {candidate.name} gains {said}, over the best single judge, {incumbent.name}, but only "
                f"{_with_error(beside)} once both use evidence"
            )
            return _alone(choice, single, note, curve)
    note = f"panel: {candidate.name} in place of {incumbent.name}: {said}; {_spoke(table, panel)}"
    found = ChosenPanel(panel, incumbent, single, curve)
    return replace(choice, chosen=candidate, fitted=judge, panel=found, notes=(*choice.notes, note))


def _enough(
    table: _Table, first: str, single: _Tried, fold: IntArray, settings: CompileSettings
) -> tuple[list[str], tuple[PanelSize, ...]]:
    """The members of the smallest panel that the best size is not clearly ahead of, and the sizes that were compared.

    Args:
        table: All judges.
        first: The best single judge.
        single: The same, nested: a panel of one.
        fold: Of each item. Its members and cut points are those of the other folds.
        settings: Of the intervals.
    """
    rows = np.arange(len(fold))
    order = _order(table, rows)
    orders = [_order(table, rows[fold != number]) for number in range(int(fold.max()) + 1)]
    sizes, ahead = [1], 1
    while sizes[-1] < len(order):
        sizes.append(min(sizes[-1] + ahead, len(order)))
        ahead = sizes[-2]
    rated = {n: single.rated if n == 1 else _sized(table, orders, n, fold) for n in sizes}
    worth = {n: table.objective.value(one) for n, one in rated.items()}
    best = max(sizes, key=lambda n: worth[n])
    below = {n: table.gain(rated[best], rated[n]) for n in sizes}
    chosen = min(n for n in sizes if n == best or not _apart(below[n]))
    ids = [item.item_id for item in table.part.items]
    curve = []
    for n in sizes:
        rater = table.mean(order[:n]) if n > 1 else table.bench.leaves[first]
        calls, asked, cost = bill_of(rater, table.recorded, ids)
        curve.append(
            PanelSize(
                members=n,
                calls_per_item=calls / max(asked, 1),
                usd_per_1000=None if cost is None else 1000 * cost / max(asked, 1),
                worth=worth_of(rated[n], table.objective, settings),
                error=standard_error(table.objective.statistic(rated[n])),
                below_best=below[n],
                chosen=n == chosen,
            )
        )
    return order[:chosen], tuple(curve)


def _order(table: _Table, rows: IntArray) -> list[str]:
    """The judges, each the one that helps those before it most on these rows."""
    names = list(table.said)
    has = np.array([table.said[name].scored[rows] for name in names])
    given = np.array([table.said[name].probabilities[rows] for name in names])
    return [names[i] for i in forward_order(given, has, table.target[rows], table.bench.scale)]


def _sized(table: _Table, orders: Sequence[Sequence[str]], size: int, fold: IntArray) -> GradePairs:
    """The grades of a panel of this size, each fold by the first members of its own order."""
    spread = np.empty((*table.target.shape[:2], len(table.bench.scale.grades)))
    for number, order in enumerate(orders):
        held = np.flatnonzero(fold == number)
        spread[held] = mean_distribution([table.said[name].subset(held.tolist()) for name in order[:size]])
    return _by_cuts(table, pool(list(table.said.values()), table.bench.scale, spread=spread))


def _nested(table: _Table, choice: ChosenPrompt, fold: IntArray) -> _Tried:
    """The best single judge as it is worth: each fold is judged by the one that is best on the other folds."""
    assert choice.uncompiled is not None  # of recorded judges
    bench, part = table.bench, table.part
    calibrated = {one.candidate.name: one.rated for one in choice.scored if one.rated is not None and not one.members}
    raw = {name: ratings_of(bench.dataset, part, table.said[name]) for name in calibrated}
    names, rated = [], None
    for number in range(int(fold.max()) + 1):
        held = np.isin(calibrated[choice.chosen.name].cluster, part.experts.cluster[fold == number])
        as_is, compiled = ({name: one.where(~held) for name, one in of.items()} for of in (raw, calibrated))
        names.append(best_single(as_is, compiled, choice.uncompiled.name, table.objective))
        one = calibrated[names[-1]]
        rated = one if rated is None else rated.with_rows(held, one)
    assert rated is not None  # a fold at least
    said = [table.said[name] for name in names]
    return _Tried(rated, loss_out_of_fold(said, table.target, fold, bench.scale, joint=False))


def _replaces(gain: PairedGain, spared: PairedGain) -> bool:
    """True if a panel ships: it spares loss and is not clearly worse by the objective, or is clearly better by that."""
    as_good = gain.error is not None and gain.value >= -gain.error
    return gain.clear or (as_good and _apart(spared))


def _apart(gain: PairedGain) -> bool:
    """True if a gain is more than half a standard error above 0."""
    return gain.error is not None and gain.value > max(NEAR * gain.error, 0.0)


def _alone(choice: ChosenPrompt, single: Fitted, note: str, curve: tuple[PanelSize, ...] = ()) -> ChosenPrompt:
    """The single judge ships."""
    curve = tuple(replace(one, chosen=one.members == 1) for one in curve)
    panel = ChosenPanel(None, choice.chosen, single, curve)
    return replace(choice, fitted=single, panel=panel, notes=(*choice.notes, f"panel: {note}"))


def _with_error(gain: PairedGain) -> str:
    return f"{gain.value:+.4f} (standard error {'undefined' if gain.error is None else f'{gain.error:.4f}'})"


def members_of(bench: Bench, choice: ChosenPrompt, settings: CompileSettings, objective: Objective) -> list[Member]:
    """The members of the panel that ships, and what each adds.

    Args:
        bench: With the recorded verdicts.
        choice: From ``choose_panel``.
        settings: Of the compile.
        objective: What is added to.
    """
    assert choice.panel is not None  # the caller has looked
    table, panel = _table(bench, list(choice.panel.members), objective), choice.panel.panel
    ids = [item.item_id for item in table.part.items]
    costs = {name: table.recorded.cost_of(name, ids) for name in choice.panel.members}
    if panel is None:
        return [Member(name, Estimate(value=None, note=ONLY), costs[name]) for name in choice.panel.members]
    whole = _worth(table, panel.members)
    members = []
    for name in panel.members:
        others = [one for one in panel.members if one != name]
        alone = Estimate(value=None, note=ONLY)
        adds = difference(whole, _worth(table, others), objective, settings) if others else alone
        members.append(Member(name, adds, costs[name]))
    return members


def _table(bench: Bench, names: Sequence[str], objective: Objective) -> _Table:
    part, recorded = learned_part(bench), bench.recorded
    assert recorded is not None  # panels are of recorded judges
    ids = [item.item_id for item in part.items]
    return _Table(bench, part, {name: recorded.judgments(name, ids) for name in names}, objective)


def _selected(table: _Table, first: str, most: int) -> list[str]:
    """Forward selection from the best single judge, by means of raw verdicts with cut points.

    Where nobody joins alone, the best newcomer and another one may join together: of two who accept or reject neither
    can outvote the other, of three two can.
    """
    members, now = [first], _worth(table, [first])
    most = min(most, len(table.said))
    while len(members) < most:
        joined, rated, gains = _joined(table, members, now)
        if not gains and len(joined) < most:
            joined, rated, gains = _joined(table, joined, now)
        if not gains:
            break
        members, now = joined, rated
    return members


def _joined(table: _Table, members: Sequence[str], now: GradePairs) -> tuple[list[str], GradePairs, bool]:
    """These members and one more: the cheapest within one standard error of the best who gains one, else the best.

    Returns:
        All of them, the grades of their panel, and whether it gains one standard error over ``now``.
    """
    tried = {name: _worth(table, [*members, name]) for name in table.said if name not in members}
    gains = {name: table.gain(rated, now) for name, rated in tried.items()}
    joining = {name: gain.value for name, gain in gains.items() if gain.clear}
    best = max(gains, key=lambda name: (gains[name].clear, gains[name].value))
    if joining:
        near = [name for name in joining if name == best or not table.gain(tried[best], tried[name]).clear]
        cost = _costs(table, near)
        best = min(near, key=lambda name: (cost[name], -joining[name]))
    return [*members, best], tried[best], bool(joining)


def _costs(table: _Table, names: Sequence[str]) -> dict[str, float]:
    """US dollars an item; where one judge's are unknown, calls an item, which is one for each."""
    ids = [item.item_id for item in table.part.items]
    known = {name: table.recorded.cost_of(name, ids) for name in names}
    asked = {name: max(1, int(table.said[name].asked.sum())) for name in names}
    costs = {name: cost / asked[name] for name, cost in known.items() if cost is not None}
    return costs if len(costs) == len(names) else dict.fromkeys(names, 1.0)


def _worth(table: _Table, members: Sequence[str]) -> GradePairs:
    """A panel's grades out of fold."""
    return _by_cuts(table, table.pooled(members))


def _by_cuts(table: _Table, raw: Judgments) -> GradePairs:
    """A panel's grades out of fold by cut points on its expected score alone."""
    bench, part = table.bench, table.part
    grade, accept, target = raw.grade.copy(), raw.accept.copy(), bench.target(part)
    for j in range(len(bench.aspects)):
        known = np.flatnonzero((target[:, j, 0] >= 0) & raw.scored)
        data = Data(
            verdicts=None,
            evidence=None,
            target=target[known, j],
            cluster=part.experts.cluster[known],
            scale=bench.scale,
            accept=part.experts.target_accept[known, j],
            own_accept=bench.own_accept,
        )
        found = None
        if known.size and not bench.scale.interval:
            found = decided_by_cuts(data, raw.probabilities[known, j], table.objective, bench.seed)
        if found is not None:
            grade[known, j], accept[known, j] = found
    return ratings_of(bench.dataset, part, replace(raw, grade=grade, accept=accept))


def _candidate(panel: Mean, incumbent: Candidate) -> Candidate:
    """The panel as a candidate."""
    name = f"{MEAN} of {len(panel.of)}"
    made: dict[str, str | int] = {"kind": RECORDED_KIND, "judge": name, "panel": MEAN}
    return Candidate(name, incumbent.module, settings=made, rater=panel)


def _spoke(table: _Table, panel: Mean) -> str:
    """Sentence on how many members gave a verdict on the items of train and dev."""
    count = np.sum([table.said[name].scored for name in panel.members], axis=0)
    all_of = len(panel.members)
    every, none = int((count == all_of).sum()), int((count == 0).sum())
    heard = count[count > 0]
    fewest = int(heard.min()) if len(heard) else 0
    who = shortly(list(panel.members))
    return (
        f"members {who}; on {every:,} of {len(count):,} items of train and dev all {all_of} gave a verdict, on "
        f"{int((count > 0).sum()) - every:,} some (at least {fewest}), on {none:,} none"
    )
