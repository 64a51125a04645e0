"""Games between answers: by the scores of a judge of single answers, or by a judge that compares two."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from judgec.raters.asked_judges import AskedJudges
from judgec.records.citation import armed
from judgec.records.game import Game, Games, Pairing, Winner
from judgec.records.judgment import Judgments
from judgec.records.label import FloatArray, Item, Text
from judgec.records.tasks.spec import PAIR
from judgec.tournament.adaptive import propose
from judgec.tournament.files.entries import Entries
from judgec.tournament.pooling import Showing
from judgec.tournament.schedule import Fixtures

Cell = tuple[str, str]  # query id, agent
SAME_ANSWER = "Both answers are the same: a tie, nobody was asked."


@dataclass(frozen=True, slots=True)
class Played:
    """A game and why it ended as it did.

    Args:
        game: Who won.
        score_a: What the judge gave agent_a's answer, or None when it compares answers instead.
        score_b: The same of agent_b's.
        reason: In the words of a judge that compares answers; empty otherwise (``Marks`` has the reasons).
        flipped: Whether the verdict changed with the order of the answers; None when only one was asked.
        votes: Of a jury that compares answers, what each member said, by its name; None where it said nothing.
        without_contexts: No document was shown to a judge that reads them: it was asked by a prompt without them.
        identical: Both answers are the same but for white space: a tie by definition, about which nobody was asked.
    """

    game: Game
    score_a: float | None = None
    score_b: float | None = None
    reason: str = ""
    flipped: bool | None = None
    votes: Mapping[str, Winner | None] = field(default_factory=dict)
    without_contexts: bool = False
    identical: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """Judgment of one answer by a judge of single answers.

    Args:
        score: Mean expected score of the aspects, in scale units; None when unscored.
        aspects: Expected score by aspect; empty when unscored.
        accept: Accepted or not; None when unknown.
        reason: In the judge's words.
        unscored: Why there is no score, or empty.
        votes: Of a jury, each member's score, by its name; None where it gave none.
        item: What was judged, where it is not the answer with its agent's own documents.
    """

    score: float | None
    aspects: dict[str, float]
    accept: bool | None
    reason: str
    unscored: str
    votes: Mapping[str, float | None] = field(default_factory=dict)
    item: Item | None = None


class Player(Protocol):
    """Plays games; asking twice for the same game costs nothing."""

    def play(self, pairings: Sequence[Pairing]) -> tuple[Played, ...]:
        """The games, in the order of ``pairings``."""
        ...


@dataclass(slots=True)
class ScorePlayer:
    """A judge of single answers: the higher calibrated score wins, scores within the tie band tie.

    An answer is judged once, however many games it is in.

    Args:
        entries: The answers.
        judges: Of task grade, answer or another with one answer an item: one judge, or several.
        tie_band: In scale units.
        marks: What was judged so far, by query and agent.
        showing: What is shown of the documents that the agents of a query retrieved together, where it is known how
            relevant they are; None shows each answer with its agent's own.

    Source: Rackauckas et al. (2024), RAGElo, 5: annotated documents, pooled by the agents being evaluated.
    """

    entries: Entries
    judges: AskedJudges
    tie_band: float
    marks: dict[Cell, Mark] = field(default_factory=dict)
    showing: Showing | None = None

    def play(self, pairings: Sequence[Pairing]) -> tuple[Played, ...]:
        """Judge the answers that are not judged yet, and compare."""
        cells = [(p.query_id, agent) for p in pairings for agent in (p.agent_a, p.agent_b)]
        self._judge([cell for cell in dict.fromkeys(cells) if cell not in self.marks])
        return tuple(self._game(pairing) for pairing in pairings)

    def _judge(self, cells: Sequence[Cell]) -> None:
        if not cells:
            return
        together = self.entries.answered
        items = [self._item(*cell, together[cell[0]]) for cell in cells]
        judged, said = self.judges.judged(items)
        for i, cell in enumerate(cells):
            scores = judged.score[i]
            missing = judged.unscored[i] or ("no score of an aspect" if np.isnan(scores).any() else "")
            accepts = judged.accept[i]
            self.marks[cell] = Mark(
                score=None if missing else float(scores.mean()),
                aspects={} if missing else dict(zip(judged.aspects, map(float, scores), strict=True)),
                accept=None if missing or (accepts < 0).any() else bool((accepts == 1).all()),
                reason=judged.rationale[i],
                unscored=missing,
                votes={name: _mean(one.score[i]) for name, one in said.items()},
                item=None if self.showing is None else items[i],
            )

    def _item(self, query: str, agent: str, together: tuple[str, ...]) -> Item:
        item = self.entries.item(query, agent)
        return item if self.showing is None else self.showing.pooled(item, {"answer": agent}, together)

    def _game(self, pairing: Pairing) -> Played:
        a, b = (self.marks[pairing.query_id, agent] for agent in (pairing.agent_a, pairing.agent_b))
        winner: Winner | None = None
        if a.score is not None and b.score is not None:
            gap = a.score - b.score
            winner = "tie" if abs(gap) <= self.tie_band else "a" if gap > 0 else "b"
        sides = ((pairing.agent_a, a), (pairing.agent_b, b))
        unscored = "; ".join(f"{agent}: {mark.unscored}" for agent, mark in sides if mark.unscored)
        game = Game(pairing.query_id, pairing.agent_a, pairing.agent_b, winner, unscored)
        return Played(game, a.score, b.score)


def _mean(scores: FloatArray) -> float | None:
    """Of the aspects; None where one has no score."""
    return None if np.isnan(scores).any() else float(scores.mean())


@dataclass(slots=True)
class PairPlayer:
    """A judge that compares two answers, in both orders unless ``one_order``; a flip is a tie, and so are answers that
    are the same but for white space, about which it is not asked.

    Args:
        entries: The answers.
        judges: Of task preference: one judge, or several.
        showing: What is shown of the documents of both agents.
        one_order: Ask one order only; which one follows from a hash of query and agents.
    """

    entries: Entries
    judges: AskedJudges
    showing: Showing
    one_order: bool = False

    def play(self, pairings: Sequence[Pairing]) -> tuple[Played, ...]:
        """Ask the judge about each game; the journal answers what was asked before."""
        if not pairings:
            return ()
        shown = [_settled(pairing) for pairing in pairings]
        items = [self._item(pairing) for pairing in shown]
        asked = [i for i, item in enumerate(items) if not _identical(item)]
        ties = (Game(one.query_id, one.agent_a, one.agent_b, "tie") for one in shown)
        played = {i: Played(game, reason=SAME_ANSWER, identical=True) for i, game in enumerate(ties)}
        played |= dict(zip(asked, self._asked([shown[i] for i in asked], [items[i] for i in asked]), strict=True))
        return tuple(played[i] for i in range(len(shown)))

    def _asked(self, shown: Sequence[Pairing], items: Sequence[Item]) -> tuple[Played, ...]:
        """The games that the judge is asked about."""
        if not items:
            return ()
        judged, said = self.judges.judged(items, one_order=self.one_order)
        scale = self.judges.judge.scale
        words: dict[int, Winner] = {scale.position(word): word for word in ("a", "b", "tie")}
        return tuple(
            Played(
                Game(
                    pairing.query_id,
                    pairing.agent_a,
                    pairing.agent_b,
                    words.get(int(judged.grade[i, 0])),
                    judged.unscored[i] or "",
                ),
                reason=judged.rationale[i],
                flipped=None if judged.unscored[i] else _flipped(judged, said, i),
                votes={name: words.get(int(one.grade[i, 0])) for name, one in said.items()},
                without_contexts=self.judges.reads_contexts and "contexts" not in items[i].inputs,
            )
            for i, pairing in enumerate(shown)
        )

    def _item(self, pairing: Pairing) -> Item:
        query, a, b = pairing.query_id, pairing.agent_a, pairing.agent_b
        sides = {"answer_a": a, "answer_b": b}
        answers = {field: self.entries.answers[query, agent] for field, agent in sides.items()}
        inputs: dict[str, Text] = {"query": self.entries.queries[query], **answers}
        if query in self.entries.references:
            inputs["reference"] = self.entries.references[query]
        return self.showing.pooled(Item(f"{query}/{a}/{b}", query, inputs), sides, (a, b))


def _identical(item: Item) -> bool:
    """True if both answers are the same, citations of the same documents included, but for white space."""
    shown = item.pool.answers if item.pool else {}
    a, b = ((shown.get(side) or armed(item.text(side))).split() for side in PAIR)
    return a == b  # a forged [P1] is none


def _flipped(judged: Judgments, said: Mapping[str, Judgments], row: int) -> bool | None:
    """True if the verdict on an item changed with the order; of several judges, if a member's did."""
    known = [bool(one.flipped[row]) for one in (said.values() or (judged,)) if one.flipped is not None]
    return any(known) if known else None


