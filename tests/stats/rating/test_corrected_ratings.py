"""Corrected ratings: the judge's where people agree, people's where it is useless, and right about a biased judge."""

import numpy as np
import pytest
from scipy.optimize import minimize

from judgec.records.game import Games
from judgec.records.label import FloatArray
from judgec.stats.rating.bradley_terry import ELO_PER_LOGIT, fit_near, win_matrix
from judgec.stats.rating.corrected_ratings import SPREAD, corrected_ratings
from judgec.stats.rating.ratings import MEAN_RATING
from tests.stats.known import bounds
from tests.stats.rating.leagues import league

STRENGTHS = np.array([0.6, 0.2, 0.0, -0.3, -0.5])


def sampled(people: FloatArray, votes: int, seed: int) -> FloatArray:
    """A random sample of people's verdicts; NaN elsewhere."""
    found = np.full(len(people), np.nan)
    kept = np.random.default_rng(seed).choice(len(people), votes, replace=False)
    found[kept] = people[kept]
    return found


def biased(games: Games, bias: FloatArray, seed: int) -> tuple[Games, FloatArray]:
    """A judge's games and people's verdicts: both see the same luck, and each has its own."""
    rng = np.random.default_rng(seed)
    shared = np.array(STRENGTHS)[games.a] - np.array(STRENGTHS)[games.b] + 0.8 * rng.logistic(size=len(games.a))
    people = shared + 0.5 * rng.logistic(size=len(games.a))
    judge = shared + bias[games.a] - bias[games.b] + 0.5 * rng.logistic(size=len(games.a))
    score = (judge > 0).astype(np.float64)
    return Games(games.agents, games.queries, games.a, games.b, games.query, score), (people > 0).astype(np.float64)


def values(games: Games, votes: FloatArray) -> FloatArray:
    return np.array([one.value for one in corrected_ratings(games, votes).corrected], dtype=np.float64)


def test_the_loss_is_minimized_as_a_second_implementation_does() -> None:
    games, people = biased(league(STRENGTHS, 40, np.random.default_rng(0)), np.array([0, 0, 0, 0, 1.0]), 1)
    votes = sampled(people, 120, 2)
    found = corrected_ratings(games, votes)
    known = ~np.isnan(votes)
    w = found.weight
    assert 0.05 < w < 0.95

    def mean_loss(points: FloatArray, rows: FloatArray, theta: FloatArray) -> float:
        gap = theta[games.a[rows]] - theta[games.b[rows]]
        return float(np.mean(np.log1p(np.exp(gap)) - points[rows] * gap))

    def loss(theta: FloatArray) -> float:
        own = mean_loss(votes, known, theta)
        corrected = own + w * (mean_loss(games.score, ~known, theta) - mean_loss(games.score, known, theta))
        return 120 * corrected + 0.5 * float(theta @ theta) / SPREAD**2

    theta = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-9}).x
    expected = MEAN_RATING + ELO_PER_LOGIT * (theta - theta.mean())
    assert [one.value for one in found.corrected] == pytest.approx(expected.tolist(), abs=1e-2)


def test_all_games_decided_by_people_are_their_league() -> None:
    games, people = biased(league(STRENGTHS, 30, np.random.default_rng(3)), np.zeros(5), 4)
    found = corrected_ratings(games, people)
    own = Games(games.agents, games.queries, games.a, games.b, games.query, people)
    expected = MEAN_RATING + ELO_PER_LOGIT * fit_near(win_matrix(own)[None], SPREAD)[0]
    assert [one.value for one in found.corrected] == pytest.approx(expected.tolist())
    assert found.weight == 0.0


def test_a_judge_that_is_always_right_lends_its_games_and_hides_no_error() -> None:
    games, _ = biased(league(STRENGTHS, 60, np.random.default_rng(5)), np.zeros(5), 6)
    found = corrected_ratings(games, sampled(games.score, 80, 7))
    assert found.weight > 0.75  # 520 of 600 games are the judge's alone: .87 is best
    for corrected, alone, error in zip(found.corrected, found.voted, found.error, strict=True):
        assert 0 < np.ptp(bounds(corrected)) < np.ptp(bounds(alone))
        low, high = bounds(error)
        assert low < 0 < high  # 80 right verdicts do not prove that there is no error


