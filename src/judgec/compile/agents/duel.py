"""Compiled against uncompiled, head to head, by a judge that was not what the agent was compiled for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.compile.agents.compile import CompiledAgent
from judgec.compile.agents.metric import entries_of
from judgec.compile.pipeline import COMPILED
from judgec.lm.executor import Ask
from judgec.rag.agents.answer import Answer
from judgec.raters.asked_judges import AskedJudges
from judgec.raters.judge import JudgeTree
from judgec.records.card import ProgramCard
from judgec.records.estimate import Estimate
from judgec.stats.agreement.statistic import mean
from judgec.stats.intervals.bootstrap import difference_interval, interval
from judgec.tournament.files.entries import Entries
from judgec.tournament.files.queries import Query
from judgec.tournament.play import GamePlan, PairPlayer, Played, Player, ScorePlayer, play_tournament
from judgec.tournament.pooling import Showing
from judgec.tournament.tie_band import half_a_grade

NET: tuple[float, float] = (-1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Duel:
    """One agent against another on the test queries.

    Args:
        judge: Who judged, with its version.
        independent: False when it is the judge that the agent was compiled for: then the gain is optimistic.
        wins: Games that the compiled agent won.
        losses: Games that it lost.
        ties: Drawn games.
        unscored: Games without a verdict, or not played for want of an answer.
        net: Mean over queries of win 1, tie 0, loss -1.
        means: Mean scores of ``compiled`` and the other, in units of the judge's scale; empty where it compares.
        difference: Of these means, paired; None where it compares.
    """

    judge: str
    independent: bool
    wins: int
    losses: int
    ties: int
    unscored: int
    net: Estimate
    means: Mapping[str, Estimate]
    difference: Estimate | None

    def to_json(self) -> dict[str, object]:
        """For the report."""
        return {
            "judge": self.judge,
            "independent": self.independent,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "unscored": self.unscored,
            "net": self.net.to_json(),
            "means": {name: found.to_json() for name, found in self.means.items()},
            "difference": None if self.difference is None else self.difference.to_json(),
        }


def duel(
    found: CompiledAgent,
    rival: str,
    queries: Mapping[str, Query],
    judge: JudgeTree,
    card: ProgramCard,
    ask: Ask,
    *,
    independent: bool,
    resamples: int,
    seed: int,
) -> Duel:
    """Let the judge compare the compiled agent's test answers with a rival's.

    Args:
        found: The compile.
        rival: ``uncompiled`` or ``champion``.
        queries: By id.
        judge: Who judges.
        card: Of the judge.
        ask: The way to its model.
        independent: Whether it is another judge than the metric's.
        resamples: Of the intervals.
        seed: Of the resampling.
    """
    answers: list[Answer] = [*found.answers[COMPILED], *found.answers[rival]]
    entries = entries_of(answers, queries)
    player = _player(entries, judge, card, ask)
    games = play_tournament(entries, player, GamePlan())
    results = [_result(one) for one in games]
    known = np.array([result for result in results if result is not None], dtype=np.float64)
    net = Estimate(value=None, note="no game has a verdict")
    if len(known):
        statistic = mean(known, np.arange(len(known)), bounds=NET)
        net = interval(statistic, resamples=resamples, seed=seed).estimate(len(known))
    means, difference = _scores(player, found.parts["test"], rival, resamples, seed)
    return Duel(
        judge=f"{card.name}@{card.version}",
        independent=independent,
        wins=int((known > 0).sum()),
        losses=int((known < 0).sum()),
        ties=int((known == 0).sum()),
        unscored=len(found.parts["test"]) - len(known),
        net=net,
        means=means,
        difference=difference,
    )


def _player(entries: Entries, judge: JudgeTree, card: ProgramCard, ask: Ask) -> Player:
    if judge.pairs:
        return PairPlayer(entries, AskedJudges.alone(judge, ask), Showing(entries))
    band = half_a_grade(card.scale).width if card.tie_band is None else card.tie_band
    return ScorePlayer(entries, AskedJudges.alone(judge, ask), band)


def _result(one: Played) -> float | None:
    """1 when the compiled agent won, -1 when it lost, 0 for a tie; None without a verdict."""
    game = one.game
    if game.winner is None:
        return None
    if game.winner == "tie":
        return 0.0
    winner = game.agent_a if game.winner == "a" else game.agent_b
    return 1.0 if winner == COMPILED else -1.0


def _scores(
    player: Player, queries: Sequence[Query], rival: str, resamples: int, seed: int
) -> tuple[dict[str, Estimate], Estimate | None]:
    """Mean scores on the queries where both answers have one, and their paired difference."""
    if not isinstance(player, ScorePlayer):
        return {}, None
    pairs = []
    for query in queries:
        marks = [player.marks.get((query.query_id, name)) for name in (COMPILED, rival)]
        scores = [mark.score for mark in marks if mark is not None and mark.score is not None]
        if len(scores) == len(marks):
            pairs.append(scores)
    if not pairs:
        return {}, Estimate(value=None, note="no query has two scored answers")
    values = np.array(pairs, dtype=np.float64)
    each = np.arange(len(values))
    ours, theirs = (mean(values[:, side], each) for side in (0, 1))
    means = {
        name: interval(statistic, resamples=resamples, seed=seed).estimate(len(values))
        for name, statistic in ((COMPILED, ours), (rival, theirs))
    }
    return means, difference_interval(ours, theirs, resamples=resamples, seed=seed).estimate(len(values))
