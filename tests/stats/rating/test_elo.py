from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats

from judgec.errors import UserError
from judgec.records.game import Game, Games
from judgec.stats.rating.elo import _dealt, _tournaments, elo
from tests.stats.rating.leagues import any_games, league, mirrored, renamed


def test_elo_two_games_in_file_order_matches_the_pencil() -> None:
    games = Games.of([Game("q", "x", "y", "a"), Game("q", "y", "x", "tie")])
    # 500/500: x wins, 16 points move. 484 against 516: y is expected 1/(1 + 10^(32/400)) = .454078,
    # so the tie brings it 32 * .045922 = 1.469502.
    result = elo(games, order="file")
    assert_allclose(result.rating, [516 - 1.469502, 484 + 1.469502], atol=1e-6)
    assert np.isnan(result.sd).all()
    assert result.tournaments == 1


def test_elo_compat_two_games_truncates_both_ratings() -> None:
    games = Games.of([Game("q", "x", "y", "a"), Game("q", "y", "x", "tie")])
    # 1016 / 984, then 1014.53 -> 1014 and 985.47 -> 985: one point is lost.
    assert elo(games, order="file", ragelo_compat=True).rating.tolist() == [1014.0, 985.0]


def _ragelo(games: Games, initial: int, k: int) -> list[int]:
    """RAGElo 0.7.0's update, game by game."""
    rating = [initial] * len(games.agents)
    for a, b, score in zip(games.a.tolist(), games.b.tolist(), games.score.tolist(), strict=True):
        expected = 1 / (1 + 10 ** ((rating[b] - rating[a]) / 400))
        rating[a], rating[b] = (
            int(rating[a] + k * (score - expected)),
            int(rating[b] + k * ((1 - score) - (1 - expected))),
        )
    return rating


def test_elo_compat_thousands_of_games_equals_ragelo_exactly() -> None:
    games = league(np.linspace(-1.0, 0.7, 6), 100, np.random.default_rng(3))
    assert elo(games, order="file", ragelo_compat=True).rating.tolist() == _ragelo(games, 1000, 32)


@pytest.mark.parametrize(("n_games", "mean"), [(60, 988), (3000, 404), (30_000, -1)])
def test_elo_compat_equal_agents_drifts_down_as_ragelo_does(n_games: int, mean: int) -> None:
    # Equal agents that never tie; RAGElo loses about half a point per player and game until it reaches zero.
    rng = np.random.default_rng(0)
    a = rng.integers(6, size=n_games)
    b = (a + rng.integers(1, 6, size=n_games)) % 6
    score = rng.integers(2, size=n_games).astype(float)
    games = Games(tuple("abcdef"), ("q",), a, b, np.zeros(n_games, dtype=np.int64), score)
    compat = elo(games, tournaments=20, ragelo_compat=True)
    assert compat.rating.mean() == pytest.approx(mean, abs=110 if n_games == 3000 else 4)
    assert elo(games, tournaments=20).rating.mean() == pytest.approx(500.0)


def test_elo_compat_an_agent_that_lost_everything_can_rank_first_float_elo_ranks_it_last() -> None:
    rng = np.random.default_rng(1)
    sides = [rng.permutation(5)[:2] for _ in range(3000)]
    rows = [Game(f"q{g}", str(a), str(b), "a") for g, (a, b) in enumerate(sides)]
    late = [Game(f"late{g}", str(g % 5), "newcomer", "a") for g in range(8)]
    games = Games.of(rows + late)
    newcomer = games.agents.index("newcomer")
    assert elo(games, order="file", ragelo_compat=True).rating.argmax() == newcomer
    assert elo(games, order="file").rating.argmin() == newcomer


@given(any_games())
@settings(max_examples=60, deadline=None)
def test_elo_any_games_keeps_the_mean_and_gives_nan_to_idle_agents(games: Games) -> None:
    rating = elo(games, tournaments=3).rating
    played = np.isin(np.arange(len(games.agents)), np.concatenate([games.a, games.b])[np.tile(games.scored, 2)])
    assert np.array_equal(~np.isnan(rating), played)
    if played.any():
        assert rating[played].mean() == pytest.approx(500.0)


@given(any_games())
@settings(max_examples=60, deadline=None)
def test_elo_sides_and_names_swapped_mirrors_ratings(games: Games) -> None:
    plain = elo(games, order="file").rating
    assert_allclose(elo(mirrored(games), order="file").rating, plain, atol=1e-9)
    assert_allclose(elo(renamed(games), order="file").rating, plain[::-1], atol=1e-9)


