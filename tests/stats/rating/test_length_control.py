import math

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from judgec.errors import UserError
from judgec.records.game import Game, Games
from judgec.records.label import FloatArray
from judgec.stats.rating.length_control import length_controlled
from judgec.stats.rating.ratings import bradley_terry
from tests.stats.known import bounds, known
from tests.stats.rating.leagues import any_games, league, mirrored


def _biased(effect: float, seed: int, n_queries: int = 400) -> tuple[Games, FloatArray, FloatArray]:
    """A judge that adds ``effect`` logits for a much longer answer; agent 3 is weak and verbose."""
    rng = np.random.default_rng(seed)
    games = league(np.zeros(4), n_queries, rng)
    truth = np.array([0.5, 0.2, -0.1, -0.6])
    length = np.array([100.0, 110.0, 90.0, 300.0])
    longer = (length[games.a] - length[games.b]) + 40.0 * rng.standard_normal(len(games.a))
    logit = truth[games.a] - truth[games.b] + effect * np.tanh(longer / longer.std())
    score = (rng.random(len(logit)) < 1.0 / (1.0 + np.exp(-logit))).astype(float)
    return Games(games.agents, games.queries, games.a, games.b, games.query, score), longer, truth


def test_length_controlled_a_verbose_agent_loses_what_length_gave_it() -> None:
    games, longer, truth = _biased(effect=1.5, seed=1)
    assert bradley_terry(games, resamples=0).rating.argmax() == 3  # raw: the weakest and longest leads
    result = length_controlled(games, longer)
    expected = 1000 + 400 / math.log(10) * truth
    assert ((result.low < expected) & (expected < result.high)).all()
    assert result.rating.argsort().tolist() == [3, 2, 1, 0]
    gain = result.length_effect
    low, high = bounds(gain)
    assert low < 1.5 * 400 / math.log(10) < high


def test_length_controlled_equals_statsmodels_logit_with_clustered_errors() -> None:
    import statsmodels.api as sm

    games, longer, _ = _biased(effect=0.7, seed=2, n_queries=60)
    design = np.zeros((len(games.a), 5))
    rows = np.arange(len(games.a))
    design[rows, games.a] += 1.0
    design[rows, games.b] -= 1.0
    design[:, 4] = np.tanh(longer / longer.std())
    fit = sm.GLM(games.score, design[:, 1:], family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": games.query, "use_correction": False}, tol=1e-12
    )
    result = length_controlled(games, longer)
    scale = 400 / math.log(10)
    assert_allclose(result.rating - result.rating[0], scale * np.append(0.0, fit.params[:3]), atol=1e-6)
    assert result.length_effect.value == pytest.approx(scale * fit.params[3], abs=1e-6)
    from scipy import stats

    half = scale * fit.bse[3] * stats.t.isf(0.025, 59) * math.sqrt(60 / 59)
    assert result.length_effect.high is not None
    assert result.length_effect.value is not None
    assert result.length_effect.high - result.length_effect.value == pytest.approx(half, rel=1e-6)


def test_length_controlled_an_agent_that_lost_everything_stays_finite_and_is_noted() -> None:
    rows = [Game(str(q), "x", "y", "a" if q % 3 else "b") for q in range(12)]
    rows += [Game(str(q), "x", "z", "a") for q in range(4)]
    games = Games.of(rows)
    result = length_controlled(games, np.random.default_rng(0).standard_normal(len(games.a)))
    assert result.rating.argmin() == 2
    assert np.isfinite(result.rating).all()
    assert "weak prior" in result.notes[0]


def test_length_controlled_length_that_explains_everything_stays_finite_and_is_noted() -> None:
    games = Games.of([Game(str(q), "x", "y", "a" if q % 2 else "b") for q in range(10)])
    result = length_controlled(games, np.where(np.arange(10) % 2, 40.0, -30.0))
    assert 200 < known(result.length_effect.value) < 4000
    assert "Length explains" in result.notes[0]


@given(any_games())
@settings(max_examples=40, deadline=None)
def test_length_controlled_sides_swapped_mirrors(games: Games) -> None:
    longer = np.sin(np.arange(len(games.a)) * 7.0) * 50.0
    if not games.scored.any() or np.ptp(longer[games.scored]) == 0.0:
        return
    plain, other = length_controlled(games, longer), length_controlled(mirrored(games), -longer)
    assert_allclose(other.rating, plain.rating, atol=1e-3)
    assert other.notes == plain.notes


@pytest.mark.parametrize("longer", [[1.0], [2.0, 2.0], [1.0, math.nan]])
def test_length_controlled_unusable_lengths_are_refused(longer: list[float]) -> None:
    games = Games.of([Game("1", "x", "y", "a"), Game("2", "x", "y", "b")])
    with pytest.raises(UserError, match="length control"):
        length_controlled(games, np.array(longer))
