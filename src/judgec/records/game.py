"""Games between agents: one comparison of two answers to one query, in one presentation order."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from judgec.records.label import FloatArray, IntArray

Winner = Literal["a", "b", "tie"]
SCORE_OF_A: dict[Winner | None, float] = {"a": 1.0, "tie": 0.5, "b": 0.0, None: float("nan")}


@dataclass(frozen=True, slots=True)
class Pairing:
    """A game to be played: two agents' answers to one query, ``agent_a`` shown first."""

    query_id: str
    agent_a: str
    agent_b: str


@dataclass(frozen=True, slots=True)
class Game:
    """A game that was played, or tried.

    Args:
        query_id: The query that both answers answer.
        agent_a: The agent whose answer was shown first.
        agent_b: The other one.
        winner: ``a``, ``b`` or ``tie``; None when the judge gave no verdict.
        unscored: Why there is no verdict, or empty.
    """

    query_id: str
    agent_a: str
    agent_b: str
    winner: Winner | None
    unscored: str = ""


@dataclass(frozen=True, slots=True)
class Games:
    """Many games as columns; row g is one game, repeated rows are games of their own.

    Args:
        agents: Agent names, sorted.
        queries: Query ids, in order of appearance.
        a: Code of the agent shown first, shape (n_games,), values 0..n_agents-1.
        b: Code of the other agent, same shape, never equal to ``a``.
        query: Code of the query, same shape.
        score: Points of ``a``: 1 win, 0.5 tie, 0 loss, NaN unscored; same shape.
        alone: Nobody said which games are of one query: each counts as one of its own.
    """

    agents: tuple[str, ...]
    queries: tuple[str, ...]
    a: IntArray
    b: IntArray
    query: IntArray
    score: FloatArray
    alone: bool = False

    @classmethod
    def of(cls, games: Iterable[Game], agents: Iterable[str] = ()) -> Self:
        """Columns from single games; ``agents`` adds agents that may have played none."""
        rows = tuple(games)
        names = sorted({*agents, *(name for game in rows for name in (game.agent_a, game.agent_b))})
        code = {name: position for position, name in enumerate(names)}
        query: dict[str, int] = {}
        return cls(
            agents=tuple(names),
            a=np.array([code[game.agent_a] for game in rows], dtype=np.int64),
            b=np.array([code[game.agent_b] for game in rows], dtype=np.int64),
            query=np.array([query.setdefault(game.query_id, len(query)) for game in rows], dtype=np.int64),
            score=np.array([SCORE_OF_A[game.winner] for game in rows], dtype=np.float64),
            queries=tuple(query),
        )

    @property
    def scored(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """True where the judge gave a verdict, shape (n_games,)."""
        mask: np.ndarray[tuple[int], np.dtype[np.bool_]] = ~np.isnan(self.score)
        return mask

    def only(self, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Self:
        """The games where ``mask`` is True; agents and queries keep their codes."""
        return type(self)(
            self.agents, self.queries, self.a[mask], self.b[mask], self.query[mask], self.score[mask], self.alone
        )
