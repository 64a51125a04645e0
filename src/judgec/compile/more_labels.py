"""Estimates how many more labels would make the measurement sharper."""

from dataclasses import dataclass

import numpy as np

from judgec.compile.dataset import Dataset
from judgec.compile.promote import WORTH_SHOWING
from judgec.records.estimate import Estimate
from judgec.report.numbers import number, statistic_name

WANTED = 0.05  # half an interval's width that most reports are content with


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
    return sum(part.n_queries for part in (dataset.train, dataset.dev, dataset.test))
