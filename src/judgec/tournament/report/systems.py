"""Agents compared by what the judge says of all their answers, corrected by experts' grades of some."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from judgec.records.game import SCORE_OF_A
from judgec.records.label import Label
from judgec.records.scale import Scale
from judgec.stats.systems.compare import SystemComparison, compare_judges
from judgec.stats.systems.rows import PairRows, SystemRows
from judgec.tournament.files.graded import GradedAgents
from judgec.tournament.play import Cell, Mark, Played


def compared_agents(
    judge: str, marks: Mapping[Cell, Mark], played: Sequence[Played], graded: GradedAgents, learned: Collection[str]
) -> SystemComparison:
    """The agents by accept rate, mean grade or, where a judge compares answers, win rate.

    Args:
        judge: Its name.
        marks: What a judge of single answers said, by query and agent; empty of one that compares them.
        played: The games.
        graded: What experts gave.
        learned: Queries that the judge has learned from: it is not asked about them here.
    """
    given = {cell: float(np.mean([*scores.values()])) for cell, scores in graded.scores.items()}
    rows = _answers(marks, given, graded, learned) if marks else _games(played, given, learned)
    return compare_judges({judge: rows})


def _answers(
    marks: Mapping[Cell, Mark], given: Mapping[Cell, float], graded: GradedAgents, learned: Collection[str]
) -> SystemRows:
    query, names, system = _codes(list(marks))
    new = {cell: mark for cell, mark in marks.items() if cell[0] not in learned}
    said = [mark.score if (mark := new.get(cell)) is not None and mark.score is not None else np.nan for cell in marks]
    taken = [
        float(mark.accept) if (mark := new.get(cell)) is not None and mark.accept is not None else np.nan
        for cell in marks
    ]
    scale = graded.scale
    accepted = [_accepted(graded.labels.get(cell, ()), scale) for cell in marks]
    known = scale.accept_index is not None
    return SystemRows(
        query,
        system,
        names,
        np.array(said),
        np.array([given.get(cell, np.nan) for cell in marks]),
        accept=(np.array(taken), np.array(accepted)) if known else None,
        step=scale.step,
        ends=scale.ends,
    )


def _accepted(labels: Sequence[Label], scale: Scale) -> float:
    """The share of people who accept an answer, in all that they graded; NaN where nobody did."""
    least = scale.accept_index or 0
    votes = [
        label.accept if label.accept is not None else min(label.grades.values()) >= least
        for label in labels
        if label.accept is not None or label.grades
    ]
    return float(np.mean(votes)) if votes else float("nan")


def _games(played: Sequence[Played], given: Mapping[Cell, float], learned: Collection[str]) -> PairRows:
    games = [one.game for one in played]
    sides = [((game.query_id, game.agent_a), (game.query_id, game.agent_b)) for game in games]
    query, names, system = _codes([cell for pair in sides for cell in pair])
    return PairRows(
        query[::2],
        system[::2],
        system[1::2],
        names,
        np.array([np.nan if game.query_id in learned else SCORE_OF_A[game.winner] for game in games]),
        np.array([(np.sign(given.get(a, np.nan) - given.get(b, np.nan)) + 1) / 2 for a, b in sides]),
    )


def _codes(cells: Sequence[Cell]) -> tuple[np.ndarray, tuple[str, ...], np.ndarray]:
    """Codes of queries, the agents' names, and their codes."""
    queries = {query: code for code, query in enumerate(dict.fromkeys(query for query, _ in cells))}
    names = tuple(sorted({agent for _, agent in cells}))
    code = {name: place for place, name in enumerate(names)}
    query = np.array([queries[one] for one, _ in cells], dtype=np.int64)
    return query, names, np.array([code[agent] for _, agent in cells], dtype=np.int64)
