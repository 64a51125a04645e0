import numpy as np
import pytest
from numpy.testing import assert_allclose

from judgec.errors import UserError
from judgec.records.game import Game, Games
from judgec.stats.correction.ppi import ppi_mean
from judgec.stats.rating.prediction_powered import corrected_win_rates
from tests.stats.known import bounds


def _judged(seed: int, n_queries: int, labelled: float) -> tuple[Games, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Experts prefer x in 60 % of games, by query; the judge agrees four times in five and favours y else."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(n_queries), 4)
    taste = np.clip(0.6 + 0.25 * rng.standard_normal(n_queries), 0.0, 1.0)
    truth = (rng.random(len(query)) < taste[query]).astype(float)
    judge = np.where(rng.random(len(query)) < 0.8, truth, 0.0)
    zeros = np.zeros(len(query), dtype=np.int64)
    games = Games(("x", "y"), tuple(map(str, range(n_queries))), zeros, zeros + 1, query, judge)
    return games, np.where(rng.random(len(query)) < labelled, truth, np.nan)


def test_corrected_win_rates_a_judge_biased_against_x_is_put_right() -> None:
    games, expert = _judged(0, 400, 0.4)
    rates = corrected_win_rates(games, expert, random_sample=True)
    assert rates.raw[0].value == pytest.approx(0.6 * 0.8, abs=0.04)
    assert rates.corrected[0].value == pytest.approx(0.6, abs=0.05)
    # Two agents: their points add up to one, raw and corrected.
    assert rates.raw[1].value == pytest.approx(1 - (rates.raw[0].value or 0))
    assert rates.corrected[1].value == pytest.approx(1 - (rates.corrected[0].value or 0))
    assert_allclose(rates.weight[0], rates.weight[1])
    assert 0.3 < rates.weight[0] < 0.9


def test_corrected_win_rates_unscored_games_are_no_losses() -> None:
    rows = [Game(str(q), "x", "y", None if q % 4 == 0 else "a") for q in range(40)]
    games = Games.of(rows)
    expert = np.where(np.arange(40) < 20, 1.0, np.nan)
    rates = corrected_win_rates(games, expert, random_sample=True)
    assert rates.raw[0].value == 1.0
    assert rates.raw[0].n == 30
    assert rates.corrected[0].value == pytest.approx(1.0)


def test_corrected_win_rates_on_a_chosen_sample_are_refused() -> None:
    games, expert = _judged(0, 10, 0.5)
    with pytest.raises(UserError, match="no random sample"):
        corrected_win_rates(games, expert, random_sample=False)


@pytest.mark.full
def test_corrected_win_rates_intervals_cover_and_are_narrower_than_labels_alone() -> None:
    hits, width, width_alone, runs = 0, 0.0, 0.0, 600
    for seed in range(runs):
        games, expert = _judged(seed, 80, 0.3)
        corrected = corrected_win_rates(games, expert, random_sample=True).corrected[0]
        alone = ppi_mean(np.zeros(len(expert)), expert, games.query).estimate
        low, high = bounds(corrected)
        hits += low <= 0.595 <= high  # clipping at 0 and 1 moves the mean of tastes to .595
        width += high - low
        width_alone += np.ptp(bounds(alone))
    assert 0.925 <= hits / runs <= 0.975
    assert width < 0.93 * width_alone
