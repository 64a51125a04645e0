import numpy as np
import pytest
from numpy.testing import assert_allclose

from judgec.records.game import Games
from judgec.records.label import FloatArray
from judgec.stats.rating import ratings
from judgec.stats.rating.bradley_terry import ELO_PER_LOGIT, fit_batch, win_matrix
from judgec.stats.rating.sparse_fit import Meetings
from tests.stats.rating.leagues import league


def _some(games: Games, share: float, rng: np.random.Generator) -> Games:
    return games.only(rng.random(len(games.a)) < share)


def _both(games: Games, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Strengths by pairs and by matrices."""
    n = len(games.agents)
    wins = np.zeros((len(weight), n, n))
    for query in range(weight.shape[1]):
        wins += weight[:, query, None, None] * win_matrix(games.only(games.query == query))
    start = np.zeros(n)
    return Meetings.of(games, np.arange(n), games.query).fit(weight, start, 0.1), fit_batch(wins, start, 0.1)


def test_fit_of_connected_resamples_is_that_of_whole_matrices() -> None:
    rng = np.random.default_rng(0)
    games = _some(league(rng.normal(size=12), 30, rng), 0.5, rng)
    by_pairs, by_matrices = _both(games, rng.multinomial(30, np.full(30, 1 / 30), size=20).astype(np.float64))
    assert_allclose(by_pairs, by_matrices, atol=1e-5)


def test_fit_of_an_agent_that_lost_everything_stays_finite_and_last() -> None:
    rng = np.random.default_rng(1)
    games = _some(league(np.array([*rng.normal(size=11), -40.0]), 20, rng), 0.6, rng)
    by_pairs, by_matrices = _both(games, np.ones((1, 20)))
    assert np.isfinite(by_pairs).all()
    assert by_pairs[0].argmin() == by_matrices[0].argmin() == 11
    # One opponent of mean strength stands for a share of a tied game with each: the others feel little of it.
    gaps = [np.diff(np.sort(found[0])[1:]) for found in (by_pairs, by_matrices)]
    assert_allclose(gaps[0], gaps[1], atol=0.02)


def test_ratings_of_many_agents_have_the_intervals_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    games = _some(league(rng.normal(size=15), 25, rng), 0.4, rng)
    few = ratings.bradley_terry(games, resamples=50)
    monkeypatch.setattr(ratings, "MOST_DENSE", 10)
    many = ratings.bradley_terry(games, resamples=50)
    assert_allclose(many.rating, few.rating)
    assert_allclose(many.resampled, few.resampled, atol=1e-3 * ELO_PER_LOGIT)
    assert_allclose(many.low, few.low, atol=0.5)
