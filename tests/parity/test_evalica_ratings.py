"""Bradley-Terry and Elo against evalica, on RAGElo's example and on random games."""

from pathlib import Path

import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgec.records.game import Games
from judgec.records.label import FloatArray
from judgec.stats.rating.elo import elo
from judgec.stats.rating.ratings import bradley_terry
from judgec.table.tables import read_table
from judgec.tournament.files.games import games_of
from tests.stats.rating.leagues import league

EXAMPLE = Path(__file__).parents[2] / "../shared/data/ragelo_example/pairwise_answers_evaluations.csv"
WINNERS = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}


def _columns(games: Games) -> tuple[list[str], list[str], list[object]]:
    names = games.agents
    return (
        [names[i] for i in games.a],
        [names[i] for i in games.b],
        [WINNERS[float(score)] for score in games.score],
    )


def _assert_agree(games: Games) -> None:
    columns = _columns(games)
    theirs = evalica.bradley_terry(*columns, tolerance=1e-14, limit=100_000).scores.sort_index()
    strengths: FloatArray = 400.0 * np.log10(theirs.to_numpy())
    ours = bradley_terry(games, resamples=0).rating
    assert np.abs(ours - 1000.0 - (strengths - strengths.mean())).max() < 1e-6
    in_order = evalica.elo(*columns, initial=500.0, k=32.0).scores.sort_index().to_numpy()
    assert np.abs(elo(games, order="file").rating - in_order).max() < 1e-6


def test_ratings_ragelo_example_agree_with_evalica() -> None:
    if not EXAMPLE.exists():
        pytest.skip(f"{EXAMPLE} is absent: RAGElo's example does not ship with the project")
    _assert_agree(games_of(read_table(str(EXAMPLE))))


@given(st.integers(0, 10_000), st.integers(2, 7), st.floats(0.0, 0.6))
@settings(max_examples=25, deadline=None)
def test_ratings_random_leagues_agree_with_evalica(seed: int, n: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    games = league(spread * rng.standard_normal(n), 40, rng)
    if bradley_terry(games, resamples=0).strengths.prior == 0.0:
        _assert_agree(games)
