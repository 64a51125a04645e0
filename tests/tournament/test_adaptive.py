from collections import Counter

import numpy as np
import pytest

from judgec.records.game import Games, Pairing
from judgec.records.label import FloatArray
from judgec.tournament import adaptive
from judgec.tournament.adaptive import propose
from judgec.tournament.schedule import Fixtures
from tests.stats.rating.leagues import league


class League:
    """A league whose every result is known beforehand, played as it is asked."""

    def __init__(self, strengths: FloatArray, n_queries: int, seed: int, query_effect: float = 0.0) -> None:
        self.results = league(strengths, n_queries, np.random.default_rng(seed), query_effect=query_effect)
        names = self.results.agents
        self.fixtures = Fixtures.of(dict.fromkeys(self.results.queries, names))
        keys = zip(self.results.query, self.results.a, self.results.b, strict=True)
        self._score = {
            (self.results.queries[q], names[a], names[b]): float(score)
            for (q, a, b), score in zip(keys, self.results.score, strict=True)
        }
        self.rows: list[tuple[int, int, int, float]] = []

    def play(self, pairings: tuple[Pairing, ...], *, unscored: str = "") -> None:
        code = {name: position for position, name in enumerate(self.results.agents)}
        query = {name: position for position, name in enumerate(self.results.queries)}
        for game in pairings:
            a, b = game.agent_a, game.agent_b
            forward = self._score.get((game.query_id, a, b))
            score = 1.0 - self._score[game.query_id, b, a] if forward is None else forward
            if unscored in (a, b):
                score = float("nan")
            self.rows.append((code[a], code[b], query[game.query_id], score))

    @property
    def games(self) -> Games:
        a, b, query, score = np.array(self.rows).reshape(-1, 4).T
        known = self.results
        return Games(known.agents, known.queries, a.astype(int), b.astype(int), query.astype(int), score)

    def play_on(self, most: int = 10**9) -> None:
        while len(self.rows) < most and (pairings := propose(self.fixtures, self.games)):
            self.play(pairings)


CLEAR = np.array([-1.5, 0.0, 1.5, 0.7])


def test_propose_games_are_all_different_and_go_where_the_order_is_unsure() -> None:
    tournament = League(np.array([-2.0, 0.05, 0.0, 2.0]), 300, seed=1)
    tournament.play_on(most=600)
    games = tournament.games
    low, high = np.minimum(games.a, games.b), np.maximum(games.a, games.b)
    assert len(set(zip(games.query.tolist(), low.tolist(), high.tolist(), strict=True))) == len(games.a)
    met = Counter(zip(low.tolist(), high.tolist(), strict=True))
    assert met[1, 2] > 0.4 * len(games.a)  # one pair of six, the only close one
    assert np.ptp(np.bincount(games.query, minlength=300)) <= 2  # spread over queries


def test_propose_same_games_same_proposal_so_that_a_tournament_resumes() -> None:
    whole, broken = League(CLEAR, 40, seed=5), League(CLEAR, 40, seed=5)
    whole.play_on(most=100)
    broken.play_on(most=40)
    broken.play_on(most=100)  # a new process: only the games survived
    assert broken.rows == whole.rows


def test_propose_unscored_games_are_not_played_again_and_count_for_nobody() -> None:
    tournament = League(CLEAR, 20, seed=6)
    while pairings := propose(tournament.fixtures, tournament.games):
        tournament.play(pairings, unscored="agent 01")
    assert len(tournament.rows) == 120
    assert len({tuple(sorted(row[:2])) + row[2:3] for row in tournament.rows}) == 120


def test_propose_a_new_agent_gets_the_next_games() -> None:
    tournament = League(CLEAR, 300, seed=7)
    tournament.play_on()
    names = tournament.results.agents
    seventh = Fixtures.of({query: [*names, "newcomer"] for query in tournament.results.queries})
    following = propose(seventh, tournament.games)
    assert following
    assert all("newcomer" in (game.agent_a, game.agent_b) for game in following)


def test_propose_among_many_agents_chooses_several_games_at_once() -> None:
    rng = np.random.default_rng(0)
    agents, queries = tuple(f"agent {number:03d}" for number in range(200)), ("q0", "q1", "q2", "q3")
    fixtures = Fixtures.of(dict.fromkeys(queries, agents))
    strength = rng.normal(size=200)
    a, step, query = rng.integers(200, size=2000), rng.integers(1, 200, size=2000), rng.integers(4, size=2000)
    b = (a + step) % 200
    won = rng.random(2000) < 1.0 / (1.0 + np.exp(strength[b] - strength[a]))
    found = propose(fixtures, Games(agents, queries, a, b, query, won.astype(float)), batch=60)
    games = {(one.query_id, *sorted((one.agent_a, one.agent_b))) for one in found}
    played = {(queries[q], *sorted((agents[i], agents[j]))) for q, i, j in zip(query, a, b, strict=True)}
    assert len(games) == 60
    assert not games & played


def test_propose_several_games_at_once_are_mostly_those_of_one_after_the_other() -> None:
    rng = np.random.default_rng(3)
    games = league(rng.normal(size=12), 3, rng)
    fixtures = Fixtures.of(dict.fromkeys((f"q{number}" for number in range(9)), games.agents))
    apart = [propose(fixtures, games, batch=12, seed=seed) for seed in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive, "AT_ONCE", 4)
        together = [propose(fixtures, games, batch=12, seed=seed) for seed in range(3)]
    pairs = [
        Counter(tuple(sorted((one.agent_a, one.agent_b))) for batch in batches for one in batch)
        for batches in (apart, together)
    ]
    assert (pairs[0] & pairs[1]).total() >= 0.7 * pairs[0].total()
