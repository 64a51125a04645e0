"""A file of played games: ours, or RAGElo's as it is."""

from collections.abc import Mapping

import numpy as np

from judgec.errors import InputError
from judgec.records.game import SCORE_OF_A, Games
from judgec.records.label import IntArray
from judgec.store.coded import NO_CELL, CodedTable, read_coded
from judgec.store.rows.columns import listed, renamed
from judgec.store.table import Table
from judgec.store.tables import TableSource

IDS = ("query_id", "agent_a", "agent_b")
COLUMNS = (*IDS, "winner")
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
    return games_of(game_columns(path, rename), rename)


def game_columns(source: TableSource, rename: Mapping[str, str] | None = None) -> CodedTable:
    """The columns that may tell of games, of a file or of rows in memory, as they stand there.

    Args:
        source: Any file that ``read_table`` reads, or its rows.
        rename: Names of ours by names that the file may use.

    Raises:
        InputError: As ``read_table``.
    """
    return read_coded(source, dict.fromkeys((*COLUMNS, *THEIR_COLUMNS, *(rename or {}))))


def games_of(table: CodedTable, rename: Mapping[str, str] | None = None) -> Games:
    """The games of a table; as ``read_games``."""
    rename, path = dict(rename or {}), table.path
    named = renamed(Table(path, table.columns, (), ()), rename).columns
    theirs: dict[str, str] = {}
    for old, new in THEIR_COLUMNS.items():
        if old in named and new not in named and new not in theirs.values():
            theirs[old] = new
    ours = [theirs.get(name, name) for name in named]
    missing = [name for name in COLUMNS if name not in ours]
    if missing:
        fault = (
            f"{path}:1: no column {listed(missing)}; games need {listed(COLUMNS)}, and the file has "
            f"{listed(ours)}. Rename with --map, for example --map THEIR_COLUMN={missing[0]}."
        )
        raise InputError([fault])
    is_answer = "answer" in theirs or rename.get("answer") == "winner"
    their_name = dict(zip(ours, table.columns, strict=True))
    return _games(table, their_name, WORDS | RAGELO_WORDS if is_answer else WORDS)


def _games(table: CodedTable, their_name: Mapping[str, str], words: Mapping[str, float]) -> Games:
    query, queries = _ids(table, their_name["query_id"])
    first, names_of_a = _ids(table, their_name["agent_a"])
    second, names_of_b = _ids(table, their_name["agent_b"])
    agents = sorted({*names_of_a, *names_of_b})
    code = {name: position for position, name in enumerate(agents)}
    a, b = _recoded(first, [code[name] for name in names_of_a]), _recoded(second, [code[name] for name in names_of_b])
    winner, said = _winners(table, their_name["winner"])
    known = np.array([words.get(word, SCORE_OF_A[None]) for word in said] + [SCORE_OF_A[None]])
    strange = np.array([word not in words for word in said] + [False])
    faulty = (query == NO_CELL) | (a == NO_CELL) | (b == NO_CELL) | (a == b) | strange[winner]
    faults = []
    for row in np.flatnonzero(faulty).tolist():
        where = table.where(row)
        empty = [name for name, codes in zip(IDS, (query, a, b), strict=True) if codes[row] == NO_CELL]
        if empty:
            faults.append(f"{where}: {listed(empty)} is empty; a game names its query and both agents. Fill it in.")
        elif a[row] == b[row]:
            faults.append(
                f"{where}: agent {agents[a[row]]!r} plays against itself; a game needs two agents. "
                "Correct agent_a or agent_b."
            )
        else:
            word = said[winner[row]]
            faults.append(f"{where}: winner {word!r}; valid are {listed(words)} or empty. Correct the word.")
    if faults:
        raise InputError(faults)
    return Games(agents=tuple(agents), queries=tuple(queries), a=a, b=b, query=query, score=known[winner])


def _ids(table: CodedTable, column: str) -> tuple[IntArray, list[str]]:
    """Codes of a column's identifiers, -1 where there is none, and the identifiers."""
    found = table.coded.get(column)
    return (np.full(table.n_rows, NO_CELL), []) if found is None else found.as_ids()


def _winners(table: CodedTable, column: str) -> tuple[IntArray, list[str]]:
    """The same of the words for who won."""
    found = table.coded.get(column)
    if found is None:
        return np.full(table.n_rows, NO_CELL), []
    codes, texts = found.texts()
    words = [text.strip() for text in texts]
    return np.array([NO_CELL if not word else code for code, word in enumerate(words)] + [NO_CELL])[codes], words


def _recoded(codes: IntArray, places: list[int]) -> IntArray:
    return np.array([*places, NO_CELL], dtype=np.int64)[codes]
