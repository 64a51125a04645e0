"""A file of played games: ours, or RAGElo's as it is."""

from collections.abc import Mapping

import numpy as np

from judgec.errors import InputError
from judgec.records.game import SCORE_OF_A, Games
from judgec.store.rows.cells import as_id, as_text, is_missing
from judgec.store.rows.columns import listed, renamed
from judgec.store.table import Table
from judgec.store.tables import read_table

COLUMNS = ("query_id", "agent_a", "agent_b", "winner")
THEIR_COLUMNS = {"qid": "query_id", "preference": "winner", "answer": "winner"}  # RAGElo's, and expert labels'

WORDS = {"a": SCORE_OF_A["a"], "b": SCORE_OF_A["b"], "tie": SCORE_OF_A["tie"]}
RAGELO_WORDS = {"A": SCORE_OF_A["a"], "B": SCORE_OF_A["b"], "C": SCORE_OF_A["tie"]}


def read_games(path: str, rename: Mapping[str, str] | None = None) -> Games:
    """Read games with the columns ``query_id, agent_a, agent_b, winner``; every row is one game.

    ``winner`` is a, b, tie or empty (unscored). RAGElo's ``qid`` and ``answer`` (A, B, C = tie), and ``preference``
    as experts label it, are read where ours are missing.

    Args:
        path: Any file that ``read_table`` reads.
        rename: New names by the file's own column names.

    Raises:
        InputError: Missing columns, an empty id, an agent against itself, an unknown word; with the line.
    """
    return games_of(read_table(path), rename)


def games_of(table: Table, rename: Mapping[str, str] | None = None) -> Games:
    """The games of a table; as ``read_games``."""
    rename, path = dict(rename or {}), table.path
    table = renamed(table, rename)
    theirs: dict[str, str] = {}
    for old, new in THEIR_COLUMNS.items():
        if old in table.columns and new not in table.columns and new not in theirs.values():
            theirs[old] = new
    table = renamed(table, theirs)
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        fault = (
            f"{path}:1: no column {listed(missing)}; games need {listed(COLUMNS)}, and the file has "
            f"{listed(table.columns)}. Rename with --map, for example --map THEIR_COLUMN={missing[0]}."
        )
        raise InputError([fault])
    is_answer = "answer" in theirs or rename.get("answer") == "winner"
    return _games(table, WORDS | RAGELO_WORDS if is_answer else WORDS)


def _games(table: Table, words: Mapping[str, float]) -> Games:
    agents: dict[str, int] = {}
    queries: dict[str, int] = {}
    rows: list[tuple[int, int, int]] = []
    score: list[float] = []
    faults: list[str] = []
    for index, row in enumerate(table.rows):
        ids = {name: "" if is_missing(row.get(name)) else as_id(row[name]) for name in COLUMNS[:3]}
        said = row.get("winner")
        word = "" if is_missing(said) else as_text(said).strip()
        where = table.where(index)
        if not all(ids.values()):
            empty = listed(name for name, value in ids.items() if not value)
            faults.append(f"{where}: {empty} is empty; a game names its query and both agents. Fill it in.")
        elif ids["agent_a"] == ids["agent_b"]:
            faults.append(
                f"{where}: agent {ids['agent_a']!r} plays against itself; a game needs two agents. "
                "Correct agent_a or agent_b."
            )
        elif word and word not in words:
            faults.append(f"{where}: winner {word!r}; valid are {listed(words)} or empty. Correct the word.")
        else:
            first, second = (agents.setdefault(ids[name], len(agents)) for name in ("agent_a", "agent_b"))
            rows.append((first, second, queries.setdefault(ids["query_id"], len(queries))))
            score.append(words[word] if word else SCORE_OF_A[None])
    if faults:
        raise InputError(faults)
    names = sorted(agents)
    by_name = np.empty(len(names), dtype=np.int64)
    by_name[[agents[name] for name in names]] = np.arange(len(names))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return Games(
        agents=tuple(names),
        queries=tuple(queries),
        a=by_name[columns[:, 0]],
        b=by_name[columns[:, 1]],
        query=columns[:, 2],
        score=np.array(score, dtype=np.float64),
    )
