"""Expert preferences between agents' answers: a file of games that experts decided."""

from collections.abc import Mapping
from types import MappingProxyType

from judgec.errors import InputError
from judgec.labels.rows.items import digest
from judgec.raters.programs import Program
from judgec.records.game import Games
from judgec.table.rows.cells import as_text, is_missing
from judgec.table.rows.columns import RANDOM, STRATUM, named_here
from judgec.table.table import Table
from judgec.table.tables import TableSource, opened
from judgec.tournament.files.games import games_of


def read_preferences(
    source: TableSource, rename: Mapping[str, str] | None = None, said: Mapping[str, str] = MappingProxyType({})
) -> Games:
    """Games with ``query_id, agent_a, agent_b, preference`` (a, b, tie, or empty), a row an expert.

    Args:
        source: Any file that ``read_table`` reads, or its rows.
        rename: Our column names by theirs, for all files of a tournament: those that are not here are of another.
        said: As ``games_of``.

    Raises:
        InputError: As ``games_of``; and rows of a stratum that was chosen, not drawn.
    """
    table = opened(source)
    refuse_chosen(table)
    own = named_here(table.columns, rename or {})
    games = games_of(table, own, said)
    if games.alone:
        raise InputError([f"{table.path}:1: no column query_id; whose query a preference is about is needed. Add it."])
    return games


def refuse_chosen(table: Table) -> None:
    """Refuse a sheet of ``judgec labels next`` whose rows were chosen, not drawn.

    Raises:
        InputError: Rows of another stratum than the random one.
    """
    chosen = [
        f"{table.where(index)}: stratum {as_text(row[STRATUM])!r}; only games that were drawn at random can correct "
        "win rates. Leave the others out."
        for index, row in enumerate(table.rows)
        if not is_missing(row.get(STRATUM)) and as_text(row[STRATUM]) != RANDOM
    ]
    if chosen:
        raise InputError(chosen)


def learned_queries(program: Program, queries: Mapping[str, str]) -> frozenset[str]:
    """Ids of the queries that were in the judge's train or dev labels, by their id or, without one, their text."""
    split = program.split.get("queries", {})
    return frozenset(
        query_id
        for query_id, text in queries.items()
        if {split.get(query_id), split.get(digest(text)[:16])} & {"train", "dev"}
    )
