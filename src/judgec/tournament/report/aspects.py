"""Two agents side by side, aspect by aspect: paired t-test and Wilcoxon's signed-rank test over queries."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from judgec.report.numbers import number
from judgec.stats.intervals.significance import PairedTest, paired_t, wilcoxon
from judgec.tournament.play import Cell, Mark

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class AspectTest:
    """One aspect of two agents' answers to the same queries.

    Args:
        agents: The two, sorted.
        means: Mean score of each, over the queries of which both are scored.
        t: Two-tailed paired t-test of the first minus the second.
        signed_rank: Wilcoxon's signed-rank test of the same.
        queries: How many queries.
    """

    agents: tuple[str, str]
    means: tuple[float, float]
    t: PairedTest
    signed_rank: PairedTest
    queries: int

    def to_json(self) -> dict[str, object]:
        """As JSON-ready data."""
        return {
            "agents": list(self.agents),
            "means": list(self.means),
            "difference": self.means[0] - self.means[1],
            "queries": self.queries,
            "paired_t": {"statistic": self.t.statistic, "p": self.t.p},
            "wilcoxon": {"statistic": self.signed_rank.statistic, "p": self.signed_rank.p},
            "note": self.note,
        }

    @property
    def note(self) -> str:
        """Said where so few queries differ that no result could reach .05."""
        if self.signed_rank.smallest_p > ALPHA:
            smallest = number(self.signed_rank.smallest_p, 3)
            return f"{self.signed_rank.n} queries differ: Wilcoxon's p cannot fall below {smallest}"
        return ""


def aspect_tests(marks: Mapping[Cell, Mark], agents: tuple[str, ...]) -> dict[str, AspectTest]:
    """Paired tests by aspect when exactly two agents play; none for other numbers, or without a common query."""
    if len(agents) != 2:
        return {}
    first, second = agents
    queries = [
        query for query, agent in marks if agent == first and marks[query, first].aspects and _has(marks, query, second)
    ]
    if not queries:
        return {}
    found = {}
    for aspect in marks[queries[0], first].aspects:
        one, other = (np.array([marks[query, agent].aspects[aspect] for query in queries]) for agent in agents)
        means = (float(one.mean()), float(other.mean()))
        found[aspect] = AspectTest((first, second), means, paired_t(one, other), wilcoxon(one, other), len(queries))
    return found


def _has(marks: Mapping[Cell, Mark], query: str, agent: str) -> bool:
    mark = marks.get((query, agent))
    return mark is not None and bool(mark.aspects)
