"""A file of played games: ours, or RAGElo's as it is."""

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from judgec.errors import InputError
from judgec.labels.rows.label_cells import label_cells
from judgec.records.game import SCORE_OF_A, Games
from judgec.records.label import IntArray
from judgec.records.scale import Grade
from judgec.records.tasks.spec import PAIR_AGENTS
from judgec.records.tasks.winners import OPTION, UNSCORED, unknown_words, winner_of
from judgec.table.rows.cells import as_grade
from judgec.table.rows.columns import listed, renamed
from judgec.table.table import NO_CELL, Table

QUERY = "query_id"
NEEDED = (*PAIR_AGENTS, "winner")
COLUMNS = (QUERY, *NEEDED)
PAIRS = (("model_a", "model_b"), ("left", "right"), ("item1", "item2"))  # Arena's sides, and other tools'
THEIR_QUERIES = ("question_id", "qid")  # Arena's, RAGElo's
THEIR_WINNERS = ("preference", "label", "answer")  # expert labels', pairs of items', RAGElo's; the first that is there
SCORES = np.array([*(SCORE_OF_A[side] for side in ("a", "b", "tie")), math.nan])
CODES = {"a": 0, "b": 1, "tie": 2, UNSCORED: 3}
_WHOLE = re.compile(r"(-?\d+)(?:\.0+)?")
_NUMBER = re.compile(r"-?\d+(\.0+|\.\d*[1-9])?")  # 1.10 is none: nobody writes a number so


def repeating(table: Table, rename: Mapping[str, str] | None = None) -> dict[str, int]:
    """The number of different values of each column in which values repeat, most first: a query may be one of them.

    Args:
        table: The games, under their own heads.
        rename: Names of ours by names that the table may use.
    """
    known = {*COLUMNS, *THEIR_QUERIES, *THEIR_WINNERS, *(name for pair in PAIRS for name in pair), *(rename or {})}
    counts = {name: table.column(name).present().counts for name in table.columns if name not in known}
    found = {name: len(each) for name, each in counts.items() if 1 < len(each) < sum(each)}
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def is_games(columns: Sequence[str]) -> bool:
    """True if a table names two agents a row."""
    return any(set(pair) <= set(columns) for pair in (PAIR_AGENTS, *PAIRS))


def games_of(
    table: Table, rename: Mapping[str, str] | None = None, said: Mapping[str, str] = MappingProxyType({})
) -> Games:
    """The games of a table with the columns ``query_id, agent_a, agent_b, winner``; every row is one game.

    ``winner`` is a, b, tie or empty (unscored), or another word of ``records.tasks.winners``. ``model_a``, ``left`` and
    ``item1`` are ``agent_a``; ``question_id``, RAGElo's ``qid`` and ``answer``, ``preference`` as experts label it and
    ``label`` are read where ours are missing. Without ``query_id`` each game is a query of its own.

    Args:
        table: Any rows.
        rename: New names by the file's own column names.
        said: What words for the winner mean, as ``records.tasks.winners.winner_words`` makes it.

    Raises:
        InputError: Missing columns, an empty id, an agent against itself, with the line; unknown words, all together.
    """
    rename, path = dict(rename or {}), table.path
    named = renamed(Table(path, table.columns, (), ()), rename).columns
    theirs = _theirs(named)
    ours = [theirs.get(name, name) for name in named]
    missing = [name for name in NEEDED if name not in ours]
    if missing:
        fault = (
            f"{path}:1: no column {listed(missing)}; games need {listed(NEEDED)}, and the file has "
            f"{listed(ours)}. Rename with --map, for example --map THEIR_COLUMN={missing[0]}."
        )
        raise InputError([fault])
    return _games(table, dict(zip(ours, table.columns, strict=True)), said)


def _theirs(named: Sequence[str]) -> dict[str, str]:
    """Our names by theirs, of columns that stand for one of ours that is not there."""
    query = [name for name in THEIR_QUERIES if name in named] if QUERY not in named else []
    theirs = dict.fromkeys(query[:1], QUERY)
    if "winner" not in named:
        theirs |= dict.fromkeys([one for one in THEIR_WINNERS if one in named][:1], "winner")
    if not set(PAIR_AGENTS) & set(named):
        pair = next((pair for pair in PAIRS if set(pair) <= set(named)), ())
        theirs |= dict(zip(pair, PAIR_AGENTS, strict=False))
    return theirs


