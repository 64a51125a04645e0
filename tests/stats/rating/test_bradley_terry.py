import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from judgec.records.game import Game, Games
from judgec.records.label import FloatArray
from judgec.stats.rating.bradley_terry import fit_batch, fit_strengths, win_matrix, with_prior


def test_fit_strengths_two_agents_is_the_log_odds() -> None:
    # 7.5 points of 10: the difference is log 3.
    theta = fit_strengths(np.array([[0.0, 7.5], [2.5, 0.0]])).theta
    assert_allclose(theta, [math.log(3) / 2, -math.log(3) / 2], atol=1e-12)


def test_fit_strengths_a_league_built_from_strengths_gives_them_back() -> None:
    truth = np.array([0.9, 0.1, -0.2, -0.8])
    games = np.array([[0, 8, 3, 5], [8, 0, 9, 2], [3, 9, 0, 4], [5, 2, 4, 0]], dtype=float)
    wins = games / (1.0 + np.exp(truth[None, :] - truth[:, None]))
    fit = fit_strengths(wins)
    assert_allclose(fit.theta, truth, atol=1e-10)
    assert fit.prior == 0.0
    assert fit.core.all()


@given(arrays(np.float64, (5, 5), elements=st.integers(0, 40).map(lambda x: x / 2)))
@settings(max_examples=200, deadline=None)
def test_fit_strengths_connected_results_expected_points_equal_points(wins: FloatArray) -> None:
    np.fill_diagonal(wins, 0.0)
    wins += with_prior(np.zeros((5, 5)), 1.0)  # connected, and far from symmetric
    theta = fit_strengths(wins).theta
    expected = (wins + wins.T) / (1.0 + np.exp(theta[None, :] - theta[:, None]))
    np.fill_diagonal(expected, 0.0)
    assert_allclose(expected.sum(axis=1), wins.sum(axis=1), atol=1e-8)


@given(arrays(np.float64, (5, 5), elements=st.sampled_from([0.0, 0.0, 0.0, 0.5, 1.0, 9.0])))
@settings(max_examples=200, deadline=None)
def test_fit_strengths_any_results_order_agrees_with_who_took_points(wins: FloatArray) -> None:
    np.fill_diagonal(wins, 0.0)
    active = (wins + wins.T).any(axis=1)
    wins = wins[np.ix_(active, active)]
    if not len(wins):
        return
    fit = fit_strengths(wins)
    assert np.isfinite(fit.theta).all()
    reach = np.linalg.matrix_power((wins > 0) + np.eye(len(wins)), len(wins)) > 0
    above = reach & ~reach.T
    assert (fit.theta[:, None] > fit.theta[None, :])[above].all()
    assert (fit.prior == 0.0) == bool(reach.all())


@pytest.mark.parametrize("strongest_opponent", [True, False])
@pytest.mark.parametrize("games_of_loser", [1, 2, 50])
def test_agent_that_lost_everything_is_last_however_few_it_played(
    games_of_loser: int, *, strongest_opponent: bool
) -> None:
    # The three others are 30:1 apart, so a weak prior alone would leave the loser of one game above the last.
    wins = np.array([[0, 300, 900, 0], [10, 0, 300, 0], [1, 10, 0, 0], [0, 0, 0, 0]], dtype=float)
    wins[0 if strongest_opponent else 2, 3] = games_of_loser
    fit = fit_strengths(wins)
    assert fit.theta.argmin() == 3
    assert fit.prior > 0
    assert fit.core.tolist() == [True, True, True, False]
    # The others are almost where they are without it.
    assert_allclose(fit.theta[:3], fit_strengths(wins[:3, :3]).theta, atol=0.1)


def test_fit_strengths_groups_that_never_met_are_told_apart() -> None:
    wins = np.zeros((5, 5))
    wins[0, 1], wins[1, 0] = 3, 1
    wins[2, 3], wins[3, 4], wins[4, 2] = 2, 2, 2
    fit = fit_strengths(wins)
    assert len(set(fit.component.tolist())) == 2
    assert fit.component[0] == fit.component[1] != fit.component[2]
    assert fit.core.tolist() == [False, False, True, True, True]


def test_fit_batch_lanes_equal_single_fits_and_only_open_lanes_get_the_prior() -> None:
    rng = np.random.default_rng(0)
    wins = rng.integers(1, 9, size=(4, 3, 3)).astype(float)
    wins[:, range(3), range(3)] = 0.0
    wins[2, 0] = 0.0  # agent 0 takes no point in lane 2
    lanes = fit_batch(wins, np.zeros(3), prior=0.5)
    for lane in (0, 1, 3):
        assert_allclose(lanes[lane], fit_strengths(wins[lane]).theta, atol=1e-9)
    assert_allclose(lanes[2], fit_strengths(with_prior(wins[2], 0.5)).theta, atol=1e-9)


def test_win_matrix_repeated_and_mirrored_rows_count_each_and_unscored_not() -> None:
    games = Games.of(
        [
            Game("1", "x", "y", "a"),
            Game("1", "x", "y", "a"),
            Game("1", "y", "x", "a"),
            Game("2", "y", "x", "tie"),
            Game("3", "x", "y", None, "timeout"),
        ]
    )
    assert win_matrix(games).tolist() == [[0.0, 2.5], [1.5, 0.0]]
