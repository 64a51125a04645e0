import re
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

from judgec.errors import UserError
from judgec.lm.client import open_lm
from judgec.lm.executor import Executor
from judgec.lm.journal.journal import Journal
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from judgec.raters.asked_judges import AskedJudge, AskedJudges
from judgec.records.game import Pairing
from judgec.tournament.leaderboard import make_leaderboard
from judgec.tournament.play import GamePlan, PairPlayer, ScorePlayer, as_games, play_tournament
from judgec.tournament.pooling import Showing
from judgec.tournament.schedule import Fixtures
from tests.raters.engine import ScriptedEngine, asking, reply
from tests.tournament.league import comparer, comparing, comparing_engine, grader, grading_engine, league, scoring

QUALITIES: dict[str, list[int | None]] = {"best": [5, 4, 5, 4], "mid": [3, 4, 3, 2], "worst": [1, 2, None, 2]}


def test_score_player_judges_each_answer_once_and_the_higher_score_wins() -> None:
    entries, engine = league(QUALITIES), grading_engine()
    player = scoring(entries, engine=engine)
    played = play_tournament(entries, player, GamePlan())
    assert len(played) == 3 * 3 + 1  # the third query has one game: worst did not answer it
    assert sum(engine.asked.values()) == 11
    winners = {(one.game.query_id, one.game.agent_a, one.game.agent_b): one.game.winner for one in played}
    named = {key: {"a": key[1], "b": key[2]}.get(word or "", word) for key, word in winners.items()}
    by_pair = {(q, *sorted((a, b))): who for (q, a, b), who in named.items()}
    assert by_pair["q0", "best", "mid"] == "best"
    assert by_pair["q1", "best", "mid"] == "tie"
    assert by_pair["q3", "mid", "worst"] == "tie"
    assert player.marks["q0", "best"].reason == "worth 5"
    assert player.marks["q0", "best"].accept is True
    assert player.marks["q0", "mid"].accept is False


def test_score_player_ties_within_the_band_and_on_its_edge() -> None:
    entries = league({"a": [5, 5], "b": [4, 3]})
    player = scoring(entries, 1.0)
    games = player.play([Pairing("q0", "a", "b"), Pairing("q1", "b", "a")])
    assert [one.game.winner for one in games] == ["tie", "b"]
    assert (games[1].score_a, games[1].score_b) == (3.0, 5.0)


def test_score_player_game_with_an_unreadable_reply_is_unscored_not_lost() -> None:
    entries = league({"a": [5], "b": [0], "c": [1]})
    player = scoring(entries)
    played = play_tournament(entries, player, GamePlan())
    outcomes = {(one.game.agent_a, one.game.agent_b): one.game for one in played}
    lost = next(game for pair, game in outcomes.items() if set(pair) == {"a", "b"})
    assert lost.winner is None
    assert lost.unscored.startswith("b: ")
    board = make_leaderboard(as_games(played, entries), resamples=0, tournaments=1)
    assert (board.games, board.unscored) == (1, 2)


def test_pair_player_plays_both_orders_and_a_flip_is_a_tie() -> None:
    entries, engine = league({"a": [5, 3], "b": [4, 3]}), comparing_engine(biased=True)
    player = comparing(entries, engine)
    played = play_tournament(entries, player, GamePlan())
    assert sum(engine.asked.values()) == 4
    first, second = played
    assert {first.game.agent_a, first.game.agent_b} == {"a", "b"}
    assert first.game.winner == ("a" if first.game.agent_a == "a" else "b")
    assert first.flipped is False
    assert second.game.winner == "tie"
    assert second.flipped is True
    assert comparer().pairs
    assert not grader().pairs


def test_pair_player_asks_nobody_about_answers_that_are_the_same_and_rates_them_as_ties() -> None:
    entries, engine = league({"a": [5, 3], "b": [4, 3]}), comparing_engine()
    same = replace(entries, answers={**entries.answers, ("q1", "a"): "good 3\n", ("q1", "b"): " good  3"})
    played = play_tournament(same, comparing(same, engine), GamePlan())
    found = [(one.game.winner == "tie", one.identical, one.flipped) for one in played]
    assert found == [(False, False, False), (True, True, None)]
    assert sum(engine.asked.values()) == 2  # both orders of one game
    asked = play_tournament(entries, comparing(entries, engine), GamePlan())
    assert [one.game for one in asked] == [one.game for one in played]


@pytest.mark.parametrize("one_order", [False, True])
def test_pair_player_shows_a_game_the_same_way_whatever_the_schedule(one_order: bool) -> None:
    entries, engine = league({"a": [5, 3, 2, 4] * 3, "b": [4, 3, 5, 5] * 3}), comparing_engine()
    player = comparing(entries, engine, one_order=one_order)
    games = [Pairing(f"q{k}", "a", "b") for k in range(12)]
    forward = player.play(games)
    asked = dict(engine.asked)
    backward = player.play([Pairing(game.query_id, game.agent_b, game.agent_a) for game in games])
    assert set(engine.asked) == set(asked)
    assert forward == backward
    assert len(asked) == (12 if one_order else 24)
    if one_order:
        assert len({one.game.agent_a for one in forward}) == 2  # not always the same agent first


