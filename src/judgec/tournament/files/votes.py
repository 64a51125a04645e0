"""People's verdicts on games that a judge decided, too: games of their own, or grades of the agents' answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from types import MappingProxyType

import numpy as np

from judgec.errors import InputError, UserError
from judgec.records.game import Game, Games, Winner
from judgec.records.label import FloatArray
from judgec.table.rows.cells import as_grade, as_id, is_missing
from judgec.table.rows.columns import listed, renamed
from judgec.table.table import Table
from judgec.tournament.files.games import games_of, is_games
from judgec.tournament.files.preferences import refuse_chosen

GRADED = ("query_id", "agent", "grade")


@dataclass(frozen=True, slots=True)
class Votes:
    """People's verdicts beside the judge's.

    Args:
        games: The judge's, each query and pair once; the mean of those that were played several times.
        points: People's points for ``a`` in the same games, the mean of several people's; NaN where nobody looked.
        others: Verdicts of people on games that the judge did not decide; they are left out.
    """

    games: Games
    points: FloatArray
    others: int


def read_votes(
    table: Table,
    judged: Games,
    rename: Mapping[str, str] | None = None,
    said: Mapping[str, str] = MappingProxyType({}),
) -> Votes:
    """People's verdicts, put beside the judge's games.

    Args:
        table: Games as ``games_of`` reads them, a row a vote; or ``query_id, agent, grade``: of two graded answers the
            better one has won.
        judged: What the judge decided.
        rename: Our column names by theirs.
        said: As ``games_of``.

    Raises:
        InputError: Faulty rows, or games of which nobody says whose query they are.
        UserError: No vote is on a game of the judge's, or the rows were not drawn at random.
    """
    own = {theirs: ours for theirs, ours in (rename or {}).items() if theirs in table.columns}
    named = renamed(table, own)
    refuse_chosen(named)
    if is_games(named.columns):
        votes = games_of(named, said=said)
    elif set(GRADED) <= set(named.columns):
        votes = _graded(named)
    else:
        fault = (
            f"{table.path}:1: neither games nor grades; query_id, agent_a, agent_b, winner (or preference), or "
            f"{listed(GRADED)}, are needed. Rename with --map, for example --map THEIR_COLUMN=grade."
        )
        raise InputError([fault])
    if judged.alone or votes.alone:
        whose = "this file has" if votes.alone else "the games have"
        fault = f"{table.path}:1: votes are put beside games by their query, and {whose} no query_id. Add it to both."
        raise InputError([fault])
    games = _once(judged)
    place = {(games.queries[q], games.agents[a], games.agents[b]): n for n, (q, a, b) in enumerate(_codes(games))}
    sums, counts, others = np.zeros(len(games.a)), np.zeros(len(games.a)), 0
    for (query, a, b), score in zip(_codes(votes), votes.score.tolist(), strict=True):
        if np.isnan(score):
            continue
        names = votes.queries[query], votes.agents[a], votes.agents[b]
        turned = names not in place
        game = place.get((names[0], names[2], names[1]) if turned else names)
        if game is None:
            others += 1
            continue
        sums[game] += 1.0 - score if turned else score
        counts[game] += 1.0
    if not counts.any():
        raise UserError(
            f"{table.path}: none of its {others} votes is on a game that the judge decided; query_id and the agents' "
            f"names ({listed(judged.agents[:5])}) must be the same in both files. Correct them."
        )
    points: FloatArray = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    return Votes(games, points, others)


def _codes(games: Games) -> list[tuple[int, int, int]]:
    return list(zip(games.query.tolist(), games.a.tolist(), games.b.tolist(), strict=True))


def _once(games: Games) -> Games:
    """Games of a query and pair as one, in one order; their points are the mean of those that were scored."""
    turned = games.a > games.b
    low, high = np.where(turned, games.b, games.a), np.where(turned, games.a, games.b)
    score = np.where(turned, 1.0 - games.score, games.score)
    rows, code = np.unique(np.stack([games.query, low, high]), axis=1, return_inverse=True)
    scored = ~np.isnan(score)
    counts = np.bincount(code[scored], minlength=rows.shape[1])
    sums = np.bincount(code[scored], score[scored], minlength=rows.shape[1])
    mean = np.divide(sums, counts, out=np.full(rows.shape[1], np.nan), where=counts > 0)
    return Games(games.agents, games.queries, rows[1], rows[2], rows[0], mean)


def _graded(table: Table) -> Games:
    """A game of every two graded answers to a query; several grades of one answer count as their mean."""
    grades: dict[str, dict[str, list[float]]] = {}
    faults = []
    for index, row in enumerate(table.rows):
        if any(is_missing(row.get(name)) for name in GRADED):
            if not is_missing(row.get("grade")):
                faults.append(f"{table.where(index)}: query_id or agent is empty; a grade names both. Fill it in.")
            continue
        grade = as_grade(row["grade"])
        if grade is None or isinstance(grade, str):
            faults.append(f"{table.where(index)}: grade {row['grade']!r}; a number is valid. Correct it.")
            continue
        grades.setdefault(as_id(row["query_id"]), {}).setdefault(as_id(row["agent"]), []).append(grade)
    if faults:
        raise InputError(faults)
    means = {query: {agent: fmean(given) for agent, given in own.items()} for query, own in grades.items()}
    return Games.of(
        Game(query, a, b, _winner(own[a], own[b]))
        for query, own in means.items()
        for a, b in combinations(sorted(own), 2)
    )


def _winner(one: float, other: float) -> Winner:
    return "tie" if one == other else "a" if one > other else "b"
