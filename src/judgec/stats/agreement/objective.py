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
from judgec.stats.agreement.of_numbers import (
    absolute_errors,
    closeness_of_numbers,
    spearman_of_numbers,
    tau_b_of_numbers,
)
from judgec.stats.agreement.registry import KNOWN, of_target, statistic_of_objective
from judgec.stats.agreement.statistic import CORRELATION, SHARE, Statistic, weighted_sum

CutFit = Literal["qwk", "kappa", "exact", "accept", "balanced_accuracy"]


@dataclass(frozen=True, slots=True)
class OfTables:
    """An objective of grades or accepts, from tables of expert by judge.

    Args:
        bound: Its value from tables (..., k, k + 1), the last column counting unscored items.
        error: Of an item, from the distance of the judge's grade.
        bounds: Its smallest and largest value, or None.
        cuts: What cut points are fitted to for it. Tau-b is flat and jumps at ties: its are fitted to QWK.
    """

    bound: Callable[..., FloatArray]
    error: Callable[[FloatArray], FloatArray]
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
    """

    tables: OfTables | None
    numbers: Callable[[GradePairs], Statistic] | None = None
    of_accepts: bool = False


_ACCEPT = OfTables(worst_case.exact_bound, np.sign, SHARE, "accept")

OBJECTIVES: Mapping[str, Measure] = MappingProxyType(
    {
        "tau_b": Measure(OfTables(worst_case.tau_b_bound, np.abs, CORRELATION, "qwk"), tau_b_of_numbers),
        "kappa": Measure(OfTables(worst_case.kappa_bound, np.sign, CORRELATION, "kappa")),
        "qwk": Measure(OfTables(worst_case.qwk_bound, np.square, None, "qwk")),
        "exact": Measure(OfTables(worst_case.exact_bound, np.sign, SHARE, "exact")),
        "accept": Measure(_ACCEPT, of_accepts=True),
        "balanced_accuracy": Measure(OfTables(worst_case.balanced_accuracy_bound, np.sign, SHARE, "balanced_accuracy")),
        "spearman": Measure(None, spearman_of_numbers),
        "mae": Measure(None, closeness_of_numbers),
    }
)
"""Every objective by name; ``balanced_accuracy`` is of grades, ``accept`` is accept agreement, ``mae`` minus the mean
absolute error as a share of the range.
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
        return parts[0][1] if len(parts) == 1 and parts[0][0] == 1 else weighted_sum(parts)

    def value(self, compared: GradePairs) -> float:
        """The objective of one judge; 0 where it is undefined."""
        return self.statistic(compared).point()

    def shares(self, compared: GradePairs) -> FloatArray:
        """One number an item, shape (n_items,), whose mean is ``value``: what its error takes away from 1.

        Items without an expert label have share 0.
        """
        total = np.zeros(compared.judge.shape, dtype=np.float64)
        for weight, name in self.terms:
            known, error = _errors(OBJECTIVES[name], compared)
            value = _term(name, compared).point()
            mean = error.mean() if known.any() else 0.0
            shares = 1.0 - error * (1.0 - value) / mean if mean > 0 else np.full(error.shape, value)
            total[known] += weight * known.size / max(1, known.sum()) * shares
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
    return measure.of_accepts or (measure.numbers if interval else measure.tables) is not None


def _of_tables(measure: Measure) -> OfTables:
    if measure.tables is None:
        raise ValueError("objective: grades; it is of numbers on an interval scale. Ask ``require`` first.")
    return measure.tables


def cut_fit(name: str) -> CutFit:
    """Target that cut points between grades are fitted to for an objective.

    Raises:
        ValueError: It has none, as it is of numbers alone.
    """
    return _of_tables(OBJECTIVES[name]).cuts


def _term(name: str, compared: GradePairs) -> Statistic:
    measure = OBJECTIVES[name]
    target, judge, n_grades = _columns(measure, compared)
    if compared.interval and not measure.of_accepts:
        if measure.numbers is None:
            raise ValueError(f"objective {name}: numbers; it is of grades. Ask ``require`` first.")
        return measure.numbers(compared.where(compared.graded))
    measured = _of_tables(measure)
    judge = np.where(judge == UNSCORED, n_grades, judge)
    return of_target(compared, target, judge, (n_grades, n_grades + 1), (measured.bound, measured.bounds))


def _errors(measure: Measure, compared: GradePairs) -> tuple[BoolArray, FloatArray]:
    """The rows that people labelled, and how wrong the judge is about each; an unscored one is as wrong as can be."""
    target, judge, n_grades = _columns(measure, compared)
    known = np.asarray(target[:, 0] != UNLABELLED)
    if compared.interval and not measure.of_accepts:
        rows = compared.where(known)
        return known, absolute_errors(rows)
    row, expert, weight = parts_of(target[known])
    said = judge[known][row]
    farthest = np.maximum(expert, n_grades - 1 - expert)
    error = _of_tables(measure).error(np.where(said == UNSCORED, farthest, np.abs(said - expert)).astype(np.float64))
    return known, np.bincount(row, error if weight is None else weight * error).astype(np.float64)


def statistics_of(objective: str) -> list[str]:
    """The report's statistics that an objective is made of; exact agreement where it has none of its own there."""
    terms = [statistic_of_objective(name) for _, name in parse_objective(objective).terms]
    return [name for name in terms if name in KNOWN] or ["exact"]
