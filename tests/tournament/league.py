"""A small league whose judge reads the quality of an answer off the answer: "good 3" is worth 3."""

import re
from dataclasses import replace
from typing import Any

from judgec.raters.asked_judges import AskedJudges
from judgec.raters.judge import JudgeTree
from judgec.raters.registry import judge_module
from judgec.records.scale import Scale
from judgec.records.tasks.preference import PREFERENCE_SCALE
from judgec.tournament.files.entries import Entries
from judgec.tournament.leaderboard import make_leaderboard
from judgec.tournament.play import GamePlan, PairPlayer, ScorePlayer, as_games, play_tournament
from judgec.tournament.pooling import Showing
from judgec.tournament.report.evaluation import Evaluation
from tests.raters.engine import ScriptedEngine, asking, reply
from tests.raters.trees import judge_of
from tests.records.test_card import make_card

SCALE = Scale(grades=(1, 2, 3, 4, 5), accept_at=4)


def league(qualities: dict[str, list[int | None]]) -> Entries:
    """Query k has one answer an agent, worth its k-th quality; None is no answer."""
    n = max(map(len, qualities.values()))
    return Entries(
        queries={f"q{k}": f"Question {k}?" for k in range(n)},
        answers={
            (f"q{k}", agent): f"good {worth} by {agent}"
            for agent, worths in qualities.items()
            for k, worth in enumerate(worths)
            if worth is not None
        },
    )


def grader() -> JudgeTree:
    """Without a calibrator: the model's own grades."""
    return judge_of(judge_module("grade", SCALE, ("grade",), ("query", "answer")), SCALE, ("grade",))


def comparer() -> JudgeTree:
    fields = ("query", "answer_a", "answer_b", "contexts")
    return judge_of(judge_module("preference", PREFERENCE_SCALE, ("grade",), fields), PREFERENCE_SCALE, ("grade",))


def grading_engine() -> ScriptedEngine:
    """Grades "good 3" 3; cannot read "good 0"."""

    def script(prompt: str, _: int) -> str:
        worth = re.findall(r"> good (\d)", prompt)[-1]
        return "I cannot tell" if worth == "0" else reply(worth, reason=f"worth {worth}")

    return ScriptedEngine(script)


def comparing_engine(*, biased: bool = False) -> ScriptedEngine:
    """Prefers the better answer; of equal ones it says tie, or when biased always the first."""

    def script(prompt: str, _: int) -> str:
        first, second = map(int, re.findall(r"\[\[ ## answer_[ab] ## \]\]\n(?:\(.*\n)?> good (\d)", prompt))
        word = "a" if first > second or (biased and first == second) else "b" if second > first else "tie"
        return reply(word).replace("## grade ##", "## preference ##")

    return ScriptedEngine(script)


def scoring(entries: Entries, tie_band: float = 0.0, engine: ScriptedEngine | None = None) -> ScorePlayer:
    return ScorePlayer(entries, AskedJudges.alone(grader(), asking(engine or grading_engine()).run), tie_band=tie_band)


def comparing(entries: Entries, engine: ScriptedEngine, **how: Any) -> PairPlayer:  # Any: options of PairPlayer
    one = replace(entries, documents={"p": "a passage"}, shared=dict.fromkeys(entries.queries, ("p",)))
    return PairPlayer(one, AskedJudges.alone(comparer(), asking(engine).run), Showing(one), **how)


def evaluated(entries: Entries, **fields: Any) -> Evaluation:  # Any: fields of Evaluation
    """All games of these answers, played by their scores."""
    player = scoring(entries, 0.5)
    played = play_tournament(entries, player, GamePlan())
    board = make_leaderboard(as_games(played, entries), tournaments=10, resamples=50)
    return replace(Evaluation(entries, make_card(), board, played, marks=player.marks), **fields)
