"""``judgec.rank(..., votes=...)``: a judge's league corrected by people's votes or grades, in words and JSON."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import judgec
from judgec.errors import InputError, UserError
from tests.verbs.cli.process import judgec as run

AGENTS = ("anna", "bert", "cleo", "dora")
FLATTERED = "dora"  # the judge prefers it to whomever people prefer to it


@pytest.fixture(scope="module")
def games() -> pd.DataFrame:
    """The judge's games on 60 queries, with people's verdicts and grades beside them."""
    rng = np.random.default_rng(1)
    rows = []
    for query in range(60):
        quality = {name: 3.0 - place + rng.normal(0, 1.0) for place, name in enumerate(AGENTS)}
        for a, b in combinations(AGENTS, 2):
            people = quality[a] - quality[b]
            judge = people + 4.0 * ((a == FLATTERED) - (b == FLATTERED)) + rng.normal(0, 0.5)
            rows.append(
                {
                    "query_id": f"q{query}", "agent_a": a, "agent_b": b, "winner": "a" if judge > 0 else "b",
                    "preference": "a" if people > 0 else "b", "grade_a": quality[a], "grade_b": quality[b],
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def votes(games: pd.DataFrame) -> pd.DataFrame:
    """Of 90 games, drawn at random; every third as its mirror image."""
    sample = games.sample(90, random_state=2)[["query_id", "agent_a", "agent_b", "preference"]].reset_index(drop=True)
    turned = sample.index % 3 == 0
    first, second = sample.agent_a.where(~turned, sample.agent_b), sample.agent_b.where(~turned, sample.agent_a)
    word = sample.preference.where(~turned, sample.preference.map({"a": "b", "b": "a"}))
    return sample.assign(agent_a=first, agent_b=second, preference=word)


def judged(games: pd.DataFrame) -> pd.DataFrame:
    return games[["query_id", "agent_a", "agent_b", "winner"]]


def test_votes_find_whom_the_judge_flatters_and_put_the_league_right(games: pd.DataFrame, votes: pd.DataFrame) -> None:
    found = judgec.rank(judged(games), votes=votes)
    assert found.agents[-1] != FLATTERED  # as judged
    assert found.corrected is not None
    assert found.corrected.index[0] == "anna"
    assert found.corrected.index[-1] == FLATTERED
    assert float(found.corrected["judge_error_low"].to_numpy()[-1]) > 0
    assert found.votes is not None
    said = " ".join(found.votes.sentences)
    assert all(one in said for one in ("90 of the judge's 360 games", f"flatters {FLATTERED} by +"))
    assert judgec.rank(judged(games)).corrected is None


def test_grades_of_answers_are_votes_and_games_in_both_orders_are_one(games: pd.DataFrame) -> None:
    kept = games[games.query_id.isin([f"q{n}" for n in range(0, 60, 3)])]
    sides = [
        kept[["query_id", f"agent_{one}", f"grade_{one}"]].set_axis(["query_id", "agent", "grade"], axis=1)
        for one in "ab"
    ]
    grades = pd.concat(sides).drop_duplicates()
    assert len(grades) == 20 * 4
    found = judgec.rank(judged(games), votes=grades)
    assert found.votes is not None
    assert (found.votes.found.labelled, found.votes.found.queries) == (20 * 6, 20)
    by_games = judgec.rank(judged(games), votes=kept[["query_id", "agent_a", "agent_b", "preference"]])
    assert by_games.votes is not None
    assert found.votes.found.corrected == by_games.votes.found.corrected
    mirror = judged(games).rename(columns={"agent_a": "agent_b", "agent_b": "agent_a"})
    mirror["winner"] = mirror.winner.map({"a": "b", "b": "a"})
    twice = judgec.rank(pd.concat([judged(games), mirror]), votes=grades)
    assert twice.votes is not None
    assert twice.votes.found.corrected == found.votes.found.corrected


def test_votes_that_cannot_correct_are_refused_or_counted(games: pd.DataFrame, votes: pd.DataFrame) -> None:
    strangers = pd.DataFrame([{"query_id": "elsewhere", "agent_a": "anna", "agent_b": "bert", "preference": "a"}] * 3)
    found = judgec.rank(judged(games), votes=pd.concat([votes, strangers]))
    assert found.votes is not None
    assert any(one.startswith("3 votes are on games") for one in found.votes.sentences)
    lost = games[(games.agent_b == FLATTERED) & (games.winner == "b")][["query_id", "agent_a", "agent_b", "preference"]]
    for experts, error, said in (
        (strangers, UserError, "none of its 3 votes is on a game"),
        (lost, UserError, "were not drawn at random"),
        ([{"query_id": "q1", "text": "x"}], InputError, "neither games nor grades"),
        ([{"query_id": "q1", "agent": "anna", "grade": "good"}], InputError, "grade 'good'; a number"),
        (votes.assign(stratum="doubtful"), InputError, "stratum"),
    ):
        with pytest.raises(error, match=said):
            judgec.rank(judged(games), votes=experts)


def test_the_command_prints_the_correction_and_json_has_all_of_it(
    games: pd.DataFrame, votes: pd.DataFrame, tmp_path: Path
) -> None:
    judged(games).to_csv(tmp_path / "games.csv", index=False)
    votes.to_csv(tmp_path / "votes.csv", index=False)
    shown = run(tmp_path, "rank", "games.csv", "--votes", "votes.csv")
    assert "Corrected by people's votes" in shown.stdout
    full = run(tmp_path, "rank", "games.csv", "--votes", "votes.csv", "-v")
    assert ["shuffles" in one.stdout for one in (shown, full)] == [False, True]
    assert ["wins % of row over" in one.stdout for one in (shown, full)] == [False, True]
    assert f"The judge flatters {FLATTERED} by" in shown.stderr
    report = json.loads(run(tmp_path, "rank", "games.csv", "--votes", "votes.csv", "--json").stdout)["experts"]
    assert (report["votes"], report["games"], report["votes_left_out"]) == (90, 360, 0)
    assert report["agents"][FLATTERED]["judge_error"]["low"] > 0
    assert 0 < report["weight"] < 1
    assert len(report["pairs"]) == 6
