"""Plans the games to play: all pairs of every query, or a balanced subset."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from judgec.errors import UserError
from judgec.records.counts import plural
from judgec.records.game import Games, Pairing
from judgec.records.label import IntArray

FULL = np.iinfo(np.int64).max // 2  # comes after every pair that may still meet


@dataclass(frozen=True, slots=True)
class Fixtures:
    """The games that could still be played.

    Args:
        agents: Agent names, sorted.
        queries: Query ids.
        open: True where agents i < j both answered query q and have not met there, shape
            (n_queries, n_agents, n_agents).
    """

    agents: tuple[str, ...]
    queries: tuple[str, ...]
    open: NDArray[np.bool_]

    @classmethod
    def of(cls, answers: Mapping[str, Collection[str]]) -> Self:
        """Fixtures from the agents that answered each query (agent names by query id)."""
        agents = tuple(sorted({agent for names in answers.values() for agent in names}))
        code = {agent: position for position, agent in enumerate(agents)}
        answered = np.zeros((len(answers), len(agents)), dtype=bool)
        for row, names in enumerate(answers.values()):
            answered[row, [code[agent] for agent in names]] = True
        both = answered[:, :, None] & answered[:, None, :]
        return cls(agents, tuple(answers), both & np.triu(np.ones((len(agents), len(agents)), dtype=bool), 1))

    def without(self, played: Games) -> Self:
        """The rest after ``played``, scored or not; games of other agents or queries do not matter."""
        query = {name: position for position, name in enumerate(self.queries)}
        agent = {name: position for position, name in enumerate(self.agents)}
        q = np.array([query.get(name, -1) for name in played.queries], dtype=np.int64)[played.query]
        codes = np.array([agent.get(name, -1) for name in played.agents], dtype=np.int64)
        a, b = codes[played.a], codes[played.b]
        known = (q >= 0) & (a >= 0) & (b >= 0)
        left = self.open.copy()
        left[q[known], np.minimum(a, b)[known], np.maximum(a, b)[known]] = False
        return type(self)(self.agents, self.queries, left)

    def all(self) -> tuple[Pairing, ...]:
        """Every open game, query by query; who is shown first alternates over queries and pairs."""
        return tuple(self.pairing(q, i, j, swap=bool((q + i + j) % 2)) for q, i, j in np.argwhere(self.open).tolist())

    def balanced(self, count: int, seed: int = 0) -> tuple[Pairing, ...]:
        """``count`` open games in which pairs, agents and queries appear as evenly as can be; all if fewer.

        Every prefix is balanced too: pairs come in the rounds of a round robin, each on the query least used. Among
        equals, a pair has an order of its own that follows from the seed and the two names: with another agent in
        the tournament, most of the games between the others stay those that were played before.

        Raises:
            UserError: When ``count`` is negative.
        """
        if count < 0:
            raise UserError(f"schedule: {plural(count, 'game')}; 0 or more are valid. Change --games.")
        rng = np.random.default_rng(seed)
        pairs = _round_robin(len(self.agents), rng)
        first, second = pairs.T
        left = self.open.copy()
        remaining = left.sum(axis=0)[first, second]
        count = min(count, int(remaining.sum()))
        use = QueryUse.of(self)
        orders: dict[int, IntArray] = {}
        chosen: list[Pairing] = []
        # Lexicographic: pairs that met least, then agents that played least, then the round robin.
        key = np.where(remaining > 0, np.arange(len(pairs)), FULL)
        of_agent = _pairs_of(pairs, len(self.agents))
        for _ in range(count):
            p = int(key.argmin())
            i, j = int(first[p]), int(second[p])
            if p not in orders:
                orders[p] = _own_order(seed, self.agents[i], self.agents[j], len(self.queries))
            q = use.take(left, i, j, orders[p])
            remaining[p] -= 1
            key[of_agent[i]] += len(pairs)
            key[of_agent[j]] += len(pairs)
            key[p] = key[p] + (4 * count + 4) * len(pairs) if remaining[p] else FULL
            chosen.append(self.pairing(q, i, j, swap=bool(rng.integers(2))))
        return tuple(chosen)

    def pairing(self, query: int, i: int, j: int, *, swap: bool) -> Pairing:
        """The game of agents ``i`` and ``j`` on ``query``, the latter shown first when ``swap``."""
        a, b = (j, i) if swap else (i, j)
        return Pairing(self.queries[query], self.agents[a], self.agents[b])


@dataclass(frozen=True, slots=True)
class QueryUse:
    """Number of times that each query was used, in all and by each agent."""

    total: IntArray
    by_agent: IntArray

    @classmethod
    def of(cls, fixtures: Fixtures, played: IntArray | None = None) -> Self:
        """Counts so far (``played``: games by query and agent)."""
        by_agent = np.zeros((len(fixtures.queries), len(fixtures.agents)), dtype=np.int64)
        if played is not None:
            by_agent += played
        return cls(by_agent.sum(axis=1) // 2, by_agent)

    def take(self, left: NDArray[np.bool_], i: int, j: int, order: IntArray) -> int:
        """Use the query that was used least, then least by the two agents, then first in ``order``."""
        own = self.by_agent[:, i] + self.by_agent[:, j]
        key = (self.total * (2 * own.max(initial=0) + 2) + own) * len(own) + order
        q = int(np.where(left[:, i, j], key, np.iinfo(np.int64).max).argmin())
        left[q, i, j] = False
        self.total[q] += 1
        self.by_agent[q, [i, j]] += 1
        return q


def _own_order(seed: int, agent: str, other: str, queries: int) -> IntArray:
    """The place of each query in a pair's own random order."""
    names = hashlib.sha256("\0".join(sorted((agent, other))).encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(names, dtype=np.uint32)]).permutation(queries)


def _pairs_of(pairs: IntArray, n: int) -> IntArray:
    """Places of the pairs that each agent is in, shape (n_agents, n_agents - 1)."""
    ends = np.concatenate([pairs[:, 0], pairs[:, 1]])
    places: IntArray = (np.argsort(ends, kind="stable") % max(len(pairs), 1)).reshape(n, -1)
    return places


def _round_robin(n: int, rng: np.random.Generator) -> IntArray:
    """All pairs in the rounds of the circle method, agents shuffled, shape (n_pairs, 2)."""
    circle = [int(agent) for agent in rng.permutation(n)] + ([-1] if n % 2 else [])
    pairs = []
    for _ in range(len(circle) - 1):
        half = len(circle) // 2
        pairs += list(zip(circle[:half], reversed(circle[half:]), strict=True))
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return np.sort(np.array([pair for pair in pairs if -1 not in pair], dtype=np.int64).reshape(-1, 2), axis=1)
