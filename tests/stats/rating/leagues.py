"""Simulated leagues: agents of known strength meet on every query."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from judgec.records.game import Games
from judgec.records.label import FloatArray


def league(
    strengths: FloatArray, n_queries: int, rng: np.random.Generator, *, tie: float = 0.2, query_effect: float = 0.0
) -> Games:
    """Every pair meets once on every query; ``query_effect`` is the spread of an agent's form on a query."""
    n = len(strengths)
    pairs = np.array(list(combinations(range(n), 2)))
    form = strengths + query_effect * rng.standard_normal((n_queries, n))
    query = np.repeat(np.arange(n_queries), len(pairs))
    a, b = np.tile(pairs.T, n_queries)
    p = 1.0 / (1.0 + np.exp(form[query, b] - form[query, a]))
    draw = rng.random(len(p))
    tied = tie * 2.0 * np.minimum(p, 1.0 - p)
    score = np.where(draw < p - tied / 2.0, 1.0, np.where(draw < p + tied / 2.0, 0.5, 0.0))
    names = tuple(f"agent {i:02d}" for i in range(n))
    return Games(names, tuple(f"q{i}" for i in range(n_queries)), a, b, query, score)


@st.composite
def any_games(draw: st.DrawFn, max_agents: int = 5, max_games: int = 30) -> Games:
    """Any games at all: separated, disconnected, repeated, unscored."""
    n = draw(st.integers(2, max_agents))
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, n - 1),
                st.integers(1, n - 1),
                st.integers(0, 4),
                st.sampled_from([0.0, 0.5, 1.0, float("nan")]),
            ),
            min_size=1,
            max_size=max_games,
        )
    )
    a = np.array([row[0] for row in rows])
    b = np.array([(row[0] + row[1]) % n for row in rows])
    query = np.array([row[2] for row in rows])
    score = np.array([row[3] for row in rows])
    return Games(tuple("abcdefgh"[:n]), tuple("01234"), a, b, query, score)


def mirrored(games: Games) -> Games:
    """The same games told from the other side."""
    return Games(games.agents, games.queries, games.b, games.a, games.query, 1.0 - games.score)


def renamed(games: Games) -> Games:
    """The same games with the codes of the agents reversed."""
    last = len(games.agents) - 1
    return Games(games.agents, games.queries, last - games.a, last - games.b, games.query, games.score)
