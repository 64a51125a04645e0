import numpy as np
from hypothesis import given
from numpy.testing import assert_array_equal

from judgec.records.game import Game, Games, Winner
from judgec.stats.rating.win_table import win_table
from tests.stats.rating.leagues import any_games, mirrored


def test_win_table_pencil_example_counts_ties_repeats_and_unscored() -> None:
    winners: list[Winner | None] = ["a", "a", "tie", "b", None]
    games = Games.of(
        [Game(f"q{i}", "x", "y", winner) for i, winner in enumerate(winners)]
        + [Game("q1", "y", "x", "a"), Game("q0", "z", "x", "tie")]
    )
    table = win_table(games)
    # x-y: five scored games, two wins each way, one tie; x-z one tie; y-z never met.
    nan = np.nan
    assert_array_equal(table.win_percent, [[nan, 40.0, 0.0], [40.0, nan, nan], [0.0, nan, nan]])
    assert_array_equal(table.average, [20.0, 40.0, 0.0])
    assert table.games.tolist() == [[0, 5, 1], [5, 0, 0], [1, 0, 0]]
    assert table.unscored.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


@given(any_games())
def test_win_table_any_games_counts_everything_once_whichever_side_tells(games: Games) -> None:
    table = win_table(games)
    assert int(table.games.sum() + table.unscored.sum()) == 2 * len(games.a)
    assert_array_equal(win_table(mirrored(games)).win_percent, table.win_percent)
    both = table.win_percent + table.win_percent.T
    assert (both[~np.isnan(both)] <= 100.0 + 1e-9).all()
