"""Rows of a table that holds several systems, a judge's grade on each, and experts' grades on some."""

from dataclasses import dataclass, replace

import numpy as np

from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import BoolArray

ACCEPT_RATE, MEAN, WIN_RATE, RATING = "accept_rate", "mean", "win_rate", "rating"


@dataclass(frozen=True, slots=True)
class Graded:
    """What judge and experts say of each row, in one unit.

    Args:
        judge: NaN where it is unscored.
        expert: The mean of a row's annotators, NaN where nobody graded it.
        shares: Both lie within 0 and 1.
        step: Distance of two neighbouring grades; 0 on a scale without steps.
        ends: Lowest and highest value, of shares 0 and 1.
    """

    judge: FloatArray
    expert: FloatArray
    shares: bool
    step: float = 1.0
    ends: tuple[float, float] = (-np.inf, np.inf)


@dataclass(frozen=True, slots=True)
class SystemRows:
    """Graded answers of several systems.

    Args:
        query: Code of each row's query, shape (n_rows,).
        system: Code of the system that answered.
        names: Of the systems, by code.
        judge: Its grade, NaN where it is unscored.
        expert: The mean of a row's annotators, NaN where nobody graded it.
        threshold: Grade from which a row is accepted; None where none is declared.
        accept: The judge's accepts (1, 0, NaN) and the share of annotators who accept (NaN where nobody graded), where
            they are known; None: by ``threshold``.
        chosen: Rows whose label was asked for because the judge was unsure of them: no random sample, so that their
            labels correct nothing. None: no row.
        step: Distance of two neighbouring grades; 0 on a scale without steps.
        ends: Lowest and highest grade.
        wins: Grades are points of a game: 1, .5 and 0.
    """

    query: IntArray
    system: IntArray
    names: tuple[str, ...]
    judge: FloatArray
    expert: FloatArray
    threshold: float | None = None
    accept: tuple[FloatArray, FloatArray] | None = None
    chosen: BoolArray | None = None
    step: float = 1.0
    ends: tuple[float, float] = (-np.inf, np.inf)
    wins: bool = False

    @property
    def measures(self) -> dict[str, Graded]:
        """The statistics that are compared, by name: first the one that decides."""
        if self.wins:
            return {WIN_RATE: Graded(self.judge, self.expert, shares=True)}
        found = {MEAN: Graded(self.judge, self.expert, shares=False, step=self.step, ends=self.ends)}
        accept = self.accept
        if accept is None and self.threshold is not None:
            accept = (_at_least(self.judge, self.threshold), _at_least(self.expert, self.threshold))
        return found if accept is None else {ACCEPT_RATE: Graded(*accept, shares=True), **found}

    @property
    def labelled(self) -> BoolArray:
        """True where an expert said something that decides, shape (n_rows,)."""
        known: BoolArray = ~np.isnan(next(iter(self.measures.values())).expert)
        return known

    def without_chosen(self) -> "SystemRows":
        """The same without the labels of chosen rows, which are those of them that have one."""
        if self.chosen is None:
            return self
        accept = None if self.accept is None else (self.accept[0], np.where(self.chosen, np.nan, self.accept[1]))
        expert = np.where(self.chosen, np.nan, self.expert)
        return replace(self, expert=expert, accept=accept, chosen=self.chosen & self.labelled)


@dataclass(frozen=True, slots=True)
class PairRows:
    """Games between two systems each.

    Args:
        query: Code of each game's query, shape (n_games,).
        a: Code of one system.
        b: Code of the other.
        names: Of the systems, by code.
        judge: Points of ``a`` by the judge: 1, .5, 0; NaN where it is unscored.
        expert: Points of ``a`` by experts, their mean; NaN where nobody looked.
        chosen: As in ``SystemRows``.
    """

    query: IntArray
    a: IntArray
    b: IntArray
    names: tuple[str, ...]
    judge: FloatArray
    expert: FloatArray
    chosen: BoolArray | None = None

    @property
    def rows(self) -> SystemRows:
        """Points of each system in each of its games: two rows a game."""
        return SystemRows(
            query=np.tile(self.query, 2),
            system=np.concatenate([self.a, self.b]),
            names=self.names,
            judge=np.concatenate([self.judge, 1.0 - self.judge]),
            expert=np.concatenate([self.expert, 1.0 - self.expert]),
            chosen=None if self.chosen is None else np.tile(self.chosen, 2),
            wins=True,
        )


def _at_least(values: FloatArray, threshold: float) -> FloatArray:
    return np.where(np.isnan(values), np.nan, values >= threshold).astype(np.float64)
