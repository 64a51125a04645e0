import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from numpy.testing import assert_allclose

from judgec.errors import UserError
from judgec.records.game import Game, Games, Winner
from judgec.stats.rating.bradley_terry import ELO_PER_LOGIT, fit_strengths
from judgec.stats.rating.ratings import bradley_terry
from tests.stats.known import known
from tests.stats.rating.leagues import any_games, league, mirrored, renamed


def _duel(points: str, **more: str) -> Games:
    """One game of x (first) and y a query, by the letters of the winners; ``more`` adds other pairs."""
    words: dict[str, Winner | None] = {"a": "a", "b": "b", "t": "tie", "-": None}
    rows = [Game(f"q{i}", "x", "y", words[letter]) for i, letter in enumerate(points)]
    for pair, letters in more.items():
        rows += [Game(f"q{i}", pair[0], pair[1], words[letter]) for i, letter in enumerate(letters)]
    return Games.of(rows)


def test_bradley_terry_three_to_one_is_the_log_odds_in_elo_points() -> None:
    ratings = bradley_terry(_duel("aaab" * 5))
    # 400 log10(3) = 190.85 apart, 1000 in the middle.
    assert_allclose(ratings.rating, [1000 + 95.4243, 1000 - 95.4243], atol=1e-3)
    difference = ratings.difference("x", "y")
    assert difference.value == pytest.approx(190.8485, abs=1e-3)
    # Resampled wins are binomial(20, 3/4); t(19) at .975 is 2.093, times sqrt(20/19) 2.147: tails .0159.
    # P(wins <= 10) = .0139 and P(wins <= 11) = .0409; P(wins <= 18) = .9757 and P(wins <= 19) = .9968.
    assert difference.low == pytest.approx(400 * math.log10(11 / 9))
    assert difference.high == pytest.approx(400 * math.log10(19 / 1))
    assert (difference.n, difference.n_clusters) == (20, 20)


def test_bradley_terry_games_repeated_within_queries_do_not_narrow_the_interval() -> None:
    once = _duel("aaabtabaab" * 3)
    rows = np.tile(np.arange(len(once.a)), 9)
    often = Games(once.agents, once.queries, once.a[rows], once.b[rows], once.query[rows], once.score[rows])
    one, nine = bradley_terry(once), bradley_terry(often)
    assert_allclose(nine.rating, one.rating, atol=1e-8)
    assert_allclose(nine.high - nine.low, one.high - one.low, rtol=0.02)
    assert nine.n_games == 9 * one.n_games
    assert nine.n_queries == one.n_queries


