"""TREC's text formats: run files (what each agent retrieved) and qrels (how relevant documents are)."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from judgec.errors import InputError
from judgec.records.counts import plural
from judgec.table.regular import seen_at
from judgec.table.rows.cells import as_id, is_missing
from judgec.table.rows.columns import listed, named_here, renamed
from judgec.table.table import Table
from judgec.table.tables import TableSource, name_of, opened

TABLES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
COLUMNS = {"qid": "query_id", "did": "doc_id", "docid": "doc_id", "relevance": "grade", "rel": "grade"}


def read_run(path: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Document ids, best first, by (query id, agent); the run tag is the agent.

    Lines are ``query_id Q0 doc_id rank score tag``. The score decides, and among equal scores the rank.

    Raises:
        InputError: Broken lines and repeated documents, each with its line.
    """
    found: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    faults: list[str] = []
    for line, cells in _lines(path):
        try:
            query_id, _, doc_id, rank, score, *tag = cells
            key, place = (query_id, " ".join(tag)), (-float(score), float(rank))
        except ValueError:
            faults.append(
                f"{path}:{line}: {' '.join(cells)[:60]!r}; 'query_id Q0 doc_id rank score tag' is valid. Fix the line."
            )
            continue
        if not tag:
            faults.append(f"{path}:{line}: no run tag; the sixth column names the agent. Add it.")
        elif doc_id in found.setdefault(key, {}):
            faults.append(f"{path}:{line}: document {doc_id} again for query {query_id}; once is valid. Drop one.")
        else:
            found[key][doc_id] = place
    if faults:
        raise InputError(faults)
    return {key: tuple(sorted(docs, key=lambda doc_id: docs[doc_id])) for key, docs in found.items()}


def is_table(source: TableSource) -> bool:
    """True if qrels are a table with a header: rows, or a file by its name."""
    return isinstance(source, Table) or Path(source).suffix.lower() in TABLES


def read_qrels(source: TableSource, rename: Mapping[str, str] | None = None) -> dict[tuple[str, str], int]:
    """Relevance grades: TREC's ``query_id 0 doc_id grade``, or a table with query_id, doc_id, grade.

    Args:
        source: The file, or rows of such a table.
        rename: Our column names by theirs, for all files of a tournament.

    Raises:
        InputError: Broken lines, missing columns, two grades of one document; each with its line.
    """
    rows = _table_rows(source, rename or {}) if is_table(source) else _trec_rows(name_of(source))
    found: dict[tuple[str, str], int] = {}
    faults: list[str] = []
    for where, query_id, doc_id, grade in rows:
        if not grade.lstrip("-").isdecimal():
            faults.append(f"{where}: grade {grade!r}; a whole number is valid. Fix the line.")
        elif found.setdefault((query_id, doc_id), int(grade)) != int(grade):
            faults.append(f"{where}: document {doc_id} of query {query_id} has a second grade {grade}. Drop one.")
    if faults:
        raise InputError(faults)
    return found


def _trec_rows(path: str) -> Iterator[tuple[str, str, str, str]]:
    for line, cells in _lines(path):
        if len(cells) != 4:
            raise InputError(
                [f"{path}:{line}: {plural(len(cells), 'column')}; 'query_id 0 doc_id grade' is valid. Fix the line."]
            )
        yield f"{path}:{line}", cells[0], cells[2], cells[3]


def _table_rows(source: TableSource, rename: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    table, path = opened(source), name_of(source)
    table = renamed(table, named_here(table.columns, rename))
    name = {COLUMNS.get(column, column): column for column in table.columns}
    missing = [column for column in ("query_id", "doc_id", "grade") if column not in name]
    if missing:
        raise InputError(
            [f"{path}:1: no column {listed(missing)}; there are {listed(table.columns)}. Rename with --map."]
        )
    for index, row in enumerate(table.rows):
        if not is_missing(row.get(name["grade"])):
            cells = (as_id(row.get(name[column], "")) for column in ("query_id", "doc_id", "grade"))
            query_id, doc_id, grade = cells
            yield table.where(index), query_id, doc_id, grade


def _lines(path: str) -> Iterator[tuple[int, list[str]]]:
    if not Path(path).is_file():
        raise InputError([f"{path}: {seen_at(Path(path))}; a TREC run or qrels file was expected. Check the path."])
    for number, line in enumerate(Path(path).read_text(encoding="utf-8-sig", errors="replace").splitlines(), 1):
        if line.strip():
            yield number, line.split()
