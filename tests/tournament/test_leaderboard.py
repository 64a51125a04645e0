import json

import pytest

from judgec.errors import InputError, ServiceError
from judgec.records.game import Game, Games, Winner
from judgec.tournament.leaderboard import make_leaderboard
from judgec.tournament.render import board_sentence, board_tables, leaderboard_rows, win_rows
from judgec.tournament.report.costs import AgentCost


def _games() -> Games:
    words: list[Winner | None] = ["a", "a", "b", "tie", "a", "a"]
    rows = [Game(f"q{q}", "new", "old", word) for q, word in enumerate(words)]
    rows += [Game(f"q{q}", "old", "lost", "a") for q in range(6)]
    rows += [Game("q0", "new", "lost", None, "timeout")]
    return Games.of(rows, agents=["absent"])


def test_leaderboard_json_has_the_promised_keys_and_no_nan() -> None:
    report = make_leaderboard(_games(), tournaments=20, resamples=100).to_json()
    json.dumps(report, allow_nan=False)
    assert {"bradley_terry", "elo", "win_percent", "average_win_percent", "games", "unscored"} <= set(report)
    assert report["games"] == 12
    assert report["unscored"] == 1
    ratings = report["bradley_terry"]
    assert isinstance(ratings, dict)
    assert list(ratings) == ["new", "old", "lost", "absent"]
    assert set(ratings["new"]) == {"rating", "low", "high"}
    assert ratings["absent"] == {"rating": None, "low": None, "high": None}
    assert ratings["lost"]["low"] is None
    assert ratings["lost"]["high"] < ratings["old"]["rating"]
    wins = report["win_percent"]
    assert isinstance(wins, dict)
    assert wins["new"] == {"old": pytest.approx(100 * 4 / 6), "lost": None, "absent": None}
    assert wins["old"]["new"] == pytest.approx(100 / 6)
    average = {"new": pytest.approx(100 * 4 / 6), "old": pytest.approx((100 / 6 + 100) / 2)}
    assert report["average_win_percent"] == {**average, "lost": 0.0, "absent": None}
    pairs = report["pairs"]
    assert isinstance(pairs, list)
    assert pairs[0]["agents"] == ["new", "old"]
    assert pairs[0]["games"] == 6
    assert 0 < pairs[0]["p"] <= pairs[0]["p_holm"] <= 1


def test_leaderboard_notes_name_unscored_absent_and_the_prior() -> None:
    notes = " ".join(make_leaderboard(_games(), tournaments=5, resamples=50).notes)
    assert "1 of 13 games" in notes
    assert "absent" in notes
    assert "lost lost all" in notes
    assert "truncates" not in notes
    compat = make_leaderboard(_games(), tournaments=5, resamples=50, ragelo_compat=True)
    assert "truncates" in compat.notes[-1]
    assert compat.elo.initial == 1000.0


def test_leaderboard_all_unscored_is_a_service_error_that_exits_3() -> None:
    games = Games.of([Game("q", "x", "y", None), Game("q", "y", "x", None)])
    with pytest.raises(ServiceError, match=r"games.csv: all 2 games") as caught:
        make_leaderboard(games, source="games.csv")
    assert caught.value.exit_code == 3


def test_leaderboard_one_agent_is_an_input_error_that_exits_2() -> None:
    with pytest.raises(InputError, match=r"one agent only \(x\)") as caught:
        make_leaderboard(Games.of([], agents=["x"]))
    assert caught.value.exit_code == 2


