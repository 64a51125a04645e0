"""Agents in pairs, aspect by aspect: paired t-test and Wilcoxon's signed-rank test, of judge and experts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from scipy import stats

from judgec.errors import UserError
from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import shown
from judgec.report.numbers import number, p_value, show
from judgec.stats.intervals.significance import EQUAL_TO, PairedTest, holm, paired_t, wilcoxon

ALPHA = 0.05
MOST_AGENTS = 40  # of which every pair is tested
Grader: TypeAlias = Literal["judge", "experts"]
Scores: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]
"""By query and agent: the score of each aspect, in units of the scale."""


@dataclass(frozen=True, slots=True)
class AspectTest:
    """One aspect of two agents, or of two pools of agents, on the same queries.

    Args:
        grader: Whose scores.
        aspect: What was scored.
        agents: The two.
        pooled: They are pools: a query's score is the mean of the pool's agents.
        means: Mean score of each, over the queries of which all are scored.
        difference: The first minus the second, with the interval of the paired t-test.
        t: Two-tailed paired t-test of the difference.
        signed_rank: Wilcoxon's signed-rank test of the same.
        t_holm: The t-test's p after Holm's correction for the pairs of the aspect; None where it is undefined.
        signed_rank_holm: The same of Wilcoxon's.
    """

    grader: Grader
    aspect: str
    agents: tuple[str, str]
    pooled: bool
    means: tuple[float, float]
    difference: Estimate
    t: PairedTest
    signed_rank: PairedTest
    t_holm: float | None = None
    signed_rank_holm: float | None = None

    @property
    def queries(self) -> int:
        """Number of queries."""
        return self.difference.n_clusters

    @property
    def name(self) -> str:
        """The pair."""
        return " – ".join(self.agents)

    def to_json(self) -> dict[str, object]:
        """As JSON-ready data."""
        return {
            "grader": self.grader,
            "aspect": self.aspect,
            "agents": list(self.agents),
            "pooled": self.pooled,
            "means": list(self.means),
            "difference": self.difference.to_json(),
            "queries": self.queries,
            "paired_t": {"statistic": self.t.statistic, "p": self.t.p, "p_holm": self.t_holm},
            "wilcoxon": {
                "statistic": self.signed_rank.statistic,
                "p": self.signed_rank.p,
                "p_holm": self.signed_rank_holm,
            },
            "note": self.note,
        }

    @property
    def note(self) -> str:
        """Said where so few queries differ that no result could reach .05."""
        if self.signed_rank.smallest_p > ALPHA:
            smallest = number(self.signed_rank.smallest_p, 3)
            return f"{self.signed_rank.n} queries differ: Wilcoxon's p cannot fall below {smallest}"
        return ""


COLUMNS: TableColumns[AspectTest] = TableColumns(
    (
        Column("agents", lambda test: test.name),
        Column("aspect", lambda test: test.aspect, value=lambda test: test.aspect, csv="aspect"),
        Column("grader", lambda test: test.grader, value=lambda test: test.grader, csv="grader"),
        Column(value=lambda test: test.agents[0], csv="agent"),
        Column(value=lambda test: test.agents[1], csv="other"),
        Column("mean", lambda test: number(test.means[0]), value=lambda test: test.means[0], csv="mean"),
        Column("other's", lambda test: number(test.means[1]), value=lambda test: test.means[1], csv="other_mean"),
        Column(
            "difference [95 %]",
            lambda test: show(test.difference, sign=True),
            value=lambda test: test.difference.value,
            csv="difference",
            cell=lambda test: shown(test.difference, sign=True),
        ),
        Column(value=lambda test: test.difference.low, csv="low"),
        Column(value=lambda test: test.difference.high, csv="high"),
        Column("p, t", lambda test: p_value(test.t_holm), value=lambda test: test.t_holm, csv="p_t_holm"),
        Column(value=lambda test: test.t.p, csv="p_t"),
        Column(
            "p, Wilcoxon",
            lambda test: p_value(test.signed_rank_holm),
            value=lambda test: test.signed_rank_holm,
            csv="p_wilcoxon_holm",
        ),
        Column(value=lambda test: test.signed_rank.p, csv="p_wilcoxon"),
        Column("queries", lambda test: str(test.queries), value=lambda test: test.queries, csv="queries"),
        Column("", lambda test: test.note, screen=False),
    )
)
"""The table of tests on screen, page and in CSV; p as shown are after Holm's correction."""


