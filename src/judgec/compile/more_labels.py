"""Estimates how many more labels would make the measurement sharper."""

from math import ceil

from judgec.compile.dataset import Dataset
from judgec.compile.promote import WORTH_SHOWING
from judgec.records.estimate import Estimate
from judgec.report.numbers import number, statistic_name

WANTED = 0.05  # half an interval's width that most reports are content with
UNTOLD = "the test queries do not differ enough to tell how far they vary"


def more_queries(now: float | None, wanted: float, dataset: Dataset) -> int | None:
    """Further labelled queries that bring what falls with the root of the test queries from ``now`` to ``wanted``.

    Of new queries as many are taken to become test queries as of the old ones, and to be as hard.

    Args:
        now: A smallest difference that would show, or half an interval's width; None where nobody can tell.
        wanted: What it should be.
        dataset: Labels and split.

    Returns:
        None where nobody can tell, 0 where it is that small.
    """
    test = dataset.test.n_queries
    if now is None or not test:
        return None
    queries = sum(part.n_queries for part in (dataset.train, dataset.dev, dataset.test))
    return max(0, ceil((test * (now / wanted) ** 2 - test) * queries / test - 1e-9))


def to_show_a_difference(detectable: float | None, dataset: Dataset, note: str = "") -> dict[str, object]:
    """The report's ``more_queries``: queries that would show a difference worth showing as surely as one is shown now.

    Its sentence is empty where it would show already: the decision says from which difference on.

    Args:
        detectable: The smallest difference that the test queries would have shown, or None.
        dataset: Labels and split.
        note: Why there is none.
    """
    queries, worth = more_queries(detectable, WORTH_SHOWING, dataset), number(WORTH_SHOWING)
    said = f"{_labels(queries)} would show a difference of {worth}" if queries else ""
    if queries is None:
        said = f"how many more queries would show a difference of {worth} is not known: {note or UNTOLD}"
    tested = dataset.test.n_queries
    return {"difference": WORTH_SHOWING, "queries": queries, "test_queries": tested, "sentence": said}


def to_narrow(statistic: str, found: Estimate | None, dataset: Dataset) -> dict[str, object]:
    """The report's ``narrower``: queries that would bring the interval of a statistic to ``WANTED`` on each side.

    Its sentence is empty where nobody can tell.

    Args:
        statistic: Its name.
        found: The statistic on test, or None.
        dataset: Labels and split.
    """
    tested, half = dataset.test.n_queries, None
    if found is not None and found.low is not None and found.high is not None and tested:
        half = (found.high - found.low) / 2
    queries, wanted, said = more_queries(half, WANTED, dataset), f"±{number(WANTED)}", ""
    if queries is not None:
        said = f"95 % interval of {statistic_name(statistic)} on the test queries: "
        few = not queries or f"±{number(half)}" == wanted
        like = f"{_labels(queries, 'about ')} like these would narrow it to {wanted}"
        said += f"{wanted} or narrower" if few else f"±{number(half)}; {like}"
    return {
        "statistic": statistic,
        "half_width": half,
        "wanted": WANTED,
        "queries": queries,
        "test_queries": tested,
        "sentence": said,
    }


def _labels(queries: int, about: str = "") -> str:
    return f"labels of {about}{queries:,} more {'query' if queries == 1 else 'queries'}"
