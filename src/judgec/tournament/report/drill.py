"""The page's drill-down: a query with all its answers, the judge's reasons, and the games between them."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from judgec.report.kit import cut
from judgec.report.numbers import number, short
from judgec.tournament.play import Played
from judgec.tournament.report.evaluation import Evaluation

MOST_QUERIES = 300  # on the page; all games are in games.csv
MOST_CHARACTERS = 6000  # of one answer


@dataclass(frozen=True, slots=True)
class AnswerCard:
    """An agent's answer to a query, what it scored, and why."""

    agent: str
    score: str
    text: Markup
    reason: str


@dataclass(frozen=True, slots=True)
class GameLine:
    """A game between two agents, who won, and why."""

    agents: tuple[str, str]
    result: str
    flipped: bool
    reason: str


@dataclass(frozen=True, slots=True)
class DrilledQuery:
    """A query with its answers, the best first, and the games between them."""

    text: str
    name: str
    points: str
    reference: str
    answers: Sequence[AnswerCard]
    games: Sequence[GameLine]


def drilled(found: Evaluation) -> dict[str, object]:
    """The queries in the order of their file, and how many more there are."""
    games: dict[str, list[Played]] = {}
    for one in found.played:
        games.setdefault(one.game.query_id, []).append(one)
    queries = [query for query in found.entries.queries if query in games]
    return {
        "queries": [_query(found, query, games[query]) for query in queries[:MOST_QUERIES]],
        "more": max(len(queries) - MOST_QUERIES, 0),
    }


def _query(found: Evaluation, query: str, games: list[Played]) -> DrilledQuery:
    agents = sorted({agent for one in games for agent in (one.game.agent_a, one.game.agent_b)})
    points = dict.fromkeys(agents, 0.0)
    for one in games:
        half = 0.5 if one.game.winner == "tie" else 0.0
        points[one.game.agent_a] += half + (one.game.winner == "a")
        points[one.game.agent_b] += half + (one.game.winner == "b")
    best = sorted(agents, key=lambda agent: (-points[agent], agent))
    return DrilledQuery(
        text=found.entries.queries[query],
        name=query,
        points=", ".join(f"{agent} {short(points[agent])}" for agent in best),
        reference=found.entries.references.get(query, ""),
        answers=[_answer(found, query, agent) for agent in best],
        games=[_game(one) for one in games],
    )


def _answer(found: Evaluation, query: str, agent: str) -> AnswerCard:
    mark = found.marks.get((query, agent))
    score, reason = "", ""
    if mark is not None:
        aspects = ", ".join(f"{name} {number(value)}" for name, value in mark.aspects.items())
        parts = f" ({aspects})" if len(mark.aspects) > 1 else ""
        score = f": unscored, {mark.unscored}" if mark.score is None else f": {number(mark.score)}{parts}"
        reason = mark.reason
    return AnswerCard(agent, score, cut(found.entries.answers[query, agent], MOST_CHARACTERS), reason)


def _game(one: Played) -> GameLine:
    game = one.game
    results = {"a": f"{game.agent_a} wins", "b": f"{game.agent_b} wins", "tie": "tie"}
    result = results.get(game.winner or "", f"unscored: {game.unscored}")
    return GameLine((game.agent_a, game.agent_b), result, bool(one.flipped), one.reason)