def aspect_tests(
    scores: Scores, sides: Mapping[str, Sequence[str]], *, grader: Grader, pooled: bool = False
) -> tuple[AspectTest, ...]:
    """Paired tests of every two sides, aspect by aspect.

    Queries of which an agent of a pair has no score are left out of that pair; a pair without a common query is absent.
    A query counts once, however many agents a pool has: their answers to one query are no independent sample.

    Args:
        scores: By query and agent.
        sides: The agents of each; one agent, or the agents of a pool.
        grader: Whose scores they are.
        pooled: Whether the sides are pools.

    Source: Rackauckas et al. (2024), RAGElo, where the t-test is on the experts' grades of pooled agents.
    """
    aspects = dict.fromkeys(name for score in scores.values() for name in score)
    queries = list(dict.fromkeys(query for query, _ in scores))
    found: list[AspectTest] = []
    for aspect in aspects:
        values = {side: _by_query(scores, queries, agents, aspect) for side, agents in sides.items()}
        pairs = [
            _tested(grader, aspect, pair, values, pooled=pooled)
            for pair in combinations(sides, 2)
            if not np.isnan(values[pair[0]] - values[pair[1]]).all()
        ]
        found += _corrected(pairs)
    return tuple(found)


def agents_and_pools(
    graders: Mapping[Grader, Scores], agents: Sequence[str], pools: Mapping[str, Sequence[str]]
) -> tuple[AspectTest, ...]:
    """Tests of every two agents, where these are few enough, and of every two pools, by each grader."""
    singles = {agent: (agent,) for agent in agents} if len(agents) <= MOST_AGENTS else {}
    return tuple(
        test
        for grader, scores in graders.items()
        for sides, pooled in ((singles, False), (pools, True))
        for test in aspect_tests(scores, sides, grader=grader, pooled=pooled)
    )


def _by_query(scores: Scores, queries: Sequence[str], agents: Sequence[str], aspect: str) -> FloatArray:
    """Mean of the agents' scores, NaN where one of them has none."""
    rows = [[scores.get((query, agent), {}).get(aspect, np.nan) for agent in agents] for query in queries]
    return np.asarray(np.array(rows, dtype=np.float64).reshape(len(queries), len(agents)).mean(1))


def _tested(
    grader: Grader, aspect: str, pair: tuple[str, str], values: Mapping[str, FloatArray], *, pooled: bool
) -> AspectTest:
    one, other = (values[side] for side in pair)
    both = ~np.isnan(one - other)
    one, other = one[both], other[both]
    means = (float(one.mean()), float(other.mean()))
    return AspectTest(
        grader,
        aspect,
        pair,
        pooled,
        means,
        _difference(np.round(one - other, EQUAL_TO)),
        paired_t(one, other),
        wilcoxon(one, other),
    )


def _difference(gap: FloatArray) -> Estimate:
    value, n = float(gap.mean()), gap.size
    if n < 2 or np.ptp(gap) == 0:
        note = "no interval: one query" if n < 2 else "no interval: the difference is the same on every query"
        return Estimate(value=value, n=n, n_clusters=n, note=note)
    found = stats.ttest_1samp(gap, 0.0).confidence_interval(0.95)
    low, high = float(found.low), float(found.high)
    return Estimate(value=value, low=low, high=high, n=n, n_clusters=n, method="Student's t over queries")


def _corrected(tests: Sequence[AspectTest]) -> list[AspectTest]:
    def adjusted(values: Sequence[float | None]) -> list[float | None]:
        found = holm(np.array([np.nan if p is None else p for p in values], dtype=np.float64))
        return [None if np.isnan(p) else float(p) for p in found]

    by_t, by_rank = adjusted([test.t.p for test in tests]), adjusted([test.signed_rank.p for test in tests])
    found = zip(tests, by_t, by_rank, strict=True)
    return [replace(test, t_holm=t, signed_rank_holm=rank) for test, t, rank in found]


def parse_pools(texts: Sequence[str], agents: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Pools from ``rag=rag-*`` and ``fusion=rag-fusion-*``: their names with their agents, sorted.

    An agent that several patterns match is in the pool of the longest one: ``rag-fusion-*`` says more than ``rag-*``.

    Args:
        texts: NAME=PATTERN each, or several joined by commas; ``*`` and ``?`` stand for any letters and any letter.
        agents: Who plays.

    Raises:
        UserError: Another form, a name twice, fewer than two pools, or a pool without an agent.
    """
    patterns: dict[str, str] = {}
    for text in (part.strip() for joined in texts for part in joined.split(",")):
        name, _, pattern = (part.strip() for part in text.partition("="))
        if not name or not pattern or name in patterns:
            said = "is there twice" if name in patterns else "is not of the form NAME=PATTERN"
            raise UserError(f"--pool {text!r}: {said}; for example --pool rag=rag-*,fusion=rag-fusion-* is valid.")
        patterns[name] = pattern
    if len(patterns) < 2:
        raise UserError(f"--pool {', '.join(texts)}: one pool; two or more are compared. Name another.")
    pools: dict[str, list[str]] = {name: [] for name in patterns}
    for agent in sorted(agents):
        matching = [name for name, pattern in patterns.items() if fnmatchcase(agent, pattern)]
        if matching:
            pools[max(matching, key=lambda name: len(patterns[name]))].append(agent)
    for name, own in pools.items():
        if not own:
            raise UserError(
                f"--pool {name}={patterns[name]}: no agent is in it; agents are {', '.join(sorted(agents))}. "
                "Correct the pattern."
            )
    return {name: tuple(own) for name, own in pools.items()}
