"""Decides whether a compiled program becomes the champion: only when the test split shows that it is better.

``gain`` is the same for judges, agents and query generators; ``decide`` is that of judges. Better is on the objective.
A judge that the test split shows to be worse than its rival on kappa or on accept agreement, or below the most frequent
grade on exact or accept agreement, is not promoted whatever the objective says: the most frequent grade has no tau-b,
which counts as 0, so that any tau-b beats it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from judgec.compile.settings import MIN_TEST_QUERIES
from judgec.compile.winner import lead
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED
from judgec.records.ratings import GradePairs, on_both
from judgec.report.numbers import NAMES, number, objective_name, percent, show
from judgec.report.words import RIVALS
from judgec.stats.agreement.difference import differences
from judgec.stats.agreement.objective import Objective, parse_objective
from judgec.stats.agreement.registry import STATISTICS
from judgec.stats.agreement.statistic import Statistic
from judgec.stats.intervals.jackknife import Interval, detectable_difference, difference_interval
from judgec.stats.intervals.significance import level_for_test_use

GUARDS = ("kappa", "accept_agreement")  # what the objective must not be bought with
FLOORS = ("exact", "accept_agreement")  # what the most frequent grade must not do better
CLOSENESS = "mae"  # of numbers, what the median must not do better
WORTH_SHOWING = 0.08  # a difference in agreement that most people would want to see
SAME = 1e-12  # objectives that differ by less are equal


@dataclass(frozen=True, slots=True)
class Gain:
    """The objective of a compiled program minus its rival's, on test.

    Args:
        interval: At the level that this test use may spend: the k-th spends .05 / (k (k + 1)), so that all together
            spend at most .05.
    """

    interval: Interval

    @property
    def better(self) -> bool:
        """True if the program is shown to be better."""
        found = self.interval
        return bool(found.value and found.value > 0 and found.low is not None and found.low >= 0)

    @property
    def few(self) -> bool:
        """True if the test queries are too few to promote anything."""
        return self.interval.n_clusters < MIN_TEST_QUERIES

    @property
    def detectable(self) -> float | None:
        """The smallest difference that these test queries would have shown (80 % power), or None."""
        return detectable_difference(self.interval)

    def could_show(self, units: str) -> str:
        """``; 12 test queries are too few to tell: only a difference above .93 would show``; empty where it is told.

        Where they would show what is worth showing, they are said to be enough.

        Args:
            units: What was tested on.
        """
        high, least = self.interval.high, self.detectable
        if least is None or high is None or high < 0:
            return ""
        tested = f"{self.interval.n_clusters} {units}"
        if least <= WORTH_SHOWING:
            return f"; {tested} are enough: a difference above {number(least)} would show"
        return f"; {tested} are too few to tell: only a difference above {number(least)} would show"


def gain(compiled: Statistic, rival: Statistic, *, test_use: int) -> Gain:
    """Compare a compiled program with its rival.

    Args:
        compiled: Its objective on the test items.
        rival: The rival's on the same queries.
        test_use: How many versions were tested on this split, this one included.
    """
    return Gain(difference_interval(compiled, rival, level=1 - level_for_test_use(test_use)))


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision by the test split.

    Args:
        promoted: Whether the judge becomes the champion.
        reason: Why, or why not, in a sentence for people.
        rival: What it was compared with: ``champion``, or the best of the baselines.
        difference: Of the objective, at the level that this test use may spend.
        detectable: The smallest difference that this test set would have shown (80 % power), or None.
        by_statistic: The paired difference of every statistic at the same level.
        test_use: How many versions were tested on this split, this one included.
        below_majority: On which of ``FLOORS`` it is shown below the most frequent grade: the difference, at 95 %.
        above: The other rows of its own table that stand above it, with their objective and its own.
    """

    promoted: bool
    reason: str
    rival: str
    difference: Estimate
    detectable: float | None
    by_statistic: Mapping[str, Estimate]
    test_use: int
    below_majority: Mapping[str, "Shortfall"] = field(default_factory=dict)
    above: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """The report's ``difference``."""
        by_statistic = {name: one.to_json() for name, one in self.by_statistic.items()}
        ends = {"objective": self.difference.to_json(), "detectable": self.detectable}
        return {"to": self.rival, **by_statistic, **ends}

    def without_gain(self, why: str) -> Self:
        """The same where nothing can be said of the difference: not promoted, and no difference is reported."""
        nothing = Estimate(value=None, note=why)
        return replace(
            self,
            promoted=False,
            reason=why,
            difference=nothing,
            detectable=None,
            by_statistic=dict.fromkeys(self.by_statistic, nothing),
        )


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A statistic on which a judge is shown below another.

    Args:
        value: The judge's, unscored items counting against it.
        other: The other's.
        difference: ``value - other`` with its interval, which lies below 0.
    """

    value: float
    other: float
    difference: Estimate


def decide(
    compiled: GradePairs,
    rivals: Mapping[str, GradePairs],
    objective: Objective,
    *,
    test_use: int,
    majority: GradePairs | None = None,
    table: Mapping[str, GradePairs] | None = None,
    nominal: bool = False,
    refusal: str = "",
) -> Decision:
    """Compare the compiled judge with the best of its rivals.

    Args:
        compiled: Its ratings of the test items.
        rivals: Those of the champion alone, or of the baselines where there is no champion.
        objective: What was maximised.
        test_use: How many versions were tested on this split, this one included; see ``Gain``.
        majority: Those of the most frequent grade: a judge that is not shown to beat it is called so, whoever its
            rival is, and one that is shown below it on ``FLOORS`` is not promoted.
        table: The other rows of its own table; the rivals when left out. One that stands below any of them is never
            called better.
        nominal: The grades are classes without an order.
        refusal: Why it must not be promoted whatever the numbers say, or empty.
    """
    leads = {name: lead(ratings, compiled, objective) for name, ratings in rivals.items()}
    rival = max(leads, key=lambda name: leads[name])
    level = 1 - level_for_test_use(test_use)
    found = _gain(compiled, rivals[rival], objective, test_use)
    if not refusal and found.few:
        refusal = f"too few test queries: {found.interval.n_clusters}, at least {MIN_TEST_QUERIES} are needed"
    both = on_both(compiled, rivals[rival])[0].labelled
    difference = found.interval.estimate(int(both.sum()))
    detectable, better = found.detectable, found.better
    measured = _measured(compiled, objective, difference, rival, level, test_use)
    if not both.all():
        measured += f", on the {int(both.sum()):,} labels of {len(both):,} that both were asked about"
    by_statistic = differences(compiled, rivals[rival], nominal=nominal, level=level)
    worse = {name: by_statistic[name] for name in GUARDS if _is_below(by_statistic[name])}
    below = {} if majority is None else below_majority(compiled, majority, nominal=nominal)
    above = _above(compiled, rivals if table is None else table, objective)
    reason = _praise(measured, rival, worse, above) if better else _doubt(measured, found, difference)
    if refusal or below:
        refusal = refusal or f"shown to be worse than {_plain('majority')}: {shortfalls(below)}"
        reason = f"{refusal} ({measured})"
    if not better and not below and majority is not None and rival != "majority":
        reason += _no_better_than(compiled, majority, objective, test_use)
    return Decision(
        promoted=better and not worse and not below and not refusal,
        reason=reason,
        rival=rival,
        difference=difference,
        detectable=detectable,
        by_statistic=by_statistic,
        test_use=test_use,
        below_majority=below,
        above=above,
    )


def below_majority(compiled: GradePairs, majority: GradePairs, *, nominal: bool = False) -> dict[str, Shortfall]:
    """On which of ``FLOORS`` the judge is shown to be below the judge that always gives the most frequent grade.

    Of numbers on an interval scale that judge gives the median, and minus the mean absolute error counts, too.
    At the level of the report, 95 %: a later test use makes it harder to be called better, and no easier to pass as
    harmless.
    """
    found = differences(compiled, majority, nominal=nominal)
    below = {}
    for name in FLOORS:
        if _is_below(found[name]):
            share = parse_objective(STATISTICS[name].objective)
            own, other = on_both(compiled, majority)
            below[name] = Shortfall(share.value(own), share.value(other), found[name])
    if compiled.interval:
        own, other = on_both(compiled, majority)
        closeness = parse_objective(CLOSENESS)
        one, two = closeness.statistic(own), closeness.statistic(other)
        apart = difference_interval(one, two)
        if _is_below(difference := apart.estimate(int(own.labelled.sum()))):
            below[CLOSENESS] = Shortfall(one.point(), two.point(), difference)
    return below


def shortfalls(below: Mapping[str, Shortfall]) -> str:
    """``exact .76 against .83, difference -.07 [-.11, -.03]``."""
    return "; ".join(
        f"{NAMES[name]} {number(one.value)} against {number(one.other)}, difference {show(one.difference)}"
        for name, one in below.items()
    )


def standing_above(above: Mapping[str, tuple[float, float]], objective: str) -> str:
    """``evidence alone (.52) agrees more with the consensus of all annotators than the compiled judge (.50)``.

    The judge's own objective is that on the items of the rows before it: rows of other items are a clause of their own.
    """
    first: dict[tuple[float, float], str] = {}  # rows that are one and the same stand once
    for name, pair in above.items():
        first.setdefault(pair, name)
    clauses = []
    for own in dict.fromkeys(own for _, own in first):
        rows = {name: other for (other, beside), name in first.items() if beside == own}
        digits = next((n for n in range(2, 6) if number(min(rows.values()), n) != number(own, n)), 6)
        *others, last = [f"{_plain(name)} ({number(other, digits)})" for name, other in rows.items()]
        who = f"{', '.join(others)} and {last} agree" if others else f"{last} agrees"
        value = f"{number(own, digits)}, {objective_name(objective)}"
        clauses.append(f"{who} more with the consensus of all annotators than the compiled judge ({value})")
    return "; ".join(clauses)


def _above(
    compiled: GradePairs, table: Mapping[str, GradePairs], objective: Objective
) -> dict[str, tuple[float, float]]:
    sides = {name: on_both(ratings, compiled) for name, ratings in table.items()}
    values = {name: (objective.value(other), objective.value(own)) for name, (other, own) in sides.items()}
    return {name: (value, own) for name, (value, own) in values.items() if value > own + SAME}


def _is_below(difference: Estimate) -> bool:
    return bool(difference.value and difference.value < 0 and difference.high is not None and difference.high < 0)


def _plain(name: str) -> str:
    return RIVALS.get(name, name)


def _measured(
    compiled: GradePairs, objective: Objective, difference: Estimate, rival: str, level: float, test_use: int
) -> str:
    measured = (
        f"{objective_name(objective.name)} {_signed(difference)} against {_plain(rival)} "
        f"({percent(level, 1)} interval, test use {test_use} of this split)"
    )
    lost = (compiled.judge == UNSCORED) & (compiled.judge_accept == UNSCORED) & compiled.labelled
    if unscored := int(lost.sum()):
        measured += f", {unscored} of {int(compiled.labelled.sum())} unscored counting against it"
    return measured


def _praise(measured: str, rival: str, worse: Mapping[str, Estimate], above: Mapping[str, tuple[float, float]]) -> str:
    """Of a judge that is better than its rival on the objective."""
    if worse:
        lost = ", ".join(f"{NAMES[name]} {show(difference)}" for name, difference in worse.items())
        return f"not promoted, shown to be worse than {_plain(rival)} on {lost} ({measured})"
    if above:
        return f"{measured}; but {standing_above(above, 'in its own table')}"
    return f"better: {measured}"


def _doubt(measured: str, found: Gain, difference: Estimate) -> str:
    """Of a judge that is not shown to be better."""
    told = f"; {difference.note}" if difference.note else found.could_show("test queries")
    return f"not shown to be better: {measured}{told}"


def _no_better_than(compiled: GradePairs, majority: GradePairs, objective: Objective, test_use: int) -> str:
    over = _gain(compiled, majority, objective, test_use)
    measured = f"{objective_name(objective.name)} {_signed(over.interval.estimate(0))}"
    return "" if over.better else f"; not shown to be better than {_plain('majority')} ({measured})"


def _gain(compiled: GradePairs, rival: GradePairs, objective: Objective, test_use: int) -> Gain:
    """On the items that both were asked about."""
    own, other = on_both(compiled, rival)
    return gain(objective.statistic(own), objective.statistic(other), test_use=test_use)


def _signed(difference: Estimate) -> str:
    sign = "+" if (difference.value or 0) > 0 else ""
    return sign + show(difference)
