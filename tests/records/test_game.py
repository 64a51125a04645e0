import numpy as np

from judgec.records.game import Game, Games


def test_games_of_rows_codes_agents_by_name_and_queries_by_appearance() -> None:
    games = Games.of([Game("q9", "zeta", "alpha", "a"), Game("q1", "alpha", "mid", None, "timeout")], agents=["idle"])
    assert games.agents == ("alpha", "idle", "mid", "zeta")
    assert games.queries == ("q9", "q1")
    assert games.a.tolist() == [3, 0]
    assert games.b.tolist() == [0, 2]
    assert games.query.tolist() == [0, 1]
    assert games.scored.tolist() == [True, False]
    only = games.only(games.scored)
    assert only.score.tolist() == [1.0]
    assert only.agents == games.agents


def test_games_of_nothing_is_empty_and_typed() -> None:
    games = Games.of([])
    assert games.a.dtype == np.int64
    assert games.score.dtype == np.float64
    assert len(games.scored) == 0
