"""Defines objectives: the corpus statistic that a compile maximizes, with a penalty for unscored items.

An objective is one name of ``OBJECTIVES`` or a weighted sum of them. Unscored items (judge -1) count as
``worst_case`` says; an undefined statistic (a judge or an expert with one grade only) counts as 0. Items
without an expert label (-1) have nothing to agree with: they enter no statistic and have share 0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from judgec.errors import UserError
from judgec.records.consensus import parts_of
from judgec.records.judgment import UNSCORED
from judgec.records.label import UNLABELLED, FloatArray, IntArray
from judgec.records.ratings import BoolArray, GradePairs
from judgec.stats.agreement import worst_case
from judgec.stats.agreement.kappa import squared_distances
from judgec.stats.agreement.of_numbers import (
    NumberStatistic,
    closeness_of_numbers,
    spearman_of_numbers,
    tau_b_of_numbers,
)
from judgec.stats.agreement.pair_statistic import CORRELATION
from judgec.stats.agreement.rank_correlation import order_sums
from judgec.stats.agreement.registry import KNOWN, of_target, statistic_of_objective
from judgec.stats.agreement.statistic import SHARE, Statistic, WeightedSum
from judgec.stats.agreement.system_tau import system_tau_bound, system_tau_shares
from judgec.stats.agreement.tables import rectangular_tables
from judgec.stats.agreement.worst_case import kappa_parts, qwk_parts, tau_b_parts

CutFit = Literal["qwk", "kappa", "exact", "accept", "balanced_accuracy"]


@dataclass(frozen=True, slots=True)
class ItemParts:
    """Items, or where several grades share one its parts, from which an objective's shares are computed.

    Args:
        expert: Positions, shape (n_parts,).
        judge: The judge's, -1 where unscored, same shape.
        weight: The part of an item that each is, same shape; those of an item add up to 1.
        n_grades: Number of grades of the scale.
    """

    expert: IntArray
    judge: IntArray
    weight: FloatArray
    n_grades: int

    @property
    def items(self) -> float:
        """Number of items."""
        return float(self.weight.sum())

    @property
    def known(self) -> BoolArray:
        """True for those that the judge scored."""
        return np.asarray(self.judge != UNSCORED)

    @property
    def table(self) -> FloatArray:
        """Expert by judge, the last column counting unscored items."""
        return self._table(self.expert, self.weight, self.n_grades)

    @property
    def torn(self) -> FloatArray:
        """Pairs of an item's own parts by column of the table."""
        return np.asarray(self._table(self.expert * 0, self.weight * (1.0 - self.weight) / 2.0, 1)[0])

    def counts(self, rows: BoolArray | None = None) -> FloatArray:
        """Number of items of each grade of the expert."""
        weight = self.weight if rows is None else self.weight * rows
        return np.bincount(self.expert, weight, minlength=self.n_grades).astype(np.float64)

    def _table(self, expert: IntArray, weight: FloatArray, rows: int) -> FloatArray:
        column, cluster = np.where(self.known, self.judge, self.n_grades), expert * 0
        shape = (rows, self.n_grades + 1)
        return np.asarray(rectangular_tables(expert, column, cluster, shape, n_clusters=1, weight=weight)[0])


def tau_b_shares(of: ItemParts) -> FloatArray:
    """Pairs won minus pairs lost by each item, scaled so that the mean is tau-b."""
    scored, _, x, y = tau_b_parts(of.table, of.torn)
    if x * y == 0:
        return np.zeros(of.expert.shape)
    hidden = of.counts(~of.known)
    hidden_lost = hidden.sum() - hidden[of.expert]  # to unscored items of other expert grades
    all_lost = of.items - of.counts()[of.expert] - (1.0 - of.weight)  # but not to its own other parts
    signed = np.where(of.known, order_sums(scored)[of.expert, of.judge] - hidden_lost, -all_lost)
    result: FloatArray = 0.5 * of.items * signed / (np.sqrt(x * y))
    return result


def kappa_shares(of: ItemParts) -> FloatArray:
    """1 for the same grade, else 1 - 1 / (disagreement expected by chance)."""
    _, expected = kappa_parts(of.table)
    if expected == 0:
        return np.zeros(of.expert.shape)
    result: FloatArray = 1 - (of.expert != of.judge) * of.items / expected
    return result


def qwk_shares(of: ItemParts) -> FloatArray:
    """1 - squared error / (squared distance expected by chance); unscored items share the rest equally."""
    covariance, expected = qwk_parts(of.table)
    if expected == 0:
        return np.zeros(of.expert.shape)
    known = of.known
    result = 1 - squared_distances(of.n_grades)[of.expert, of.judge] * of.items / expected
    if not known.all():
        total = of.items * 2 * covariance / expected
        result[~known] = (total - (of.weight * result)[known].sum()) / of.weight[~known].sum()
    return result


