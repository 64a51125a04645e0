"""``judgec.rank`` from Python."""

import asyncio
import inspect
from pathlib import Path

import pandas as pd
import pytest

import judgec
from judgec.errors import InputError, UserError
from judgec.verbs.rank import ranking_report

GAMES = [{"query_id": str(q), "agent_a": "new", "agent_b": "old", "winner": "ab"[q % 4 == 0]} for q in range(40)]


def test_rank_takes_a_frame_a_path_and_other_column_names_alike(tmp_path: Path) -> None:
    ranking = judgec.rank(GAMES)
    assert ranking.agents == ("new", "old")
    frame = pd.DataFrame(GAMES).rename(columns={"winner": "said"})
    pd.testing.assert_frame_equal(judgec.rank(frame, columns={"said": "winner"}).ratings, ranking.ratings)
    frame.to_parquet(tmp_path / "games.parquet")
    of_file = judgec.rank(tmp_path / "games.parquet", columns={"said": "winner"}, home=tmp_path, tracking_uri=None)
    pd.testing.assert_frame_equal(of_file.ratings, ranking.ratings)
    assert "new > old" in repr(ranking)
    shown = ranking._repr_html_()
    assert "40 games" in shown
    assert "<table" in shown
    few = judgec.rank(GAMES[:1]).ratings  # no interval from one game
    assert few[["low", "high"]].isna().all(axis=None)
    assert few["low"].dtype == float


def test_rank_passes_its_options_on_and_refuses_what_is_not_valid() -> None:
    by_file = judgec.rank(GAMES, order="file", k=16.0, tournaments=1)
    assert by_file.ratings["elo"].tolist() != judgec.rank(GAMES).ratings["elo"].tolist()
    with pytest.raises(UserError, match="order='best'; file or shuffled is valid"):
        judgec.rank(GAMES, order="best")  # type: ignore[arg-type]  # what is refused
    with pytest.raises(UserError, match="seed=-1"):
        judgec.rank(GAMES, seed=-1)
    with pytest.raises(InputError, match="games:row 1: agent 'new' plays against itself"):
        judgec.rank([{**GAMES[0], "agent_b": "new"}])
    with pytest.raises(TypeError, match=r"judgec.rank\(\): got an unexpected keyword argument 'bogus'"):
        judgec.rank(GAMES, bogus=1)  # type: ignore[call-arg]  # what is refused
    assert "ragelo_compat" in inspect.signature(judgec.rank).parameters


def test_rank_inside_a_running_event_loop() -> None:
    async def inside() -> judgec.Ranking:
        return judgec.rank(GAMES)

    assert asyncio.run(inside()).agents == ("new", "old")


def test_agents_that_no_path_of_games_joins_have_a_component_and_no_difference() -> None:
    sides = [("A", "B", n % 3 == 0) for n in range(30)] + [("C", "D", n % 4 == 0) for n in range(30)]
    games = [
        {"query_id": str(n), "model_a": one, "model_b": other, "winner": "right" if turned else "left"}
        for n, (one, other, turned) in enumerate(sides)
    ]
    games.append({"query_id": "0", "model_a": "A", "model_b": "idle", "winner": ""})
    found = judgec.rank(games)
    assert found.ratings["component"].dropna().astype(int).to_dict() == {"A": 1, "B": 1, "C": 2, "D": 2}
    assert found.ratings.loc[["A", "B"], "rating"].mean() == pytest.approx(1000)
    assert found.ratings.loc[["C", "D"], "rating"].mean() == pytest.approx(1000)
    assert found.verdict.count(" | ") == 2  # A and B, C and D, and the one without a game
    pairs = {tuple(one["agents"]): one for one in found.report["pairs"]}  # type: ignore[attr-defined]  # JSON
    across = pairs["A", "C"]
    assert (across["difference"]["value"], across["p_holm"]) == (None, None)
    assert "no path of games" in across["difference"]["note"]
    assert "component" not in judgec.rank(games[:30]).ratings


def test_games_without_a_query_stand_alone_and_say_so() -> None:
    games = [{"item1": 7, "item2": "8", "label": ("left", "right", "draw")[n % 3]} for n in range(12)]
    found = judgec.rank([*games, {"item1": 7.0, "item2": 8, "label": "left"}])
    assert found.ratings.loc["7", "games"] == 13
    assert (found.board.alone, found.board.ratings.n_queries) == (True, 13)
    assert found.alone.startswith("Each vote by itself, as no column is query_id: no other column repeats")


VOTES = [
    {"comparison": f"c{n // 3}", "prompt": f"p{n // 6}", "judge": "xyz"[n % 3], "id": n, "always": 1}
    | {"model_a": "new", "model_b": "old", "winner": "ab"[n // 3 % 4 == 0]}
    for n in range(72)
]


def test_columns_that_repeat_are_named_where_no_query_is() -> None:
    found = judgec.rank(VOTES)
    assert (found.report["clustered_by"], found.board.alone) == (None, True)
    assert found.report["repeating"] == {"comparison": 24, "prompt": 12, "judge": 3}
    first = ranking_report(found).verdict[0]
    assert "comparison (24), prompt (12), judge (3)" in first
    assert "--map comparison=query_id" in first


def test_clusters_are_those_of_the_column_that_is_named() -> None:
    alone, clustered = judgec.rank(VOTES), judgec.rank(VOTES, columns={"comparison": "query_id"})
    assert (clustered.report["clustered_by"], clustered.report["repeating"]) == ("query_id", {})
    assert (clustered.alone, clustered.board.ratings.n_queries) == ("", 24)
    widths = [one.rated["new"].high - one.rated["new"].low for one in (alone, clustered)]  # type: ignore[operator]  # known
    assert widths[1] > 1.2 * widths[0]
