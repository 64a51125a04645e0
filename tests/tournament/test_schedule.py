from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgec.errors import UserError
from judgec.records.game import Game, Games, Pairing
from judgec.tournament.schedule import Fixtures


def _full(n_agents: int, n_queries: int) -> Fixtures:
    agents = [f"agent{i}" for i in range(n_agents)]
    return Fixtures.of({f"q{q}": agents for q in range(n_queries)})


def _pair(pairing: Pairing) -> tuple[str, str]:
    return (min(pairing.agent_a, pairing.agent_b), max(pairing.agent_a, pairing.agent_b))


def test_all_six_agents_200_queries_is_3000_games_each_once() -> None:
    games = _full(6, 200).all()
    assert len(games) == 3000
    assert len({(game.query_id, _pair(game)) for game in games}) == 3000
    first = Counter(game.agent_a for game in games)
    assert max(first.values()) - min(first.values()) <= 200  # of 500 expected: nobody is always shown first
    assert min(first.values()) >= 400


def test_all_missing_answers_leave_only_the_games_that_can_be_played() -> None:
    fixtures = Fixtures.of({"q1": ["x", "y", "z"], "q2": ["x", "z"], "q3": ["y"]})
    wanted = {("q1", pair) for pair in combinations("xyz", 2)} | {("q2", ("x", "z"))}
    assert {(game.query_id, _pair(game)) for game in fixtures.all()} == wanted


@given(st.integers(2, 9), st.integers(1, 12), st.data())
@settings(max_examples=60, deadline=None)
def test_balanced_is_even_over_pairs_agents_and_queries(n_agents: int, n_queries: int, data: st.DataObject) -> None:
    total = n_queries * n_agents * (n_agents - 1) // 2
    count = data.draw(st.integers(0, total))
    games = _full(n_agents, n_queries).balanced(count, seed=data.draw(st.integers(0, 99)))
    assert len({(game.query_id, _pair(game)) for game in games}) == count
    pairs = Counter(dict.fromkeys(combinations([f"agent{i}" for i in range(n_agents)], 2), 0))
    pairs.update(_pair(game) for game in games)
    agents = Counter(name for game in games for name in (game.agent_a, game.agent_b))
    queries = Counter({f"q{q}": 0 for q in range(n_queries)})
    queries.update(game.query_id for game in games)
    assert max(pairs.values()) - min(pairs.values()) <= 1
    each = [agents[f"agent{i}"] for i in range(n_agents)]
    assert max(each) - min(each) <= (1 if n_agents % 2 == 0 else 2)
    if count <= 0.5 * total:  # later, the games still open decide the query
        assert max(queries.values()) - min(queries.values()) <= 2


def test_balanced_same_seed_repeats_and_a_longer_schedule_begins_with_the_shorter() -> None:
    fixtures = _full(5, 10)
    assert fixtures.balanced(30, seed=4) == fixtures.balanced(30, seed=4)
    assert fixtures.balanced(30, seed=4) != fixtures.balanced(30, seed=5)
    shorter, longer = fixtures.balanced(30, seed=4), fixtures.balanced(60, seed=4)
    assert shorter == longer[:30]


@pytest.mark.parametrize(("n_queries", "count"), [(30, 120), (200, 600)])
def test_balanced_with_a_seventh_agent_keeps_most_games_of_the_others(n_queries: int, count: int) -> None:
    old, new = _full(6, n_queries).balanced(count, 3), _full(7, n_queries).balanced(count, 3)
    seventh = [game for game in new if "agent6" in (game.agent_a, game.agent_b)]
    before = {(game.query_id, _pair(game)) for game in old}
    kept = sum((game.query_id, _pair(game)) in before for game in new)
    assert len(seventh) == pytest.approx(count * 6 / 21, abs=6)
    assert kept >= 0.5 * (count - len(seventh))  # by chance a quarter or less


def test_balanced_more_than_there_are_gives_all_and_negative_is_refused() -> None:
    fixtures = _full(3, 4)
    assert len(fixtures.balanced(999)) == 12
    with pytest.raises(UserError, match="--games"):
        fixtures.balanced(-1)


def test_without_played_and_unscored_games_only_new_ones_are_left() -> None:
    answers = {q: ["x", "y"] for q in ("q1", "q2")}
    played = Games.of([Game("q1", "y", "x", "a"), Game("q2", "x", "y", None), Game("q7", "x", "old", "a")])
    assert Fixtures.of(answers).without(played).all() == ()
    seventh = Fixtures.of({q: [*names, "seventh"] for q, names in answers.items()}).without(played).all()
    assert len(seventh) == 4
    assert all("seventh" in (game.agent_a, game.agent_b) for game in seventh)


def test_balanced_thousands_of_games_of_fifty_agents_is_quick() -> None:
    games = _full(50, 100).balanced(2000)
    each = Counter(name for game in games for name in (game.agent_a, game.agent_b))
    assert max(each.values()) - min(each.values()) <= 1
    assert np.ptp(list(Counter(game.query_id for game in games).values())) == 0
