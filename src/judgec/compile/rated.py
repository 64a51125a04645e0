"""A candidate that has been asked: its verdicts on train and dev, their worth and their cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from judgec.compile.assemble import Bench, Fitted, fitted, rated_out_of_fold
from judgec.compile.dataset import ratings_of
from judgec.compile.search.candidates import Candidate
from judgec.compile.winner import LEAST, incumbent, winner
from judgec.raters.tree import Node
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.objective import Objective


@dataclass(frozen=True, slots=True)
class RecordedCost:
    """Cost of a candidate's verdicts on train and dev.

    Args:
        calls: How often it, or those that it is made of, were asked.
        asked: About how many items.
        usd: US dollars in all; None where nobody knows.
    """

    calls: float
    asked: int
    usd: float | None

    @property
    def calls_per_item(self) -> float:
        """Calls about an item."""
        return self.calls / max(1, self.asked)

    @property
    def usd_per_1000(self) -> float | None:
        """US dollars for a thousand items."""
        return None if self.usd is None else 1000 * self.usd / max(1, self.asked)


@dataclass(frozen=True, slots=True)
class Rated:
    """A candidate that has been asked about train and dev; not about what its text has seen.

    Args:
        candidate: Who.
        raw: What it says.
        ratings: That beside the experts' labels.
        graded: Its grades out of fold once it is calibrated, without evidence; None where nobody has fitted it.
        bill: Cost of ``raw``; None of a prompt that is asked as the compile goes on.
        judge: Where the compile has no evidence, it calibrated; else it is fitted again, with evidence, if it wins.
    """

    candidate: Candidate
    raw: Judgments = field(repr=False)
    ratings: GradePairs = field(repr=False)
    graded: GradePairs | None = field(default=None, repr=False)
    bill: RecordedCost | None = None
    judge: Fitted | None = field(default=None, repr=False)

    @classmethod
    def of(cls, bench: Bench, candidate: Candidate, raw: Judgments | None = None) -> Self:
        """A candidate with its verdicts, which are asked for unless they are given."""
        raw = bench.raw(candidate, bench.learned) if raw is None else raw
        bill = None if bench.recorded is None else bill_of(bench, bench.rater(candidate))
        return cls(candidate, raw, ratings_of(bench.dataset, bench.learned, raw), bill=bill)

    def calibrated(self, bench: Bench) -> Self:
        """The same with its grades out of fold once it is calibrated."""
        judge = fitted(replace(bench, evidence=None), self.candidate, bench.learned, self.raw)
        graded = rated_out_of_fold(bench, judge, bench.learned, self.raw)
        return replace(self, graded=graded, judge=judge if bench.evidence is None else None)

    @property
    def name(self) -> str:
        """Its name among candidates."""
        return self.candidate.name

    @property
    def items(self) -> int:
        """Labels of items that it was asked about."""
        return int(self.ratings.labelled.sum())

    @property
    def unscored(self) -> int:
        """Number of these that it gave no verdict on."""
        return int((self.ratings.labelled & (self.ratings.judge == UNSCORED)).sum())

    @property
    def usable(self) -> bool:
        """True if it can be compared: labels enough, of two grades at least where it gave a verdict."""
        known = self.ratings.target[self.ratings.judge != UNSCORED]
        return self.items >= LEAST and len(np.unique(known[known >= 0])) > 1


def bill_of(bench: Bench, rater: Node) -> RecordedCost:
    """Cost of those that a rater is made of on train and dev, as it was recorded."""
    recorded = bench.recorded
    assert recorded is not None  # the caller has looked
    ids = [item.item_id for item in bench.learned.items]
    names = [leaf.name for leaf in rater.leaves]
    known = [recorded.cost_of(name, ids) for name in names]
    asked = np.any([recorded.asked(name, ids) for name in names], axis=0)
    calls = sum(recorded.calls_of(name, ids)[0] for name in names)
    return RecordedCost(
        calls, int(asked.sum()), None if None in known else sum(one for one in known if one is not None)
    )


def best_of(raw: Mapping[str, GradePairs], graded: Mapping[str, GradePairs], beside: str, objective: Objective) -> str:
    """The candidate that ships where these are all the items: the best as it is, unless another is clearly better.

    Args:
        raw: Each candidate as it is.
        graded: Of the same candidates, once they are calibrated.
        beside: Whom all are compared with.
        objective: Decides.
    """
    return winner(graded, incumbent(raw, beside, objective), objective)


def median_of(rated: Mapping[str, Rated], bench: Bench) -> str:
    """The candidate whose objective on train is the median, of two the lower: one that nobody has compared."""
    n = len(bench.dataset.train)
    train = {
        name: bench.objective.value(ratings_of(bench.dataset, bench.dataset.train, one.raw.subset(range(n))))
        for name, one in rated.items()
    }
    order = sorted(train, key=lambda name: (train[name], name))
    return order[(len(order) - 1) // 2]
