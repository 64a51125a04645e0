"""RAGElo's CSVs as they are: ``qid`` and ``did`` resolved through the files that lie beside them.

=====================================  ==========================================================
file                                   is read as
=====================================  ==========================================================
``rdnam_evaluations`` (qid, did,       relevance labels: ``answer`` is the grade
answer)
``pairwise_answers_evaluations``       preference labels: ``answer`` is A, B or C (tie)
(qid, agent_a, agent_b, answer)
``answers`` (qid, agent, answer)       items of the tasks answer and grade, with contexts
``documents`` (qid, did, document)     items of the task relevance
any of them with grade columns         labels, once the columns are renamed with ``--map``
=====================================  ==========================================================

``reasonings`` (texts), ``*_ranking`` (ratings) and the ``rdnam_*`` query files hold neither labels nor items.
RAGElo's verdicts come from an LM; whoever uses them as labels learns to agree with that LM.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from judgec.errors import InputError
from judgec.table.rows.cells import as_grade, as_id, is_missing
from judgec.table.rows.columns import listed
from judgec.table.table import Row, Table
from judgec.table.tables import read_table

_DROP = object()  # marks a column whose name means something else with us

VERDICTS = {"A": "a", "B": "b", "C": "tie"}


def is_ragelo(table: Table) -> bool:
    """True for a table that names its query by ``qid`` and has no text of it."""
    return "qid" in table.columns and "query" not in table.columns


def joined(table: Table) -> Table:
    """The table with our column names, and the texts of queries, documents and answers filled in.

    ``qid`` may also be the text of the query, as in RAGElo's own example of games.

    Raises:
        InputError: A side file is missing, or a row names a query, document or answer that is not in it.
    """
    folder = Path(table.path).parent
    faults: list[str] = []
    queries = _index(folder / "queries.csv", ("qid",), "query")
    by_text = {_plain(text): qid for (qid,), text in queries.items()}
    fill = _filler(table, folder, faults)
    rows: list[Row] = []
    for index, row in enumerate(table.rows):
        qid = as_id(row.get("qid", ""))
        qid = qid if (qid,) in queries else by_text.get(_plain(qid), qid)
        if (qid,) not in queries:
            faults.append(
                f"{table.where(index)}: query {qid!r} is not in {folder / 'queries.csv'}; "
                "each row needs one. Add it there."
            )
            continue
        kept = {name: value for name, value in row.items() if name not in {"qid", "did", "raw_answer"}}
        filled = {**kept, "query_id": qid, "query": queries[qid,], **fill(index, qid, row)}
        if "raw_answer" in row:
            filled["rationale"] = row["raw_answer"]
        rows.append({name: value for name, value in filled.items() if value is not _DROP})
    if faults:
        raise InputError(faults)
    columns = dict.fromkeys(name for row in rows for name in row)
    note = "RAGElo files: texts come from the CSVs beside; RAGElo's own verdicts are an LM's, not a human's."
    return replace(table, columns=tuple(columns), rows=tuple(rows), notes=(*table.notes, note))


def _filler(table: Table, folder: Path, faults: list[str]) -> Callable[[int, str, Row], Row]:
    """Returns a function that completes a row of this shape, by the columns of the table."""
    columns = set(table.columns)
    if {"agent_a", "agent_b"} <= columns:
        return _games(table, _index(folder / "answers.csv", ("qid", "agent"), "answer"), folder, faults)
    if "did" in columns:
        return _documents(table, folder, faults)
    if "agent" in columns:
        return _answers(table, folder, faults)
    return lambda _index, _qid, _row: {}


def _games(
    table: Table, answers: Mapping[tuple[str, ...], object], folder: Path, faults: list[str]
) -> Callable[[int, str, Row], Row]:
    known = sorted({agent for _, agent in answers})

    def fill(index: int, qid: str, row: Row) -> Row:
        found: Row = {}
        for side in ("a", "b"):
            agent = as_id(row.get(f"agent_{side}", ""))
            if (qid, agent) not in answers:
                faults.append(
                    f"{table.where(index)}: agent {agent!r} has no answer to {qid} in "
                    f"{folder / 'answers.csv'}, "
                    f"whose agents are {listed(known)}. Name the agents alike in both files."
                )
            found[f"answer_{side}"] = answers.get((qid, agent), "")
        verdict = as_id(row.get("answer", ""))
        return {**found, "answer": _DROP, "preference": VERDICTS.get(verdict.upper(), verdict)}

    return fill


def _documents(table: Table, folder: Path, faults: list[str]) -> Callable[[int, str, Row], Row]:
    own = "document" in table.columns
    by_pair = {} if own else _index(folder / "documents.csv", ("qid", "did"), "document")
    by_did = {did: text for (_, did), text in by_pair.items()}
    values = [row.get("answer") for row in table.rows if not is_missing(row.get("answer"))]
    graded = "grade" not in table.columns and bool(values) and not any(isinstance(as_grade(v), str) for v in values)

    def fill(index: int, qid: str, row: Row) -> Row:
        did = as_id(row.get("did", ""))
        found: Row = {"item_id": f"{qid}/{did}"}
        if not own:
            text = by_pair.get((qid, did), by_did.get(did))
            if text is None:
                faults.append(
                    f"{table.where(index)}: document {did!r} is not in {folder / 'documents.csv'}; "
                    "each row needs one. Add it there."
                )
            found["document"] = text
        if graded:
            found.update(answer=_DROP, grade=row.get("answer"))
        return found

    return fill


def _answers(table: Table, folder: Path, faults: list[str]) -> Callable[[int, str, Row], Row]:
    own = "answer" in table.columns
    answers = {} if own else _index(folder / "answers.csv", ("qid", "agent"), "answer")
    contexts: dict[str, list[object]] = {}
    file = folder / "documents.csv"
    if file.is_file() and "contexts" not in table.columns:
        documents = read_table(str(file))
        per_agent = "agent" in documents.columns
        for row in documents.rows:
            key = f"{as_id(row.get('qid', ''))}/{as_id(row.get('agent', '')) if per_agent else ''}"
            contexts.setdefault(key, []).append(row.get("document"))

    def fill(index: int, qid: str, row: Row) -> Row:
        agent = as_id(row.get("agent", ""))
        found: Row = {"item_id": f"{qid}/{agent}"}
        if not own:
            if (qid, agent) not in answers:
                faults.append(
                    f"{table.where(index)}: agent {agent!r} has no answer to {qid} in "
                    f"{folder / 'answers.csv'}; "
                    "each row needs one. Add it there."
                )
            found["answer"] = answers.get((qid, agent))
        passages = contexts.get(f"{qid}/{agent}", contexts.get(f"{qid}/"))
        return {**found, "contexts": passages} if passages else found

    return fill


def _index(path: Path, keys: Sequence[str], value: str) -> dict[tuple[str, ...], object]:
    """One column of a side file by its key columns.

    Raises:
        InputError: When the file or a column of it is missing.
    """
    table = read_table(str(path))
    missing = [name for name in (*keys, value) if name not in table.columns]
    if missing:
        raise InputError(
            [
                (
                    f"{path}:1: no column {listed(missing)}; the columns are {listed(table.columns)}. "
                    "Rename it in the file."
                )
            ]
        )
    return {tuple(as_id(row.get(key, "")) for key in keys): row.get(value) for row in table.rows}


def _plain(text: object) -> str:
    return " ".join(str(text).split()).casefold()
