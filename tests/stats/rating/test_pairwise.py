import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from judgec.records.game import Game, Games, Winner
from judgec.stats.rating.pairwise import Standings, standings
from judgec.stats.rating.ratings import bradley_terry
from tests.stats.rating.leagues import any_games, league, renamed


def _standings(games: Games) -> Standings:
    return standings(games, bradley_terry(games, resamples=400))


def test_standings_clear_league_has_one_rank_and_one_letter_each() -> None:
    result = _standings(league(np.array([-1.0, 1.2, 0.1]), 300, np.random.default_rng(0)))
    assert result.order.tolist() == [1, 2, 0]
    assert result.rank.tolist() == [3, 1, 2]
    assert result.rank_low.tolist() == result.rank_high.tolist() == [3, 1, 2]
    assert result.letters() == ("c", "a", "b")


def test_standings_two_close_agents_share_ranks_and_a_letter() -> None:
    result = _standings(league(np.array([0.0, 0.02, -1.5]), 60, np.random.default_rng(0)))
    assert result.rank_low.tolist() == [1, 1, 3]
    assert result.rank_high.tolist() == [2, 2, 3]
    assert result.letters() == ("a", "a", "b")


def test_standings_overlapping_groups_give_an_agent_both_letters() -> None:
    games = league(np.array([0.3, 0.0, -0.3]), 60, np.random.default_rng(11))
    assert _standings(games).letters() == ("a", "ab", "b")


def test_standings_p_of_two_agents_is_the_t_test_of_the_rating_difference() -> None:
    games = league(np.array([0.3, 0.0, -0.3]), 50, np.random.default_rng(2))
    ratings = bradley_terry(games, resamples=4000)
    result = standings(games, ratings)
    gaps = ratings.resampled[:, 0] - ratings.resampled[:, 2]
    t = abs(ratings.rating[0] - ratings.rating[2]) / gaps.std(ddof=1)
    from scipy import stats

    assert result.p[0, 2] == pytest.approx(2 * stats.t.sf(t, 49))
    # Holm: the smallest of three counts three times.
    assert result.p_holm[0, 2] == pytest.approx(min(1.0, 3 * result.p[0, 2]))


def _lost_all(n: int, per_query: int) -> Games:
    rows: list[Game] = []
    for query in range(n):
        sides: tuple[Winner, Winner] = ("a", "b")
        rows += [Game(str(query), "x", "y", side) for side in sides]  # x and y are exactly equal
        rows += [Game(str(query), name, "z", "a") for name in ("x", "y")[:per_query]]
    return Games.of(rows)


@pytest.mark.parametrize("n", [2, 5, 6, 12])
def test_standings_an_agent_that_lost_everything_gets_the_sign_test(n: int) -> None:
    # One game a query against x, who equals y: under "z equals x" each is a fair coin.
    result = _standings(_lost_all(n, 1))
    assert result.p[0, 2] == pytest.approx(2 * 0.5**n, rel=0.02)


def test_standings_two_lost_games_on_one_query_count_as_one() -> None:
    result = _standings(_lost_all(8, 2))
    # If z equals x, the two took 8 of 24 points from y, and the 8 games between them were coins. The best fit
    # without that has x-y as 16 coins and z losing for certain.
    equal = 8 * math.log(1 / 3) + 16 * math.log(2 / 3) + 8 * math.log(1 / 2)
    assert result.p[0, 2] == pytest.approx(2 * math.exp((equal - 16 * math.log(1 / 2)) / 2), rel=0.01)


def test_standings_agents_that_no_path_of_games_joins_are_ranked_apart() -> None:
    rows = [Game(str(q), "a", "b", "a" if q % 6 else "b") for q in range(40)]
    rows += [Game(str(q), "c", "d", "a" if q % 2 else "b") for q in range(40)]
    result = _standings(Games.of(rows))
    assert np.isnan(result.p[:2, 2:]).all()
    assert result.p_holm[0, 1] < 0.05
    assert result.rank.tolist() == [1, 2, 1, 1]
    assert (result.rank_low.tolist(), result.rank_high.tolist()) == ([1, 2, 1, 1], [1, 2, 2, 2])
    assert result.letters() == ("a", "b", "c", "c")
    ratings = bradley_terry(Games.of(rows))
    assert ratings.component.tolist() == [1, 1, 2, 2]
    alone = bradley_terry(Games.of(rows[:40]))
    assert ratings.rating[:2].tolist() == alone.rating.tolist()
    assert ratings.difference("a", "b") == alone.difference("a", "b")
    across = ratings.difference("a", "c")
    assert (across.value, across.low, across.high) == (None, None, None)
    assert "no path of games" in across.note


def test_standings_agents_that_always_tie_have_p_one_and_share_rank_one() -> None:
    result = _standings(Games.of([Game(str(q), "a", "b", "tie") for q in range(9)]))
    assert result.p[0, 1] == 1.0
    assert result.rank.tolist() == [1, 1]
    assert result.letters() == ("a", "a")


@given(any_games())
@settings(max_examples=60, deadline=None)
def test_standings_any_games_ranks_bracket_and_groups_cover(games: Games) -> None:
    if not games.scored.any():
        return
    ratings = bradley_terry(games, resamples=30)
    result = standings(games, ratings)
    rated = ~np.isnan(ratings.rating)
    assert ((result.rank > 0) == rated).all()
    assert (result.rank_low <= result.rank).all()
    assert (result.rank[rated] <= result.rank_high[rated]).all()
    assert {agent for group in result.groups for agent in group} == set(np.flatnonzero(rated).tolist())
    for group in result.groups:
        assert not (result.p_holm[np.ix_(group, group)] < result.alpha).any()
    other = renamed(games)
    flipped = standings(other, bradley_terry(other, resamples=30))
    assert_allclose(flipped.p[::-1, ::-1], result.p, rtol=1e-4, atol=1e-9)


def test_standings_letters_beyond_z_go_on_with_two() -> None:
    empty = np.zeros((28, 28))
    groups = tuple((agent,) for agent in range(28))
    codes = np.arange(28)
    many = Standings(tuple(map(str, range(28))), codes, codes, codes, codes, empty, empty, groups, 0.05)
    assert many.letters()[25:] == ("z", "aa", "ab")
    overlapping = tuple((agent, agent + 1) for agent in range(27))
    many = replace(many, groups=overlapping)
    assert many.letters()[:2] == ("a", "a-b")
    assert many.letters()[26:] == ("z-aa", "aa")
    assert many.spans()[:2] == (range(1), range(2))


@pytest.mark.full
def test_standings_equal_agents_are_rarely_told_apart() -> None:
    # The chance of any false difference among 5 equal agents, with query effects, stays near 5 %.
    rng = np.random.default_rng(1)
    runs = 400
    false = sum(len(_standings(league(np.zeros(5), 40, rng, query_effect=0.8)).groups) > 1 for _ in range(runs))
    assert false / runs < 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
