import numpy as np
import pytest

from judgec.errors import UserError
from judgec.records.game import Games
from judgec.stats.rating.expert_sample import sample_order
from judgec.tournament.play import GamePlan, as_games, play_tournament
from judgec.tournament.report.rates import RATES, correct, equal_lengths, length_json, length_rows
from tests.stats.known import bounds, known
from tests.stats.rating.leagues import league as simulated
from tests.tournament.league import league, scoring

TRUTH = simulated(np.array([0.8, 0.0, -0.8]), 200, np.random.default_rng(0))


def biased(games: Games) -> Games:
    """A judge that gives agent 02 every second game that it did not win."""
    last, rows = games.agents[-1], np.arange(len(games.a)) % 2 == 0
    code = games.agents.index(last)
    score = np.where(rows & (games.b == code), 0.0, games.score)
    return Games(games.agents, games.queries, games.a, games.b, games.query, score)


def test_correct_moves_a_flattered_agent_back_to_what_experts_say_of_all_games() -> None:
    judged = biased(TRUTH)
    sample = TRUTH.only(np.isin(np.arange(len(TRUTH.a)), sample_order(TRUTH)[:150]))
    found = correct(judged, sample, "f")
    last = len(TRUTH.agents) - 1
    mine = TRUTH.b == last
    truth = float((1.0 - TRUTH.score[mine]).mean())
    raw, corrected = found.rates[last].raw, found.rates[last].corrected
    low, high = bounds(corrected)
    assert known(raw.value) > max(truth + 0.2, high)
    assert low < truth < high
    assert (found.games, found.labelled) == (600, 150)
    report = found.to_json()
    assert set(report) == {"win_rates", "expert_sample"}
    head, rows = RATES.screen(found.rates)
    assert len(head) == len(rows[0])
    assert [row[0] for row in rows] == list(TRUTH.agents)


def test_correct_of_a_chosen_sample_is_refused() -> None:
    with pytest.raises(UserError, match="no random sample"):
        correct(TRUTH, TRUTH.only(TRUTH.query < 20), "f")


def test_equal_lengths_takes_out_what_length_alone_won() -> None:
    # The judge's grade is the digit in the answer; padding makes "long" longer where it is better.
    entries = league({"long": [4, 4, 4, 3, 4, 2], "short": [3, 3, 3, 4, 3, 3], "z": [1, 5, 2, 3, 4, 2]})
    answers = {
        key: text + "!" * (50 * (key[1] == "long" and "good 4" in text)) for key, text in entries.answers.items()
    }
    padded = type(entries)(queries=entries.queries, answers=answers)
    played = play_tournament(padded, scoring(padded, 0.5), GamePlan())
    found, _ = equal_lengths(as_games(played, padded), padded)
    assert found is not None
    assert (found.length_effect.value or 0) > 0
    rating = dict(zip(found.agents, found.rating, strict=True))
    assert list(length_json(found)["length_controlled"]) == sorted(rating, key=lambda agent: -rating[agent])  # type: ignore[call-overload]  # JSON
    assert length_rows(found)[1][-1][0] == "(a much longer answer gains)"


def test_equal_lengths_of_equally_long_answers_say_why_there_are_none() -> None:
    entries = league({"x": [1, 2], "y": [2, 1]})
    played = play_tournament(entries, scoring(entries, 0.5), GamePlan())
    found, notes = equal_lengths(as_games(played, entries), entries)
    assert found is None
    assert notes[0].startswith("No length-controlled ratings: ")
