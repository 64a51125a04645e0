"""The page's drill-down: a query with all its answers, the judge's reasons, and the games between them."""

from html import escape

from judgec.tournament.play import Played
from judgec.tournament.report.evaluation import Evaluation

MOST_QUERIES = 300  # on the page; all games are in games.csv
MOST_CHARACTERS = 6000  # of one answer


def queries_section(found: Evaluation) -> str:
    """Every query as a block that opens; queries whose winners differ most come as they are in the file."""
    games: dict[str, list[Played]] = {}
    for one in found.played:
        games.setdefault(one.game.query_id, []).append(one)
    queries = [query for query in found.entries.queries if query in games]
    blocks = "".join(_query(found, query, games[query]) for query in queries[:MOST_QUERIES])
    more = len(queries) - MOST_QUERIES
    rest = f"<p class=quiet>{more} more queries are in games.csv and answers.csv.</p>" if more > 0 else ""
    return f"<section><h2>Query by query</h2>{blocks}{rest}</section>"


def _query(found: Evaluation, query: str, games: list[Played]) -> str:
    agents = sorted({agent for one in games for agent in (one.game.agent_a, one.game.agent_b)})
    points = dict.fromkeys(agents, 0.0)
    for one in games:
        half = 0.5 if one.game.winner == "tie" else 0.0
        points[one.game.agent_a] += half + (one.game.winner == "a")
        points[one.game.agent_b] += half + (one.game.winner == "b")
    best = sorted(agents, key=lambda agent: (-points[agent], agent))
    standing = ", ".join(f"{escape(agent)} {points[agent]:g}" for agent in best)
    reference = found.entries.references.get(query)
    known = f"<p><b>Reference.</b> {escape(reference)}</p>" if reference else ""
    answers = "".join(_answer(found, query, agent) for agent in best)
    rows = "".join(_game(one) for one in games)
    return (
        f"<details><summary>{escape(found.entries.queries[query])}"
        f"<br><span class=quiet>{escape(query)} · points: {standing}</span></summary><div class=in>{known}"
        f"<div class=answers>{answers}</div><details><summary>Games: {len(games)}</summary><div class=in>{rows}</div>"
        "</details></div></details>"
    )


def _answer(found: Evaluation, query: str, agent: str) -> str:
    mark = found.marks.get((query, agent))
    score, reason = "", ""
    if mark is not None:
        parts = (
            f" ({', '.join(f'{escape(k)} {v:.2f}' for k, v in mark.aspects.items())})" if len(mark.aspects) > 1 else ""
        )
        score = f": {mark.score:.2f}{parts}" if mark.score is not None else f": unscored, {escape(mark.unscored)}"
        reason = f"<div class=reason>{escape(mark.reason)}</div>" if mark.reason else ""
    text = found.entries.answers[query, agent]
    cut = escape(text[:MOST_CHARACTERS]) + (" …" if len(text) > MOST_CHARACTERS else "")
    return (
        f"<article class=answer><h4>{escape(agent)}{score}</h4>"
        f"<div class=text>{cut or '<i>(empty answer)</i>'}</div>{reason}</article>"
    )


def _game(one: Played) -> str:
    game = one.game
    results = {"a": f"{game.agent_a} wins", "b": f"{game.agent_b} wins", "tie": "tie"}
    result = results.get(game.winner or "", f"unscored: {game.unscored}")
    flip = " The verdict changed with the order." if one.flipped else ""
    reason = f"<div class=reason>{escape(one.reason)}</div>" if one.reason else ""
    return f"<p>{escape(game.agent_a)} – {escape(game.agent_b)}: <b>{escape(result)}</b>.{flip}</p>{reason}"