_AT_THE_EDGE = Games(  # a result that counts as half a decisive one, but for the rounding of a rating
    ("a", "b", "c"),
    tuple("01234"),
    np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 2]),
    np.array([2, 2, 2, 2, 2, 0, 0, 0, 1, 1]),
    np.array([0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
    np.array([0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
)


@given(any_games())
@example(_AT_THE_EDGE)
@settings(max_examples=60, deadline=None)
def test_bradley_terry_sides_and_names_swapped_mirrors_ratings(games: Games) -> None:
    if not games.scored.any():
        return
    plain = bradley_terry(games, resamples=20)
    assert_allclose(bradley_terry(mirrored(games), resamples=20).high, plain.high, atol=1e-6)
    assert_allclose(bradley_terry(renamed(games), resamples=20).rating, plain.rating[::-1], atol=1e-6)
    assert_allclose(bradley_terry(renamed(games), resamples=20).low, plain.low[::-1], atol=1e-6)


def test_bradley_terry_unscored_games_change_nothing() -> None:
    games = _duel("aabt", xz="abb", yz="ab")
    unscored = _duel("aabt----", xz="abb-", yz="ab--")
    with_them = bradley_terry(unscored)
    assert_allclose(with_them.rating, bradley_terry(games).rating, atol=1e-9)
    assert with_them.n_games == 9
    assert with_them.n_queries == 4


def test_bradley_terry_agent_without_a_scored_game_has_no_rating() -> None:
    ratings = bradley_terry(_duel("aabt", xz="--"))
    assert np.isnan(ratings.rating).tolist() == [False, False, True]
    assert any(note.endswith(": z.") for note in ratings.notes)
    assert ratings.difference("x", "z").value is None


def test_bradley_terry_an_agent_that_lost_everything_has_the_sign_test_bound_and_says_so() -> None:
    # z loses to x and y on each of 8 queries; x and y are exactly equal.
    ratings = bradley_terry(_duel("abababab", xz="aaaaaaaa", yz="aaaaaaaa"))
    z = ratings.agents.index("z")
    assert ratings.rating.argmin() == z
    assert math.isnan(ratings.low[z])
    # Each query counts once: (1 - p)^8 = .025 with p the chance of a point.
    p = 1.0 - 0.025 ** (1 / 8)
    assert ratings.high[z] == pytest.approx(1000 + ELO_PER_LOGIT * math.log(p / (1 - p)), abs=1e-3)
    assert any("z lost all" in note and "(16)" in note and "no lower bound" in note for note in ratings.notes)
    found = ratings.difference("x", "z")
    assert known(found.low) == pytest.approx(ELO_PER_LOGIT * math.log((1 - p) / p))  # eight wins of eight
    assert found.high is None
    turned = ratings.difference("z", "x")
    assert (turned.low, turned.high) == (None, -known(found.low))


def test_bradley_terry_difference_without_a_common_game_has_no_bound() -> None:
    rows = [("q1", "x", "y"), ("q2", "x", "y"), ("q3", "v", "w"), ("q4", "v", "w"), ("q4", "v", "w")]
    ratings = bradley_terry(Games.of([Game(query, a, b, "a") for query, a, b in rows]))
    assert (ratings.difference("x", "w").low, ratings.difference("x", "w").high) == (None, None)
    # Two games of one query count once: winning q3 and q4 has probability p^2 = .025.
    assert ratings.difference("v", "w").low == pytest.approx(ELO_PER_LOGIT * math.log(0.025**0.5 / (1 - 0.025**0.5)))


def test_bradley_terry_an_agent_that_won_everything_mirrors_one_that_lost_everything() -> None:
    lost = bradley_terry(_duel("abababab", xz="aaaaaaaa", yz="aaaaaaaa"))
    won = bradley_terry(_duel("abababab", xz="bbbbbbbb", yz="bbbbbbbb"))
    z = lost.agents.index("z")
    assert won.low[z] - 1000 == pytest.approx(1000 - lost.high[z])
    assert math.isnan(won.high[z])
    assert any("no upper bound" in note for note in won.notes)


def test_bradley_terry_one_query_has_ratings_and_no_interval() -> None:
    games = Games.of([Game("q", "x", "y", "a"), Game("q", "x", "y", "b"), Game("q", "x", "y", "tie")])
    ratings = bradley_terry(games)
    assert ratings.rating.tolist() == [1000.0, 1000.0]
    assert np.isnan(ratings.low).all()
    assert "one query" in ratings.notes[0]
    assert "two queries" in ratings.difference("x", "y").note


def test_bradley_terry_same_seed_repeats() -> None:
    games = league(np.array([0.4, 0.0, -0.4]), 15, np.random.default_rng(0))
    assert np.array_equal(bradley_terry(games, seed=3).low, bradley_terry(games, seed=3).low)
    assert not np.array_equal(bradley_terry(games, seed=3).low, bradley_terry(games, seed=4).low)


def test_bradley_terry_resamples_in_several_chunks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    games = league(np.array([0.4, 0.0, -0.4]), 15, np.random.default_rng(0))
    whole = bradley_terry(games, resamples=50).resampled
    monkeypatch.setattr("judgec.stats.rating.ratings.LANE_FLOATS", 500)
    assert_allclose(bradley_terry(games, resamples=50).resampled, whole, atol=1e-9)


def test_bradley_terry_ties_alone_leave_a_width_that_shrinks_with_queries() -> None:
    few, many = bradley_terry(_duel("t" * 25)), bradley_terry(_duel("t" * 100))
    assert few.rating.tolist() == [1000.0, 1000.0]
    difference = few.difference("x", "y")
    # With two queries won and two lost the mean result has the variance 4 / 29^2; t(24) at .975 is 2.064; a result
    # of y moves the difference by 2 y logits: 2 * 173.72 * 2.064 * 2 / 29.
    assert difference.value == 0.0
    assert difference.high == pytest.approx(2 * ELO_PER_LOGIT * 2.0639 * 2 / 29, rel=1e-4)
    assert difference.low == pytest.approx(-(difference.high or 0))
    assert few.high[0] - 1000 == pytest.approx((difference.high or 0) / 2)  # the mean of two moves half as far
    assert 0 < (many.difference("x", "y").high or 0) < 30
    assert -(few.difference("x", "y").low or 0) > 30


def test_bradley_terry_ties_leave_a_width_whoever_else_plays() -> None:
    # x and y tie with each other and share the points against w; z loses to all.
    games = _duel("t" * 30, xw="ab" * 15, yw="ab" * 15, xz="a" * 30, yz="a" * 30, wz="a" * 30)
    difference = bradley_terry(games).difference("x", "y")
    assert difference.value == pytest.approx(0.0, abs=1e-9)
    assert -100 < known(difference.low) < -30
    alone = bradley_terry(_duel("t" * 30, xz="a" * 30, yz="a" * 30)).difference("x", "y")
    assert -100 < known(alone.low) < -30


def test_bradley_terry_agents_without_a_common_query_are_compared_over_others_without_the_prior() -> None:
    rows = [Game(f"q{i}", "x", "z", "a" if i % 3 else "b") for i in range(30)]
    rows += [Game(f"r{i}", "y", "z", "a" if i % 3 else "b") for i in range(30)]
    assert bradley_terry(Games.of(rows)).unseen.max() == 0.0


def test_bradley_terry_prior_fades_and_moves_no_rating() -> None:
    # One point given away among ties, in either order; ratings are those of maximum likelihood: log odds of 12/13.
    one = bradley_terry(_duel("b" + "t" * 24))
    assert one.rating[0] - one.rating[1] == pytest.approx(ELO_PER_LOGIT * math.log(12 / 13), abs=1e-9)
    assert (one.difference("x", "y").high or 0) > 0
    assert one.unseen[0, 1] > 0
    assert one.unseen[0, 1] == one.unseen[1, 0]
    assert (bradley_terry(_duel("ab" * 11 + "t" * 30)).unseen == 0).all()


LOST = (1.0, 0.75, 0.5)  # share of them that the weak agent loses
FLIPS = 0.1


def few_decisive(rng: np.random.Generator, queries: int, agents: int, decisive: float, lost: float) -> Games:
    """Every query is a cluster: the weak agent 0 loses to all others there, or (a share of the decisive queries) wins
    against all, else everybody ties, in one query of ten by winning one order and losing the other."""
    pairs = [pair for a, b in combinations(range(agents), 2) for pair in ((a, b), (b, a))]
    first, second = np.array(pairs).T
    result = np.where(rng.random(queries) < decisive / queries, np.where(rng.random(queries) < lost, 0.0, 1.0), 0.5)
    score = np.full((queries, len(pairs)), 0.5)
    score[:, first == 0] = result[:, None]
    score[:, second == 0] = 1.0 - result[:, None]
    score[(result == 0.5) & (rng.random(queries) < FLIPS)] = 1.0  # whoever stands first wins: both orders cancel
    names, query = tuple(f"agent{i}" for i in range(agents)), np.repeat(np.arange(queries), len(pairs))
    a, b = np.tile(first, queries), np.tile(second, queries)
    return Games(names, tuple(map(str, range(queries))), a, b, query, score.ravel())


def truth(queries: int, agents: int, decisive: float, lost: float) -> float:
    """Agent 0 less agent 1 in infinitely many such queries, in Elo points."""
    wins = np.full((agents, agents), 0.5)
    wins[0, 1:] = 0.5 - decisive / queries * (lost - 0.5)
    wins[1:, 0] = 1.0 - wins[0, 1:]
    np.fill_diagonal(wins, 0.0)
    theta = fit_strengths(wins).theta
    return ELO_PER_LOGIT * float(theta[0] - theta[1])


def missed(
    leagues: int, *, queries: int, agents: int, decisive: float, lost: float, seed: int = 0
) -> tuple[float, float, float]:
    """Share of 95 % intervals that lie above the truth, and below it; their mean width."""
    rng, true = np.random.default_rng(seed), truth(queries, agents, decisive, lost)
    bounds = np.empty((leagues, 2))
    for run in range(leagues):
        games = few_decisive(rng, queries, agents, decisive, lost)
        found = bradley_terry(games, resamples=400, seed=run).difference("agent0", "agent1")
        bounds[run] = [-np.inf if found.low is None else found.low, np.inf if found.high is None else found.high]
    too_high, too_low = (bounds[:, 0] > true + 1e-9).mean(), (bounds[:, 1] < true - 1e-9).mean()
    return float(too_high), float(too_low), float(np.subtract(bounds[:, 1], bounds[:, 0]).mean())


@pytest.mark.parametrize("decisive", [0.0, 1.0, 3.0, 10.0])
def test_bradley_terry_intervals_cover_at_few_decisive_games(decisive: float) -> None:
    high, low, _ = missed(120, queries=25, agents=2, decisive=decisive, lost=1.0)
    assert high + low <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 120)
    assert high <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / 120)  # these would open a gate at the truth


def test_more_agents_than_are_rated_together_are_refused() -> None:
    chain = [Game(f"q{n % 3}", f"a{n}", f"a{n + 1}", "a") for n in range(200)]
    assert len(bradley_terry(Games.of(chain[:-1]), resamples=2).rating) == 200
    with pytest.raises(UserError, match="201 agents: at most 200"):
        bradley_terry(Games.of(chain), resamples=2)


@pytest.mark.parametrize(
    ("agents", "decisive", "lost"),
    [
        pytest.param(
            *case, marks=pytest.mark.full if case[1:] in {(0.0, LOST[0]), (10.0, LOST[-1])} else pytest.mark.soak
        )
        for case in product([2, 4], [0.0, 1.0, 3.0, 10.0], LOST)
    ],
)
def test_intervals_cover_at_few_decisive_games_of_many_leagues(agents: int, decisive: float, lost: float) -> None:
    high, low, _ = missed(1000, queries=50, agents=agents, decisive=decisive, lost=lost)
    assert high + low <= 0.07
    assert high <= 0.04


@pytest.mark.full
@pytest.mark.parametrize("n_queries", [12, 50])
def test_bradley_terry_intervals_cover_the_truth_with_query_effects(n_queries: int) -> None:
    # An agent's form varies by query, so games of a query are dependent; the rating that the intervals are
    # for is the fit to infinitely many queries.
    strengths = np.array([0.8, 0.3, 0.1, -0.4, -0.8])
    everything = league(strengths, 40_000, np.random.default_rng(99), query_effect=0.8)
    truth = bradley_terry(everything, resamples=0).rating
    rng = np.random.default_rng(7)
    hits, ignoring_queries, leagues = 0, 0, 400
    for run in range(leagues):
        games = league(strengths, n_queries, rng, query_effect=0.8)
        ratings = bradley_terry(games, resamples=500, seed=run)
        hits += int(((ratings.low <= truth) & (truth <= ratings.high)).sum())
        each = np.arange(len(games.a))
        single = Games(games.agents, tuple(map(str, each)), games.a, games.b, each, games.score)
        naive = bradley_terry(single, resamples=500, seed=run)
        ignoring_queries += int(((naive.low <= truth) & (truth <= naive.high)).sum())
    coverage, naive_coverage = hits / (5 * leagues), ignoring_queries / (5 * leagues)
    assert 0.93 <= coverage <= 0.975
    assert naive_coverage < coverage - 0.02