def _settled(pairing: Pairing) -> Pairing:
    """The pairing in an order that depends on nothing else: another agent or another schedule must not change what
    is shown first, or judged games would have to be paid again.
    """
    low, high = sorted((pairing.agent_a, pairing.agent_b))
    swap = hashlib.sha256(f"{pairing.query_id}\0{low}\0{high}".encode()).digest()[0] % 2
    return Pairing(pairing.query_id, *((high, low) if swap else (low, high)))


@dataclass(frozen=True, slots=True)
class GamePlan:
    """The games that are played.

    Args:
        kind: ``all`` pairs of every query, ``balanced`` (``games`` of them) or ``adaptive``.
        games: How many, of a balanced subset; most games of an adaptive tournament, None for no limit.
        seed: Of the subset.
    """

    kind: Literal["all", "balanced", "adaptive"] = "all"
    games: int | None = None
    seed: int = 0


def play_tournament(entries: Entries, player: Player, plan: GamePlan) -> tuple[Played, ...]:
    """Play the games of a plan, and give them in that order; games of agents that lack an answer are not in it."""
    fixtures = Fixtures.of(entries.answered)
    if plan.kind == "all":
        return player.play(fixtures.all())
    if plan.kind == "balanced":
        return player.play(fixtures.balanced(plan.games or 0, plan.seed))
    played: list[Played] = []
    while True:
        left = None if plan.games is None else plan.games - len(played)
        batch = propose(fixtures, as_games(played, entries), seed=plan.seed)[:left]
        if not batch:
            return tuple(played)
        played += player.play(batch)


def as_games(played: Sequence[Played], entries: Entries) -> Games:
    """The games as columns; every agent of the tournament has a code."""
    return Games.of((one.game for one in played), entries.agents)