def exact_shares(of: ItemParts) -> FloatArray:
    """1 for the same grade, else 0."""
    return np.asarray(of.expert == of.judge, dtype=np.float64)


def balanced_accuracy_shares(of: ItemParts) -> FloatArray:
    """For the same grade, n_items / (grades the expert used * items of this grade), else 0."""
    counts = of.counts()
    used = int((counts > 0).sum())
    if used < 2:
        return np.zeros(of.expert.shape)
    result: FloatArray = (of.expert == of.judge) * of.items / (used * counts[of.expert])
    return result


@dataclass(frozen=True, slots=True)
class OfTables:
    """An objective of grades or accepts, from tables of expert by judge.

    Args:
        bound: Its value from tables (..., k, k + 1), the last column counting unscored items.
        shares: Its shares of items or their parts.
        bounds: Its smallest and largest value, or None.
        cuts: What cut points are fitted to for it. Tau-b is flat and jumps at ties: its are fitted to QWK.
    """

    bound: Callable[..., FloatArray]
    shares: Callable[[ItemParts], FloatArray]
    bounds: tuple[float, float] | None
    cuts: CutFit


@dataclass(frozen=True, slots=True)
class Measure:
    """One objective: how it is computed where it is defined, and None where it is not.

    All are to be maximized; an undefined value is 0, the worst value that of ``bounds``.

    Args:
        tables: Of labels that are grades.
        numbers: Of labels on an interval scale; it counts unscored items against the judge.
        of_accepts: True when it compares accepts.
        of_systems: True when it compares means of whoever answered. It moves in steps of two pairs' swap and does not
            read the grade, only the score: its cut points are fitted to QWK.
    """

    tables: OfTables | None
    numbers: Callable[[GradePairs], NumberStatistic] | None = None
    of_accepts: bool = False
    of_systems: bool = False


_ACCEPT = OfTables(worst_case.exact_bound, exact_shares, SHARE, "accept")

OBJECTIVES: Mapping[str, Measure] = MappingProxyType(
    {
        "tau_b": Measure(OfTables(worst_case.tau_b_bound, tau_b_shares, CORRELATION, "qwk"), tau_b_of_numbers),
        "kappa": Measure(OfTables(worst_case.kappa_bound, kappa_shares, CORRELATION, "kappa")),
        "qwk": Measure(OfTables(worst_case.qwk_bound, qwk_shares, None, "qwk")),
        "exact": Measure(OfTables(worst_case.exact_bound, exact_shares, SHARE, "exact")),
        "accept": Measure(_ACCEPT, of_accepts=True),
        "balanced_accuracy": Measure(
            OfTables(worst_case.balanced_accuracy_bound, balanced_accuracy_shares, SHARE, "balanced_accuracy")
        ),
        "system_tau": Measure(None, of_systems=True),
        "spearman": Measure(None, spearman_of_numbers),
        "mae": Measure(None, closeness_of_numbers),
    }
)
"""Every objective by name; ``balanced_accuracy`` is of grades, ``accept`` is accept agreement, ``mae`` minus the mean
absolute error as a share of the range, ``system_tau`` tau-b of systems' means (six at least).
"""