def journaled(
    home: Path, qualities: dict[str, list[int | None]], engine: ScriptedEngine, plan: GamePlan
) -> set[tuple[str, frozenset[str]]]:
    """The games of a tournament whose replies lie in a journal."""
    with Journal(home / "journal.db") as journal:
        spec = LMSpec.parse("hosted_vllm/scripted")
        lm = open_lm(spec, journal=journal, budget=Budget(), usage=Usage(), backend=engine)
        entries = league(qualities)
        player = PairPlayer(entries, AskedJudges.alone(comparer(), Executor(lm).run), Showing(entries))
        played = play_tournament(entries, player, plan)
    return {(one.game.query_id, frozenset((one.game.agent_a, one.game.agent_b))) for one in played}


@pytest.mark.parametrize("plan", [GamePlan("balanced", games=40, seed=2), GamePlan("adaptive", games=40), GamePlan()])
def test_a_further_agent_pays_no_game_twice(tmp_path: Path, plan: GamePlan) -> None:
    def play(agents: str) -> tuple[set[tuple[str, frozenset[str]]], int]:
        engine = comparing_engine()
        found = journaled(tmp_path, {a: [(ord(a) + k) % 6 for k in range(15)] for a in agents}, engine, plan)
        return found, sum(engine.asked.values())

    (before, first), (after, second), (_, third) = play("abcd"), play("abcde"), play("abcde")
    assert first == 2 * len(before)  # both orders
    assert before & after
    assert second == 2 * len(after - before)
    assert third == 0
    if plan == GamePlan():
        assert (len(before), len(after)) == (6 * 15, 10 * 15)


def test_balanced_plan_plays_that_many_games_and_judges_no_other_answer() -> None:
    entries, engine = league({name: [1, 2, 3, 4] for name in "abcd"}), grading_engine()
    player = scoring(entries, engine=engine)
    played = play_tournament(entries, player, GamePlan("balanced", games=2, seed=1))
    assert len(played) == 2
    assert sum(engine.asked.values()) == 4
    again = Fixtures.of(entries.answered).balanced(2, 1)
    assert [one.game.query_id for one in played] == [pairing.query_id for pairing in again]


def test_adaptive_plan_plays_its_first_games_or_all() -> None:
    entries = league({"a": [5] * 60, "b": [3] * 60, "c": [1] * 60})
    player = scoring(entries)
    played = play_tournament(entries, player, GamePlan("adaptive"))
    assert len({(one.game.query_id, frozenset((one.game.agent_a, one.game.agent_b))) for one in played}) == 180
    capped = play_tournament(entries, player, GamePlan("adaptive", games=5))
    assert [one.game for one in capped] == [one.game for one in played[:5]]


def test_jury_of_graders_pools_their_scores_keeps_each_vote_and_counts_their_agreement() -> None:
    """The second member is a grade stricter; scipy's and scikit-learn's statistics are the reference."""
    entries = league({"a": [5, 2, 4, 3], "b": [3, 4, 2, 2]})

    def stricter(prompt: str, _: int) -> str:
        worth = int(re.findall(r"> good (\d)", prompt)[-1])
        return reply(str(max(worth - 1, 1)), reason="strict")

    members = [AskedJudge("mild@1", grader(), asking(grading_engine()).run)]
    members += [AskedJudge("strict@1", grader(), asking(ScriptedEngine(stricter)).run)]
    jury = AskedJudges(tuple(members))
    player = ScorePlayer(entries, jury, tie_band=0.0)
    played = play_tournament(entries, player, GamePlan())
    assert player.marks["q0", "a"].votes == {"mild@1": 5.0, "strict@1": 4.0}
    assert player.marks["q0", "a"].score == 4.5
    assert len(played) == 4
    mild, strict = zip(*(mark.votes.values() for mark in player.marks.values()), strict=True)
    found = jury.agreement()
    assert found is not None
    assert found["members"] == ["mild@1", "strict@1"]
    (pair,) = cast("list[dict[str, float]]", found["pairs"])
    assert pair["exact"] == 0.0
    assert pair["kappa"] == pytest.approx(cohen_kappa_score(mild, strict))
    assert pair["tau_b"] == pytest.approx(kendalltau(mild, strict).statistic)


def test_jury_of_comparers_takes_the_majority_and_keeps_what_each_said() -> None:
    entries = league({"a": [5, 3], "b": [4, 3]})

    def contrary(prompt: str, _: int) -> str:
        first, second = map(int, re.findall(r"\[\[ ## answer_[ab] ## \]\]\n> good (\d)", prompt))
        return reply("b" if first > second else "a").replace("## grade ##", "## preference ##")

    members = [AskedJudge(f"right@{n}", comparer(), asking(comparing_engine()).run) for n in (1, 2)]
    members.append(AskedJudge("wrong@1", comparer(), asking(ScriptedEngine(contrary)).run))
    player = PairPlayer(entries, AskedJudges(tuple(members)), Showing(entries))
    (game, other) = player.play([Pairing("q0", "a", "b"), Pairing("q1", "a", "b")])
    side = "a" if game.game.agent_a == "a" else "b"
    assert game.game.winner == side
    assert game.votes == {"right@1": side, "right@2": side, "wrong@1": "ab".replace(side, "")}
    assert game.flipped is False
    assert other.flipped is True  # of two equal answers the contrary one always takes the first


def test_jury_refuses_judges_of_different_scales_and_one_judge_twice() -> None:
    ask = asking(grading_engine()).run
    with pytest.raises(UserError, match="one@1 and two@1"):
        AskedJudges((AskedJudge("one@1", grader(), ask), AskedJudge("two@1", comparer(), ask)))
    with pytest.raises(UserError, match="one@1 more than once"):
        AskedJudges((AskedJudge("one@1", grader(), ask), AskedJudge("one@1", grader(), ask)))