def test_render_rows_are_best_first_with_open_bounds_in_words() -> None:
    board = make_leaderboard(_games(), tournaments=5, resamples=50)
    columns, rows = leaderboard_rows(board)
    assert [row[0] for row in rows] == ["new", "old", "lost", "absent"]
    assert all(len(row) == len(columns) for row in rows)
    assert rows[2][2].startswith("below ")
    assert set(rows[3][1:8]) == {"-"}
    spent = {"new": AgentCost(answers=2, median_seconds=0.5, tokens=20.0, usd=0.0, usd_total=0.0)}
    columns, rows = leaderboard_rows(board, spent)
    assert columns[-4:] == ("games", "median ms", "tokens a query", "$")
    assert [row[-3:] for row in rows[:2]] == [("500.0", "20", "none"), ("-", "-", "-")]
    columns, rows = win_rows(board)
    assert columns[1:] == ("1", "2", "3", "4")
    assert rows[0] == ("1 new", "-", "66.7", "-", "-")


def test_agents_in_order_say_which_neighbours_are_told_apart() -> None:
    rows = [Game(f"q{q}", "good", other, "a") for q in range(60) for other in ("fair", "weak")]
    rows += [Game(f"q{q}", "fair", "weak", "a" if q % 2 else "b") for q in range(60)]
    rows += [Game(f"q{q}", "good", "fair", "b") for q in range(6)]
    board = make_leaderboard(Games.of(rows), tournaments=5)
    assert board.ranked in {"good > fair ~ weak", "good > weak ~ fair"}


def test_leaderboard_of_very_many_agents_lists_neighbours_and_pairs_that_met() -> None:
    rows = [
        Game(f"q{n % 3}", f"agent {n:03d}", f"agent {(n + step) % 120:03d}", "a") for n in range(120) for step in (1, 7)
    ]
    board = make_leaderboard(Games.of(rows), tournaments=2, resamples=5)
    report = board.to_json()
    pairs, wins = report["pairs"], report["win_percent"]
    assert isinstance(pairs, list)
    assert isinstance(wins, dict)
    best = board.rows()[0].agent
    assert len(pairs) == 2 * 120 - 3
    assert all(best in one["agents"] for one in pairs[:119])
    assert sum(map(len, wins.values())) == 2 * len(rows)
    assert board.ranked.endswith(" and 110 more")
    assert any("237 differences" in note for note in board.notes)
    first, other = board.rows()[:2]
    assert first.beside(other) == bool({*first.groups} & {*other.groups})


def league(points: dict[str, str]) -> Games:
    """A game a query of each pair, ``new-old``, and how each ended."""
    rows = [
        Game(f"q{n}", one, other, "a" if word == "a" else "b")
        for one, _, other, words in ((*pair.partition("-"), words) for pair, words in points.items())
        for n, word in enumerate(words)
    ]
    return Games.of(rows)


@pytest.mark.parametrize(
    ("points", "begins", "best"),
    [
        ({"new-old": "abababab"}, "new is rated equal to old, 1000", False),
        ({"new-old": "abababab", "new-low": "a" * 30, "old-low": "a" * 30}, "new is rated equal to old, ", False),
        ({"new-old": "aaaaaaaab"}, "new is rated best, ", True),
        ({"a-b": "ab" * 4, "a-c": "ab" * 4, "b-c": "ab" * 4}, "a is rated equal to b, c, 1000", False),
    ],
)
def test_equal_ratings_are_said_to_be_equal(points: dict[str, str], begins: str, best: bool) -> None:
    said = board_sentence(make_leaderboard(league(points), tournaments=5, resamples=100))
    assert said.startswith(begins)
    assert ("is rated best" in said) == best


def test_elo_as_ragelo_has_it_is_on_the_first_screen_where_it_is_asked_for_beside_the_default_one() -> None:
    games = league({"new-old": "aab" * 5})
    usual, compat = (make_leaderboard(games, tournaments=5, resamples=50, ragelo_compat=on) for on in (False, True))
    heads = [board_tables(board)[0][0].heads for board in (usual, compat)]
    assert ["Elo" in head for head in heads] == [False, True]
    default = dict(zip(usual.agents, usual.elo.rating.round(), strict=True))
    assert f"Default Elo: new {default['new']:.0f}, old {default['old']:.0f}." in compat.notes[-1]