@dataclass(frozen=True, slots=True)
class Objective:
    """A weighted sum of named objectives.

    Args:
        terms: Positive weight and name of each term.
    """

    terms: tuple[tuple[float, str], ...]

    @property
    def name(self) -> str:
        """The text that ``parse_objective`` reads back."""
        return "+".join(name if weight == 1 else f"{weight!r}*{name}" for weight, name in self.terms)

    @property
    def needs_accept(self) -> bool:
        """True when a term compares accepts, which need a threshold."""
        return any(OBJECTIVES[name].of_accepts for _, name in self.terms)

    @property
    def needs_systems(self) -> bool:
        """True when a term compares systems, which labels have to name."""
        return any(OBJECTIVES[name].of_systems for _, name in self.terms)

    @property
    def of_grades_too(self) -> "Objective":
        """The objective by which grades are chosen: where it reads none, QWK is added."""
        systems = all(OBJECTIVES[name].of_systems for _, name in self.terms)
        return Objective((*self.terms, (1.0, "qwk"))) if systems else self

    def require(self, *, interval: bool) -> None:
        """Make sure that every term is defined on such labels.

        Raises:
            UserError: One is not.
        """
        valid = [name for name, one in OBJECTIVES.items() if _defined(one, interval=interval)]
        if strange := [name for _, name in self.terms if name not in valid]:
            level = "an interval scale" if interval else "a scale of grades"
            raise UserError(
                f"objective {self.name}: {', '.join(strange)} is not defined on {level}; valid there are "
                f"{', '.join(valid)} and sums of these. Name one of them with --objective."
            )

    def statistic(self, compared: GradePairs) -> Statistic:
        """The objective of one judge, for intervals and paired differences; never NaN."""
        parts = tuple((weight, _term(name, compared)) for weight, name in self.terms)
        return parts[0][1] if len(parts) == 1 and parts[0][0] == 1 else WeightedSum(parts)

    def value(self, compared: GradePairs) -> float:
        """The objective of one judge; 0 where it is undefined."""
        return self.statistic(compared).point()

    def shares(self, compared: GradePairs) -> FloatArray:
        """One number an item, shape (n_items,), whose mean is ``value``."""
        total = np.zeros(compared.judge.shape, dtype=np.float64)
        for weight, name in self.terms:
            measure = OBJECTIVES[name]
            target, judge, n_grades = _columns(measure, compared)
            known = target[:, 0] != UNLABELLED
            if known.any():
                scale = known.size / known.sum()
                if measure.of_systems:
                    shares = system_tau_shares(compared.where(known))
                elif compared.interval and measure.numbers is not None:
                    shares = measure.numbers(compared.where(known)).shares
                else:
                    row, expert, part = parts_of(target[known])
                    parts = ItemParts(expert, judge[known][row], np.ones(len(row)) if part is None else part, n_grades)
                    shares = np.bincount(row, parts.weight * _of_tables(name).shares(parts)).astype(np.float64)
                total[known] += weight * scale * shares
        return total


def parse_objective(text: str) -> Objective:
    """Read ``"tau_b"``, ``"tau_b+accept"`` or ``"0.7*tau_b+0.3*kappa"``.

    Raises:
        UserError: On an unknown name, a weight that is not a positive number, or a repeated name.
    """
    terms: list[tuple[float, str]] = []
    for term in text.split("+"):
        weight, _, name = term.rpartition("*")
        name = name.strip()
        factor = _positive(weight.strip() or "1")
        if name not in OBJECTIVES or factor is None or name in {known for _, known in terms}:
            raise UserError(
                f"objective {text!r}: cannot read {term.strip()!r}; a sum of distinct names with optional "
                f"positive weights is valid, names {', '.join(OBJECTIVES)}. Write for example 'tau_b' or "
                "'0.7*tau_b+0.3*kappa'."
            )
        terms.append((factor, name))
    return Objective(tuple(terms))


def _positive(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None


def _columns(measure: Measure, compared: GradePairs) -> tuple[IntArray, IntArray, int]:
    if measure.of_accepts:
        return compared.target_accept, compared.judge_accept, 2
    return compared.target, compared.judge, compared.n_grades


def _defined(measure: Measure, *, interval: bool) -> bool:
    return measure.of_accepts or measure.of_systems or (measure.numbers if interval else measure.tables) is not None


def _of_tables(name: str) -> OfTables:
    tables = OBJECTIVES[name].tables
    if tables is None:
        raise ValueError(f"objective {name}: grades; it is of numbers on an interval scale. Ask ``require`` first.")
    return tables


def cut_fit(name: str) -> CutFit:
    """Target that cut points between grades are fitted to for an objective.

    Raises:
        ValueError: It has none, as it is of numbers alone.
    """
    return "qwk" if OBJECTIVES[name].of_systems else _of_tables(name).cuts


def _term(name: str, compared: GradePairs) -> Statistic:
    measure = OBJECTIVES[name]
    if measure.of_systems:
        return system_tau_bound(compared)
    target, judge, n_grades = _columns(measure, compared)
    if compared.interval and not measure.of_accepts:
        if measure.numbers is None:
            raise ValueError(f"objective {name}: numbers; it is of grades. Ask ``require`` first.")
        return measure.numbers(compared.where(compared.graded))
    measured = _of_tables(name)
    judge = np.where(judge == UNSCORED, n_grades, judge)
    return of_target(compared, target, judge, (n_grades, n_grades + 1), (measured.bound, measured.bounds))


def statistics_of(objective: str) -> list[str]:
    """The report's statistics that an objective is made of; exact agreement where it has none of its own there."""
    terms = [statistic_of_objective(name) for _, name in parse_objective(objective).terms]
    return [name for name in terms if name in KNOWN] or ["exact"]