def test_elo_same_seed_repeats_and_another_seed_differs() -> None:
    games = league(np.array([0.5, 0.0, -0.3]), 20, np.random.default_rng(0))
    first, again, other = (elo(games, tournaments=10, seed=seed).rating for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_elo_lanes_in_several_chunks_give_the_same_ratings(monkeypatch: pytest.MonkeyPatch) -> None:
    games = league(np.array([0.5, 0.0, -0.3]), 20, np.random.default_rng(0))
    whole = elo(games, tournaments=7).rating
    monkeypatch.setattr("judgec.stats.rating.elo.MOST_LANES", 3)
    monkeypatch.setattr("judgec.stats.rating.elo.BLOCK", 7)
    assert_allclose(elo(games, tournaments=7).rating, whole, atol=1e-9)


def test_elo_mean_over_many_shuffles_is_bradley_terry_spread_a_little() -> None:
    # research: stationary Elo overspreads Bradley-Terry by about 3 % at K = 32.
    from judgec.stats.rating.ratings import bradley_terry

    games = league(np.linspace(-0.5, 0.5, 5), 200, np.random.default_rng(5))
    slope = np.polyfit(bradley_terry(games, resamples=0).rating, elo(games, tournaments=2000).rating, 1)[0]
    assert 1.0 < slope < 1.07


@pytest.mark.parametrize(
    "options", [{"tournaments": 0}, {"k": 0.0}, {"k": float("nan")}, {"k": float("inf")}, {"initial": float("inf")}]
)
def test_elo_impossible_options_are_refused(options: dict[str, float]) -> None:
    games = Games.of([Game("q", "x", "y", "a")])
    with pytest.raises(UserError, match="--tournaments, --k or --initial"):
        elo(games, **{"tournaments": 5, **options})  # type: ignore[arg-type]  # a number each


@pytest.mark.parametrize("ragelo_compat", [False, True])
def test_elo_of_one_tournament_is_that_of_many_in_the_same_order(*, ragelo_compat: bool) -> None:
    games = league(np.array([0.9, 0.1, -0.2, -0.8]), 50, np.random.default_rng(3))
    alone = elo(games, order="file", ragelo_compat=ragelo_compat).rating
    start = 1000.0 if ragelo_compat else 500.0
    side_by_side = _tournaments(games, 2, 32.0, start, None, truncate=ragelo_compat)
    np.testing.assert_allclose(np.column_stack([alone, alone]), side_by_side, rtol=0, atol=1e-9)


def test_games_dealt_in_hands_come_in_every_order_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done with more games than may be held at once, on four of them, two at a time."""
    monkeypatch.setattr("judgec.stats.rating.elo.BLOCK", 2)
    monkeypatch.setattr("judgec.stats.rating.elo.LANE_BYTES", 1)
    lanes = 24_000
    dealt = list(_dealt(np.array([0, 0, 1, 2], dtype=np.uint16), lanes, np.random.default_rng(0), 4))
    assert [hand.shape for hand in dealt] == [(lanes, 2), (lanes, 2)]
    orders, counts = np.unique(np.hstack(dealt), axis=0, return_counts=True)
    assert len(orders) == 12
    assert stats.chisquare(counts).pvalue > 0.001


def test_games_that_do_not_fit_give_the_same_ratings_as_those_that_do(monkeypatch: pytest.MonkeyPatch) -> None:
    games = league(np.linspace(-1.0, 1.0, 6), 100, np.random.default_rng(3))
    whole = elo(games, tournaments=1000)
    monkeypatch.setattr("judgec.stats.rating.elo.LANE_BYTES", 2**20)  # 524 games at a time
    hands = elo(games, tournaments=1000, seed=1)
    error = np.sqrt((whole.sd**2 + hands.sd**2) / 1000)
    assert np.abs((whole.rating - hands.rating) / error).max() < 4
    assert hands.sd == pytest.approx(whole.sd, rel=0.15)
    assert hands.rating.sum() == pytest.approx(6 * 500)


@pytest.mark.parametrize(("strength", "dealt"), [(1.0, 2400), (40.0, 3000)])
def test_of_very_many_games_only_the_last_are_played(
    monkeypatch: pytest.MonkeyPatch, strength: float, dealt: int
) -> None:
    games = league(np.linspace(-strength, strength, 6), 200, np.random.default_rng(3))
    whole = elo(games, tournaments=400)
    monkeypatch.setattr("judgec.stats.rating.elo.REMEMBERED", 400)
    played: list[int] = []

    def counted(
        code: NDArray[np.unsignedinteger], lanes: int, rng: np.random.Generator, most: int
    ) -> Iterator[NDArray[np.unsignedinteger]]:
        played.append(most)
        return _dealt(code, lanes, rng, most)

    monkeypatch.setattr("judgec.stats.rating.elo._dealt", counted)
    last = elo(games, tournaments=400, seed=1)
    assert played == [2400, 2400, dealt]  # an agent that never loses remembers every game
    error = np.sqrt((whole.sd**2 + last.sd**2) / 400) + 1e-9
    assert np.abs((whole.rating - last.rating) / error).max() < 4
    assert last.rating.sum() == pytest.approx(6 * 500)