def test_a_judge_that_draws_lots_is_left_out() -> None:
    games, people = biased(league(STRENGTHS, 60, np.random.default_rng(8)), np.zeros(5), 9)
    lots = np.random.default_rng(10).integers(0, 2, len(people)).astype(np.float64)
    drawn = Games(games.agents, games.queries, games.a, games.b, games.query, lots)
    assert corrected_ratings(drawn, sampled(people, 150, 11)).weight < 0.15


def test_turning_games_and_renaming_agents_change_nothing() -> None:
    games, people = biased(league(STRENGTHS, 30, np.random.default_rng(12)), np.array([0, 0.5, 0, 0, 0]), 13)
    votes = sampled(people, 60, 14)
    turned = Games(games.agents, games.queries, games.b, games.a, games.query, 1.0 - games.score)
    assert values(turned, 1.0 - votes) == pytest.approx(values(games, votes))
    code = np.array([4, 2, 0, 1, 3])
    moved = Games(games.agents, games.queries, code[games.a], code[games.b], games.query, games.score)
    assert values(moved, votes)[code] == pytest.approx(values(games, votes))


def test_few_votes_on_an_agent_leave_it_without_an_interval() -> None:
    games, people = biased(league(STRENGTHS, 40, np.random.default_rng(15)), np.zeros(5), 16)
    last = (games.a == 4) | (games.b == 4)
    votes = np.where(last, np.nan, sampled(people, 200, 17))
    found = corrected_ratings(games, votes)
    assert found.corrected[4].low is None
    assert "fewer than 5 votes" in found.corrected[4].note
    assert found.corrected[0].low is not None
    assert found.p_holm[0, 4] is None
    few = np.where(games.query < 4, people, np.nan)
    assert "votes on 4 queries" in corrected_ratings(games, few).corrected[0].note


def test_one_sided_votes_have_finite_ratings() -> None:
    games, people = biased(league(STRENGTHS, 40, np.random.default_rng(18)), np.zeros(5), 19)
    swept = np.where(games.a == 0, 1.0, np.where(games.b == 0, 0.0, people))
    found = corrected_ratings(games, sampled(swept, 60, 20))
    assert found.order[0] == 0
    assert all(one.value is not None and abs(one.value - MEAN_RATING) < 1500 for one in found.corrected)


def test_no_vote_is_refused() -> None:
    games = league(STRENGTHS, 5, np.random.default_rng(21))
    with pytest.raises(ValueError, match="no vote"):
        corrected_ratings(games, np.full(len(games.a), np.nan))


@pytest.mark.full
@pytest.mark.parametrize("votes", [50, 200])
def test_a_biased_judge_and_few_votes_are_better_than_either_alone_and_intervals_hold(votes: int) -> None:
    bias = np.array([-0.9, 0.9, -0.9, 0.9, 0.0])
    wide, people = biased(league(STRENGTHS, 20_000, np.random.default_rng(0)), bias, 0)
    whole = Games(wide.agents, wide.queries, wide.a, wide.b, wide.query, people)
    truth = MEAN_RATING + ELO_PER_LOGIT * fit_near(win_matrix(whole)[None], SPREAD)[0]
    errors: dict[str, list[FloatArray]] = {"judge": [], "votes": [], "corrected": []}
    held = []
    for seed in range(1, 201):
        games, people = biased(league(STRENGTHS, 60, np.random.default_rng(seed)), bias, 1000 + seed)
        found = corrected_ratings(games, sampled(people, votes, seed))
        rows = np.array(
            [[one.value, one.low, one.high] for one in found.corrected if one.low is not None], dtype=np.float64
        )
        assert len(rows) == len(truth)
        held.append((rows[:, 1] <= truth) & (truth <= rows[:, 2]))
        errors["corrected"].append(rows[:, 0] - truth)
        errors["votes"].append(np.array([one.value for one in found.voted], dtype=np.float64) - truth)
        errors["judge"].append(MEAN_RATING + ELO_PER_LOGIT * fit_near(win_matrix(games)[None], SPREAD)[0] - truth)
    rmse = {name: float(np.sqrt(np.mean(np.square(found)))) for name, found in errors.items()}
    assert rmse["corrected"] < min(rmse["judge"], rmse["votes"])
    assert 0.93 <= np.mean(held) <= 0.985