def _games(table: Table, their_name: Mapping[str, str], said: Mapping[str, str]) -> Games:
    alone = QUERY not in their_name
    query, queries = _each_row(table) if alone else _ids(table, their_name[QUERY])
    first, second, agents = _agents(table, *(their_name[side] for side in PAIR_AGENTS))
    winner, words = _winners(table, their_name["winner"], said)
    heads = {their_name[side].strip().casefold(): letter for side, letter in zip(PAIR_AGENTS, "ab", strict=True)}
    sides = [winner_of(word, said) or heads.get(str(word).strip().casefold()) for word in words]
    meant = np.array([CODES.get(side or "", NO_CELL) for side in sides] + [CODES[UNSCORED]], dtype=np.int64)[winner]
    for at, (word, side) in enumerate(zip(words, sides, strict=True)):  # an agent's own name; a number may be a side
        if side is None and isinstance(word, str) and word.strip() in agents:
            player = agents.index(word.strip())
            meant[(winner == at) & (first == player)] = CODES["a"]
            meant[(winner == at) & (second == player)] = CODES["b"]
    strange = (meant == NO_CELL) & (winner != NO_CELL)
    faults = []
    for row in np.flatnonzero((query == NO_CELL) | (first == NO_CELL) | (second == NO_CELL) | (first == second)):
        where = table.where(int(row))
        empty = [name for name, codes in zip(COLUMNS, (query, first, second), strict=False) if codes[row] == NO_CELL]
        if empty:
            named = "both agents" if alone else "its query and both agents"
            faults.append(f"{where}: {listed(empty)} is empty; a game names {named}. Fill it in.")
        else:
            faults.append(
                f"{where}: agent {agents[first[row]]!r} plays against itself; a game needs two agents. "
                "Correct agent_a or agent_b."
            )
    if strange.any():
        rows = np.flatnonzero(strange)
        below = " and below" if len(rows) > 1 else ""
        unknown = unknown_words(words[code] for code in winner[rows].tolist())
        faults.append(f"{table.where(int(rows[0]))}{below}: {unknown}")
    if not said and not faults:
        faults += _namesakes(table, agents, first, second, winner, words, sides)
    if faults:
        raise InputError(faults)
    return Games(
        agents=tuple(agents), queries=tuple(queries), a=first, b=second, query=query, score=SCORES[meant], alone=alone
    )


def _namesakes(
    table: Table,
    agents: Sequence[str],
    first: IntArray,
    second: IntArray,
    winner: IntArray,
    words: Sequence[Grade],
    sides: Sequence[str | None],
) -> list[str]:
    """Words that are a side and the name of the agent on the other side: nobody can tell which of them was meant."""
    code = {name: position for position, name in enumerate(agents)}
    other = {"a": second, "b": first}
    for at, (word, side) in enumerate(zip(words, sides, strict=True)):
        named = code.get(str(word).strip(), NO_CELL)
        if side not in other or named == NO_CELL:
            continue
        rows = np.flatnonzero((winner == at) & (other[side] == named))
        if len(rows):
            fault = (
                f"{table.where(int(rows[0]))}: winner {str(word)!r} is agent_{side}, and it is the name of the agent "
                f"on the other side, too; one of these is meant. If sides are, say so with {OPTION} {word}={side}; "
                "else name the agents otherwise."
            )
            return [fault]
    return []


def _each_row(table: Table) -> tuple[IntArray, list[str]]:
    """A query of its own for each row."""
    return np.arange(len(table.rows)), [str(row + 1) for row in range(len(table.rows))]


def _ids(table: Table, column: str) -> tuple[IntArray, list[str]]:
    """Codes of a column's identifiers, -1 where there is none, and the identifiers."""
    return table.column(column).present().as_ids()


def _agents(table: Table, first: str, second: str) -> tuple[IntArray, IntArray, list[str]]:
    """Codes of both agents of each row, and the agents, sorted.

    N.0 is N where N is there, too, or where every cell of both columns is a whole number. A name is else what is
    written: beside 1.10, 1 and 1.0 are versions.
    """
    coded = [_ids(table, name) for name in (first, second)]
    cells = {name for _, own in coded for name in own}
    whole = all(map(_WHOLE.fullmatch, cells))
    plain_numbers = all(map(_NUMBER.fullmatch, cells))
    versions = {name.partition(".")[0] for name in cells if re.fullmatch(r"-?\d+\.\d*[1-9].*", name)}
    numbers = {name: one for name in cells if (one := _WHOLE.sub(r"\1", name)) not in versions or plain_numbers}
    same = {name: one for name, one in numbers.items() if whole or one in cells}
    names = [[same.get(name, name) for name in own] for _, own in coded]
    agents = sorted({*names[0], *names[1]})
    code = {name: position for position, name in enumerate(agents)}
    a, b = (
        np.array([*(code[name] for name in own), NO_CELL], dtype=np.int64)[codes]
        for (codes, _), own in zip(coded, names, strict=True)
    )
    return a, b, agents


def _winners(table: Table, column: str, said: Mapping[str, str]) -> tuple[IntArray, list[Grade]]:
    """The same of the words for who won; a missing one is no word."""
    found = table.column(column).present()
    words = [as_grade(value) for value in label_cells(found.values, said=said)]
    if any(
        word is not None and winner_of(word, said) is None for word in words
    ):  # all that is strange is named at once
        words = [as_grade(value) for value in found.values]
    places = np.array([NO_CELL if word is None else code for code, word in enumerate(words)] + [NO_CELL])
    return places[found.codes], ["" if word is None else word for word in words]
