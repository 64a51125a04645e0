import numpy as np
import pytest

from judgec.errors import InputError, UserError
from judgec.records.counts import plural
from judgec.records.game import Game, Games, Winner
from judgec.records.label import FloatArray
from judgec.stats.rating.expert_sample import expert_points, require_random, sample_order
from tests.stats.rating.leagues import league

GAMES = league(np.array([0.8, 0.0, -0.8]), 40, np.random.default_rng(0))


def turned(games: Games) -> Games:
    """The same games with the other agent named first."""
    return Games(games.agents, games.queries, games.b, games.a, games.query, 1.0 - games.score)


def labelled(rows: list[tuple[str, str, str, Winner | None]]) -> Games:
    return Games.of(Game(*row) for row in rows)


def first(n: int) -> FloatArray:
    expert = np.full(len(GAMES.a), np.nan)
    expert[sample_order(GAMES)[:n]] = 1.0
    return expert


def test_sample_order_is_a_fixed_permutation_whoever_is_named_first_and_spreads_over_pairs_and_queries() -> None:
    order = sample_order(GAMES)
    assert sorted(order) == list(range(120))
    assert sample_order(turned(GAMES)).tolist() == order.tolist()
    half = order[:60]
    pairs = np.bincount(3 * GAMES.a[half] + GAMES.b[half], minlength=9)
    assert pairs[[1, 2, 5]].min() >= 12
    assert len(np.unique(GAMES.query[half])) > 28


def test_expert_points_follow_the_game_whoever_the_expert_names_first_and_average_experts() -> None:
    games = labelled([("q", "x", "y", "a"), ("q", "y", "z", "b"), ("p", "x", "y", "tie")])
    rows = [
        ("q", "y", "x", "a"),
        ("q", "x", "y", "tie"),
        ("q", "y", "z", "a"),
        ("p", "x", "y", None),
        ("p", "x", "z", "a"),
    ]
    said = labelled(rows)  # type: ignore[arg-type]  # words of winners
    # y beat x, and a tie: x has (0 + .5) / 2. x against z on p was not played: no game to correct.
    assert expert_points(games, said, "f").tolist()[:2] == [0.25, 1.0]
    assert np.isnan(expert_points(games, said, "f")[2])


def test_expert_points_of_strangers_or_of_nothing_are_refused() -> None:
    games = labelled([("q", "x", "y", "a")])
    with pytest.raises(InputError, match="f: 'x' against 'who' on query 'q'"):
        expert_points(games, labelled([("q", "x", "who", "a")]), "f")
    with pytest.raises(UserError, match="of the 1 games"):
        expert_points(games, labelled([("q", "x", "y", None)]), "f")


def test_require_random_knows_the_first_games_of_the_random_order_wherever_experts_stopped() -> None:
    for n in (1, 7, 120):
        assert plural(n, "game") in require_random(GAMES, first(n), "f", claimed=False)


def test_require_random_refuses_a_gap_unless_somebody_vouches() -> None:
    expert = first(30)
    expert[sample_order(GAMES)[4]] = np.nan
    with pytest.raises(UserError, match="1 of the first 29 games"):
        require_random(GAMES, expert, "f", claimed=False)
    assert require_random(GAMES, expert, "f", claimed=True).startswith("29 games, ")


@pytest.mark.parametrize("chosen", ["one pair", "wins of the first agent"])
def test_require_random_refuses_a_claimed_sample_that_was_chosen_by_pair_or_verdict(chosen: str) -> None:
    mask = (GAMES.a == 0) & (GAMES.b == 1) if chosen == "one pair" else (GAMES.score == 1.0) & (GAMES.a == 0)
    with pytest.raises(UserError, match="not drawn at random"):
        require_random(GAMES, np.where(mask, 1.0, np.nan), "f", claimed=True)


def test_require_random_accepts_samples_that_were_drawn_at_random() -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        expert = np.where(rng.random(120) < 0.3, 1.0, np.nan)
        n = np.count_nonzero(~np.isnan(expert))
        assert require_random(GAMES, expert, "f", claimed=True).startswith(f"{n} games, ")
