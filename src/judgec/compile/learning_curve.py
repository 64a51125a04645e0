"""Measures how agreement grows with labels, and how many more would make the measurement sharper."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from scipy.stats import t as student

from judgec.compile.assemble import Bench, calibration_data, fitted, learned_part
from judgec.compile.dataset import Dataset, Part, ratings_of
from judgec.compile.promote import WORTH_SHOWING
from judgec.compile.search.candidates import Candidate
from judgec.compile.verify import labelled
from judgec.records.estimate import Estimate
from judgec.records.judgment import Judgments
from judgec.report.numbers import number, statistic_name
from judgec.stats.agreement.measure import Resampling
from judgec.stats.agreement.objective import Objective
from judgec.stats.intervals.bootstrap import Interval, interval

SMALLEST = 25  # labels of the first point; each further point has twice as many
DRAWS = 5  # random subsets of each size
WANTED = 0.05  # half an interval's width that most reports are content with


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The judge with fewer labels.

    Args:
        labels: Labelled train items asked for; a subset holds whole queries, at least this many items.
        values: The objective on the test items, one a random subset.
    """

    labels: int
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the subsets."""
        return float(np.mean(self.values))


@dataclass(frozen=True, slots=True)
class Halving:
    """Number of labels that would halve the interval of the objective on test.

    Args:
        width: Of the interval now.
        test_queries: Queries in test now.
        queries_needed: Queries in test that halve it.
        more_labels: Labelled items to add in all, since only a part of new queries falls into test.
    """

    width: float
    test_queries: int
    queries_needed: int
    more_labels: int


@dataclass(frozen=True, slots=True)
class DetectableDifference:
    """Number of labels that would show a difference of ``WORTH_SHOWING``.

    Args:
        detectable: The smallest difference that the test queries would have shown, or None.
        test_queries: How many these are.
        more_queries: Further labelled queries in all; 0 where it would show already, None where nobody can tell.
        note: Why nobody can tell.
    """

    detectable: float | None
    test_queries: int
    more_queries: int | None
    note: str = ""

    @property
    def sentence(self) -> str:
        """For people, in a line; empty where it would show already: the decision says from which difference on."""
        worth = number(WORTH_SHOWING)
        if self.detectable is None or self.more_queries is None:
            return f"how many more queries would show a difference of {worth} is not known: {self.note}"
        if not self.more_queries:
            return ""
        queries = "query" if self.more_queries == 1 else "queries"
        return f"labels of {self.more_queries:,} more {queries} would show a difference of {worth}"

    def to_json(self) -> dict[str, object]:
        """The report's ``more_queries``."""
        return {
            "difference": WORTH_SHOWING,
            "queries": self.more_queries,
            "test_queries": self.test_queries,
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class IntervalWidth:
    """Number of labels that would bring the interval of a statistic to ``WANTED`` on each side.

    Args:
        statistic: Which.
        half: Half the width of its interval now, or None.
        test_queries: Queries that it was measured on.
        more_queries: Further labelled queries in all; 0 where it is that narrow, None where nobody can tell.
    """

    statistic: str
    half: float | None
    test_queries: int
    more_queries: int | None

    @property
    def sentence(self) -> str:
        """For people, in a line; empty where nobody can tell."""
        wanted = f"±{number(WANTED)}"
        if self.half is None or self.more_queries is None:
            return ""
        name, half = statistic_name(self.statistic), f"±{number(self.half)}"
        if not self.more_queries or half == wanted:
            return f"95 % interval of {name} on the test queries: {wanted} or narrower"
        queries = "query" if self.more_queries == 1 else "queries"
        more = f"labels of about {self.more_queries:,} more {queries} like these"
        return f"95 % interval of {name} on the test queries: {half}; {more} would narrow it to {wanted}"

    def to_json(self) -> dict[str, object]:
        """The report's ``narrower``."""
        return {
            "statistic": self.statistic,
            "half_width": self.half,
            "wanted": WANTED,
            "queries": self.more_queries,
            "test_queries": self.test_queries,
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """Agreement on test by number of labels.

    Args:
        objective: What ``values`` are.
        points: From few labels to all of them; the last has a single value.
        halving: None where the test split gives no interval.
    """

    objective: str
    points: tuple[CurvePoint, ...]
    halving: Halving | None

    def to_json(self) -> dict[str, object]:
        """The report's ``learning_curve``."""
        return {
            "objective": self.objective,
            "points": [
                {"labels": point.labels, "mean": point.mean, "values": list(point.values)} for point in self.points
            ],
            "halve_interval": None if self.halving is None else asdict(self.halving),
        }


@dataclass(frozen=True, slots=True)
class Taught:
    """A round of a compile: its data, its prompt, and the verdicts on its test items; None where no model is asked."""

    bench: Bench
    chosen: Candidate
    raw_test: Judgments | None

    def judged(self, part: Part, raw: Judgments | None) -> Judgments:
        """The test items by a judge that is calibrated on ``part``."""
        judge = fitted(self.bench, self.chosen, part, raw)
        return judge.calibrate(self.bench.dataset.test.items, self.raw_test if judge.asks_lm else None)


def learning_curve(
    rounds: Sequence[Taught],
    pooled: Dataset,
    pool: Callable[[list[Judgments]], Judgments],
    objective: Objective,
    how: Resampling,
) -> LearningCurve:
    """Refit the calibrators on nested random subsets of the train queries; prompts and test stay as they are.

    The verdicts are those that the compile asked for, so no LM call is made. A subset whose labels are all alike
    teaches nothing: its judge gives the shares of the grades.

    Args:
        rounds: Of the compile: one, or one a fold.
        pooled: What they test together.
        pool: Their judgments as one.
        objective: What is measured.
        how: How the interval is made.
    """

    def value(pieces: list[Judgments]) -> float:
        return objective.value(ratings_of(pooled, pooled.test, pool(pieces)))

    data: list[tuple[Part, Judgments | None]] = [
        (learned_part(one.bench), None) if one.bench.no_model else calibration_data(one.bench, one.chosen)
        for one in rounds
    ]
    targets = [one.bench.target(part) for one, (part, _) in zip(rounds, data, strict=True)]
    usable = [
        np.flatnonzero((target >= 0).any(axis=1) & (True if raw is None else raw.scored))
        for target, (_, raw) in zip(targets, data, strict=True)
    ]
    most = min(map(len, usable))
    sizes = []
    size = SMALLEST
    while size < most:
        sizes.append(size)
        size *= 2
    values: dict[int, list[float]] = {size: [] for size in sizes}
    for draw in range(DRAWS):
        pieces: dict[int, list[Judgments]] = {size: [] for size in sizes}
        for one, (part, raw), rows_of in zip(rounds, data, usable, strict=True):
            order = _by_query(part, rows_of, np.random.default_rng([one.bench.seed, draw]))
            for size, rows in nested(order, part, sizes).items():
                subset = part.rows(rows)
                if labelled(subset, one.bench.target(subset)):
                    pieces[size].append(one.judged(subset, None if raw is None else raw.subset(rows)))
        for size, found in pieces.items():
            if len(found) == len(rounds):
                values[size].append(value(found))
    whole = pool([one.judged(part, raw) for one, (part, raw) in zip(rounds, data, strict=True)])
    ratings = ratings_of(pooled, pooled.test, whole)
    points = [CurvePoint(size, tuple(found)) for size, found in values.items() if found]
    points.append(CurvePoint(most, (objective.value(ratings),)))
    now = interval(
        objective.statistic(ratings),
        level=how.level,
        resamples=how.resamples,
        seed=how.seed,
    )
    return LearningCurve(objective.name, tuple(points), halving(now, len(pooled.labels.items), pooled.test.n_queries))


def nested(order: list[int], part: Part, sizes: list[int]) -> dict[int, list[int]]:
    """For each size the first rows of ``order`` up to the end of the query in which the size is reached."""
    subsets: dict[int, list[int]] = {}
    for size in sizes:
        end = size
        while end < len(order) and part.items[order[end]].query_id == part.items[order[end - 1]].query_id:
            end += 1
        subsets[size] = order[:end]
    return subsets


def halving(found: Interval, items: int, test_queries: int) -> Halving | None:
    """Number of test queries that give an interval half as wide, and of labelled items that this takes.

    The standard error falls with the root of the number of queries, Student's quantile with its degrees of freedom.
    New labels are taken to fall into test as the old ones did.

    Args:
        found: The interval now.
        items: Labelled items in all splits.
        test_queries: Queries in test.
    """
    if found.low is None or found.high is None or not found.se or found.n_clusters < 2:
        return None
    tail = (1 - found.level) / 2

    def width(queries: int) -> float:
        return float(student.isf(tail, queries - 1) / np.sqrt(queries))

    needed = found.n_clusters
    while width(needed) > width(found.n_clusters) / 2:
        needed += 1
    more = items * (needed - found.n_clusters) / found.n_clusters
    return Halving(found.high - found.low, test_queries, needed, int(np.ceil(more)))


def detectable_difference(detectable: float | None, dataset: Dataset, note: str = "") -> DetectableDifference:
    """Further labelled queries that would show a difference of ``WORTH_SHOWING`` as surely as one is shown now.

    The standard error falls with the root of the number of test queries, of which new ones are taken to become as
    many as of the old ones.

    Args:
        detectable: The smallest difference that the test split would have shown, from ``detectable_difference``.
        dataset: Labels and split.
        note: Why there is none.
    """
    test = dataset.test.n_queries
    queries = _queries(dataset)
    if detectable is None or not test:
        return DetectableDifference(
            None, test, None, note or "the test queries do not differ enough to tell how far they vary"
        )
    needed = test * (detectable / WORTH_SHOWING) ** 2
    return DetectableDifference(detectable, test, max(0, int(np.ceil((needed - test) * queries / test - 1e-9))))


def interval_width(statistic: str, found: Estimate | None, dataset: Dataset) -> IntervalWidth:
    """Number of further labelled queries that would bring an interval to ``WANTED`` on each side.

    Its width falls with the root of the number of test queries, of which new ones are taken to become as many as of the
    old ones, and to be as hard.

    Args:
        statistic: Its name.
        found: The statistic on test, or None.
        dataset: Labels and split.
    """
    test = dataset.test.n_queries
    if found is None or found.low is None or found.high is None or not test:
        return IntervalWidth(statistic, None, test, None)
    half = (found.high - found.low) / 2
    needed = test * (half / WANTED) ** 2
    share = _queries(dataset) / test
    return IntervalWidth(statistic, half, test, max(0, int(np.ceil((needed - test) * share - 1e-9))))


def _queries(dataset: Dataset) -> int:
    parts = [dataset.train, dataset.dev, dataset.test, *([dataset.reserve] if dataset.reserve else [])]
    return sum(part.n_queries for part in parts)


def _by_query(part: Part, usable: np.ndarray, rng: np.random.Generator) -> list[int]:
    """Usable rows, query after query, the queries in random order."""
    queries: dict[str, list[int]] = {}
    for i in usable:
        queries.setdefault(part.items[i].query_id, []).append(int(i))
    names = sorted(queries)
    return [i for k in rng.permutation(len(names)) for i in queries[names[k]]]
