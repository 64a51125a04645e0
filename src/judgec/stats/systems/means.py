"""Means of several systems over all their rows, from a judge's grade on each row and experts' grades on some: PPI++.

    mean = mean(expert, labelled) + w * (mean(judge, all) - mean(judge, labelled))

For any w it is unbiased when the labelled rows of a system are a random sample of its rows, however wrong the judge is.
One w serves all systems, fitted to all labels; where the labels of a system alone give a narrower interval, these are
taken. Rows of one query are not independent: errors are summed by query, and a query that was labelled for two systems
is paired in their difference.
Source: Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient Prediction-Powered Inference, arXiv:2311.01453;
    Satterthwaite (1946), Biometrics Bulletin 2(6), the degrees of freedom.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import BoolArray
from judgec.stats.correction.mean import PLUS, unseen_variance
from judgec.stats.intervals.significance import holm
from judgec.stats.systems.rows import Graded

MIN_LABELLED = 5  # rows, and queries that they are of: fewer have no interval
NO_VERDICT = 0.5  # stands for a missing judgment of a share; any value keeps the mean unbiased
TINY = 1e-9  # values that are no further apart are the same
AT_ONCE = 65_536  # queries whose products are summed at once: bounds memory
METHOD = "PPI++, clustered by query"


@dataclass(frozen=True, slots=True)
class Cells:
    """Rows of one query and one system, together.

    Args:
        code: Cell of each row.
        query: Of each cell.
        system: Of each cell.
        systems: How many there are.
    """

    code: IntArray
    query: IntArray
    system: IntArray
    systems: int

    @classmethod
    def of(cls, query: IntArray, system: IntArray, systems: int) -> "Cells":
        """Cells of rows."""
        found, code = np.unique(query * systems + system, return_inverse=True)
        return cls(code, found // systems, found % systems, systems)

    def sums(self, values: FloatArray | BoolArray) -> FloatArray:
        """Sum over the rows of each cell."""
        return np.bincount(self.code, values, len(self.query)).astype(np.float64)

    def by_system(self, values: FloatArray | BoolArray) -> FloatArray:
        """Sum over the cells of each system."""
        return np.bincount(self.system, values, self.systems).astype(np.float64)

    def products(self, values: FloatArray) -> FloatArray:
        """Sum over queries of one system's value times another's, shape (n_systems, n_systems)."""
        found = np.zeros((self.systems, self.systems))
        for start in range(0, int(self.query.max(initial=-1)) + 1, AT_ONCE):
            some = slice(*np.searchsorted(self.query, (start, start + AT_ONCE)).tolist())
            block = np.zeros((self.systems, min(AT_ONCE, int(self.query[-1]) + 1 - start)))
            block[self.system[some], self.query[some] - start] = values[some]
            found += block @ block.T
        return found


@dataclass(frozen=True, slots=True)
class Means:
    """A mean of each system, and what its interval and those of differences are made of.

    Args:
        cells: Of the rows.
        value: Shape (n_systems,), NaN without a row.
        shift: Middle of the interval less the mean: that of a share near 0 or 1 lies nearer to .5 (Agresti and Coull),
            that of grades that mostly are one nearer to the others.
        labels: What the labels of each cell add to the error of its system's mean.
        rest: What the judge's grades of each cell add.
        load: Variance that each cell is expected to add.
        factor: By which the squares of both together are multiplied: few queries show too little.
        unseen: Variance that few labels hide.
        fitted: Degrees of freedom spent.
        n: Rows that it rests on.
        queries: Queries of these.
        ends: Lowest and highest value.
        level: Coverage of intervals.
    """

    cells: Cells
    value: FloatArray
    shift: FloatArray
    labels: FloatArray
    rest: FloatArray
    load: FloatArray
    factor: FloatArray
    unseen: FloatArray
    fitted: FloatArray
    n: IntArray
    queries: IntArray
    ends: tuple[float, float]
    level: float

    @property
    def parts(self) -> FloatArray:
        """What each cell adds to the error of its system's mean."""
        return self.labels + self.rest

    def enough(self, least: int = MIN_LABELLED) -> BoolArray:
        """Systems with so many rows, on so many queries."""
        return (self.n >= least) & (self.queries >= least)

    def limits(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper end of each interval."""
        load = self.cells.by_system(self.load)
        freedom = np.maximum(_ratio(load**2, self.cells.by_system(self.load**2), 1.0) - self.fitted, 1.0)
        variance = self.factor * self.cells.by_system(self.parts**2) + self.unseen
        half = -special.stdtrit(freedom, (1.0 - self.level) / 2.0) * np.sqrt(variance)
        middle = self.value + self.shift
        return np.clip(middle - half, *self.ends), np.clip(middle + half, *self.ends)

    def contrasts(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Sums of means, each times a weight: value, variance, degrees of freedom (Satterthwaite), shape (n_sums,).

        Args:
            weights: Shape (n_sums, n_systems).
        """
        squared = weights**2
        together, apart = self.cells.products(self.parts), self.cells.by_system(self.parts**2)
        factor = _ratio(squared @ (self.factor * apart), squared @ apart, 1.0)
        variance = factor * np.maximum(np.einsum("ij,jk,ik->i", weights, together, weights), 0.0)
        total = squared @ self.cells.by_system(self.load)
        squares = np.einsum("ij,jk,ik->i", squared, self.cells.products(self.load), squared)
        freedom = _ratio(total**2, squares, 1.0) - _ratio(squared @ self.fitted, squared.sum(axis=1), 1.0)
        unknown = np.isnan(self.value)
        value = np.where((weights != 0) @ unknown, np.nan, weights @ np.where(unknown, 0.0, self.value))
        return value, variance + squared @ self.unseen, np.maximum(freedom, 1.0)

    def tested(self, weights: FloatArray, known: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Sums of means with intervals that hold for all together, and Holm's p that each is 0.

        Args:
            weights: As in ``contrasts``.
            known: Sums that are tested, shape (n_sums,); the others have no p.
        """
        value, variance, freedom = self.contrasts(weights)
        error, alpha = np.sqrt(variance), 1.0 - self.level
        t = np.divide(np.abs(value), error, out=np.where(value == 0, 0.0, np.inf), where=error > 0)
        p = holm(np.where(known, 2.0 * special.stdtr(freedom, -t), np.nan))
        half = -special.stdtrit(freedom, alpha / 2.0 / max(int(known.sum()), 1)) * error
        shown = p <= alpha  # Holm's steps decide more than intervals of one level do: these end at 0
        most = np.abs(weights).sum(axis=1) / 2.0 * (self.ends[1] - self.ends[0])
        low = np.where(shown & (value > 0), np.maximum(value - half, 0.0), np.maximum(value - half, -most))
        high = np.where(shown & (value < 0), np.minimum(value + half, 0.0), np.minimum(value + half, most))
        return value, low, high, p

    def estimates(self, enough: BoolArray) -> list[Estimate]:
        """Each mean, with an interval where there is enough for it."""
        found = []
        for value, low, high, has, n, queries in zip(
            self.value.tolist(), *(one.tolist() for one in (*self.limits(), enough, self.n, self.queries)), strict=True
        ):
            plain = Estimate(value=None, n=n, n_clusters=queries, level=self.level, method=METHOD)
            if np.isnan(value):
                found.append(plain.model_copy(update={"note": "no row to measure it on"}))
                continue
            limits = {"low": low, "high": high} if has else {"note": f"{n} rows of {queries} queries: no interval"}
            found.append(plain.model_copy(update={"value": float(np.clip(value, *self.ends)), **limits}))
        return found

    def or_else(self, other: "Means", taken: BoolArray) -> "Means":
        """The other's means of the systems where ``taken``."""
        cell = taken[self.cells.system]
        by_cell = {
            name: np.where(cell, getattr(other, name), getattr(self, name)) for name in ("labels", "rest", "load")
        }
        by_system = {
            name: np.where(taken, getattr(other, name), getattr(self, name))
            for name in ("value", "shift", "factor", "unseen", "fitted")
        }
        return replace(self, **by_cell, **by_system)


@dataclass(frozen=True, slots=True)
class CorrectedMeans:
    """The means of the systems by experts alone, by the judge, and corrected.

    Args:
        experts: From the labelled rows alone.
        judge: From the rows that it scored.
        corrected: From both.
        these_rows: The same of these very rows, not of further queries like theirs.
        error: Of the judge on the labelled rows: its grade less the experts'.
        alone: Systems whose corrected mean is that of their labels alone, the narrower one.
        enough: Systems with labels enough for an interval.
        weight: How far the judge is trusted, 0-1.
    """

    experts: Means
    judge: Means
    corrected: Means
    these_rows: Means
    error: Means
    alone: BoolArray
    enough: BoolArray
    weight: float


def corrected_means(
    cells: Cells, measured: Graded, *, level: float = 0.95, least: int = MIN_LABELLED
) -> CorrectedMeans:
    """Means of the systems.

    Args:
        cells: Of the rows.
        measured: The rows' grades; the labelled rows of a system are a random sample of its rows.
        level: Coverage of the intervals.
        least: Labelled rows, and queries of these, from which on a system has an interval.
    """
    scored = ~np.isnan(measured.judge)
    fill = NO_VERDICT if measured.shares or not scored.any() else float(measured.judge[scored].mean())
    judge = np.where(scored, measured.judge, fill)
    rows = _Sums.of(cells, measured.expert, judge, measured)
    weight = rows.tuned()
    experts, corrected = rows.means(0.0, level), rows.means(weight, level)
    alone = np.subtract(*experts.limits()[::-1]) < np.subtract(*corrected.limits()[::-1])
    these, these_alone = rows.means(weight, level, these=True), rows.means(0.0, level, these=True)
    error = _Sums.of(
        cells, measured.judge - measured.expert, judge, replace(measured, shares=False, ends=(-np.inf, np.inf))
    )
    return CorrectedMeans(
        experts=experts,
        judge=_Sums.of(cells, measured.judge, judge, measured).means(0.0, level),
        corrected=corrected.or_else(experts, alone),
        these_rows=these.or_else(these_alone, alone),
        error=error.means(0.0, level),
        alone=alone,
        enough=experts.enough(least),
        weight=weight,
    )


def differences(order: IntArray, systems: int) -> FloatArray:
    """Weights of the difference of each two, the earlier less the later, shape (n_pairs, n_systems)."""
    left, right = np.triu_indices(len(order), 1)
    weights = np.zeros((len(left), systems))
    weights[np.arange(len(left)), order[left]] = 1.0
    weights[np.arange(len(left)), order[right]] = -1.0
    return weights


@dataclass(frozen=True, slots=True)
class _Sums:
    """Means of each system, and what each cell adds to their errors: of labels, and of a judge's grades.

    Args:
        cells: Of the rows.
        count: Labelled rows of each cell.
        every: Rows of each cell.
        labels: The experts' mean, and its parts.
        seen: The judge's mean of the labelled rows.
        whole: The judge's mean of all rows.
        away: Share of the labels that are not the commonest one (of shares: the mean).
        wrong: Share of the labels that are not as the judge has them.
        distance: Of a label that is away from the commonest one, on average; its square; the square of the distance
            between a label and a judge's other grade.
        graded: Units.
    """

    cells: Cells
    count: FloatArray
    every: FloatArray
    labels: tuple[FloatArray, FloatArray]
    seen: tuple[FloatArray, FloatArray]
    whole: tuple[FloatArray, FloatArray]
    away: FloatArray
    wrong: FloatArray
    distance: FloatArray
    graded: Graded

    @classmethod
    def of(cls, cells: Cells, expert: FloatArray, judge: FloatArray, graded: Graded) -> "_Sums":
        """Sums of labels, NaN where there is none, and of a judge's values, of all rows."""
        known = ~np.isnan(expert)
        count, every = cells.sums(known), np.bincount(cells.code, minlength=len(cells.query)).astype(np.float64)

        def mean(values: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
            n, sums = cells.by_system(rows), cells.sums(values)
            found = _ratio(cells.by_system(sums), n, 0.0)
            return found, (sums - rows * found[cells.system]) / np.maximum(n, 1.0)[cells.system]

        given = np.where(known, expert, 0.0)
        step = graded.step or TINY  # without steps every other value is away
        centre = 0.0 if graded.shares else _commonest(expert[known])
        away, wrong = (np.where(known, np.minimum(np.abs(given - other) / step, 1.0), 0.0) for other in (centre, judge))
        far, off = np.where(known, given - centre, 0.0), np.where(known, given - judge, 0.0)
        width = np.subtract(*graded.ends[::-1])  # of a label that nobody has seen half of it is thought
        square = max(graded.step, width / 2.0 if np.isfinite(width) else 0.0) ** 2
        over = np.array([far.sum(), (far * far).sum(), (off * off).sum()])
        under = np.array([away.sum(), away.sum(), wrong.sum()])
        distance = np.ones(3) if graded.shares else _ratio(over, under, np.array([0.0, square, square]))
        return cls(
            cells=cells,
            count=count,
            every=every,
            labels=mean(given, count),
            seen=mean(np.where(known, judge, 0.0), count),
            whole=mean(judge, every),
            away=mean(away, count)[0],
            wrong=mean(wrong, count)[0],
            distance=distance,
            graded=graded,
        )

    def tuned(self) -> float:
        """The weight that makes the means' summed variance smallest, each system counting by its labels."""
        own, judge = self.labels[1], self.whole[1] - self.seen[1]
        counted = self.cells.by_system(self.count)[self.cells.system] ** 2
        power = float((counted * judge * judge).sum())
        return min(1.0, max(0.0, -float((counted * own * judge).sum()) / power)) if power > 0 else 0.0

    def means(self, weight: float, level: float, *, these: bool = False) -> Means:
        """The means at a weight; with ``these`` the queries are no sample of others."""
        cells, mean = self.cells, self.labels[0]
        n, rows, queries = (cells.by_system(one) for one in (self.count, self.every, self.count > 0))
        own, whole = self.labels[1] - weight * self.seen[1], weight * self.whole[1]
        fitted = 1.0 + (weight > 0) / max(int((n > 0).sum()), 1)
        others = 1.0 - n / np.maximum(rows, 1.0) if these else np.ones_like(n)  # what the labels are a sample of
        few = queries / np.maximum(queries - fitted, 1.0) * others
        whole = np.zeros_like(whole) if these else whole
        seen, rest = cells.by_system(own**2), cells.by_system(whole * (2.0 * own + whole))
        factor = _ratio(few * seen + rest, cells.by_system((own + whole) ** 2), few)
        pull = (1.0 - weight) * 2.0 * PLUS / (queries + 2.0 * PLUS) * others
        along, squared, off = self.distance.tolist()
        hidden = [
            (1.0 - weight) ** 2 * unseen_variance(away, size) * squared + weight**2 * unseen_variance(wrong, size) * off
            if size
            else 0.0
            for away, wrong, size in zip(self.away.tolist(), self.wrong.tolist(), queries.tolist(), strict=True)
        ]
        unseen = np.array(hidden) * others
        load = _spread_over(cells, few * seen + unseen, self.count)
        return Means(
            cells=cells,
            value=np.where(n > 0, mean + weight * (self.whole[0] - self.seen[0]), np.nan),
            shift=pull * (0.5 - self.away if self.graded.shares else np.maximum(0.5 - self.away, 0.0)) * along,
            labels=own,
            rest=whole,
            load=load + _spread_over(cells, np.maximum(rest, 0.0), self.every),
            factor=np.maximum(factor, 0.0),
            unseen=unseen,
            fitted=np.full(cells.systems, fitted),
            n=n.astype(np.int64),
            queries=queries.astype(np.int64),
            ends=(0.0, 1.0) if self.graded.shares else self.graded.ends,
            level=level,
        )


def _commonest(values: FloatArray) -> float:
    found, count = np.unique(values, return_counts=True)
    return float(found[count.argmax()]) if len(found) else 0.0


def _spread_over(cells: Cells, total: FloatArray, count: FloatArray) -> FloatArray:
    """A system's variance over its cells, by the square of their rows."""
    squares = cells.by_system(count**2)
    spread: FloatArray = _ratio(total, squares, 0.0)[cells.system] * count**2
    return spread


def _ratio(over: FloatArray, under: FloatArray, instead: FloatArray | float) -> FloatArray:
    """One by the other, and something else where that is 0."""
    found = np.empty(under.shape)
    found[...] = instead
    return np.divide(over, under, out=found, where=under > 0)
