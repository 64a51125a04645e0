"""Reads a tournament: RAGElo's three CSVs, any tables, JSON lines, TREC runs, or a YAML file that names them."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from judgec.errors import InputError, UserError
from judgec.labels.rows.items import ALTERNATIVES, digest
from judgec.records.citation import BY_ID, form_fault
from judgec.records.claim import NUGGETS
from judgec.records.counts import plural
from judgec.table.regular import seen_at
from judgec.table.rows.cells import as_id, as_nuggets, as_parts, as_text, as_texts, is_missing
from judgec.table.rows.columns import as_rename, listed, named_here, renamed
from judgec.table.safe_yaml import load_yaml
from judgec.table.table import Row, Table, TableColumn
from judgec.table.tables import TableSource, inside, name_of, opened
from judgec.tournament.files.entries import AnswerCost, Entries
from judgec.tournament.files.runs import is_table, read_run


def cost_of(row: Row) -> AnswerCost:
    """Columns ``seconds``, ``tokens`` or ``input_tokens`` and ``output_tokens``, ``usd``; no number is None."""
    tokens = _number(row.get("tokens"))
    if tokens is None:
        parts = [_number(row.get(name)) for name in ("input_tokens", "output_tokens")]
        known = [part for part in parts if part is not None]
        tokens = sum(known) if known else None
    return AnswerCost(_number(row.get("seconds")), tokens, _number(row.get("usd")))


def context_ids(row: Row, contexts: Sequence[str]) -> tuple[str, ...]:
    """An id for each context: the row's ``passage_ids`` where it has as many, else a hash of the text.

    An id may come again: these are then several chunks of one document.
    """
    given = _passage_ids(row)
    return given if len(given) == len(contexts) else tuple(digest(context)[:16] for context in contexts)


def _passage_ids(row: Row) -> tuple[str, ...]:
    cell = row.get("passage_ids")
    return () if is_missing(cell) else tuple(map(as_id, as_texts(cell)[0]))


def _number(value: object) -> float | None:
    if isinstance(value, bool) or is_missing(value):
        return None
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


RAGELO = {"qid": "query_id", "did": "doc_id"}
SHOWN = 5  # names listed in a note

REPEATED = ("row repeats an answer; it counts once.", "rows repeat an answer; it counts once.")
EMPTY = ("answer is empty; it is judged as one.", "answers are empty; they are judged as empty answers.")


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    queries: str | None = None
    answers: str | list[str] | dict[str, str] = []
    documents: str | None = None
    runs: list[str] = []
    qrels: str | None = None
    map: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Sources:
    """The tables of a tournament.

    Args:
        queries: Table of query_id, query, and optionally reference; None when the answers carry them.
        answers: Tables of query_id, agent, answer (optionally query, reference, contexts), and the agent that a
            file belongs to where it has no such column (empty: it has one).
        documents: Table of doc_id, document, and optionally query_id and agent: rows in order of rank.
        runs: TREC run files.
        qrels: Relevance grades, or None.
        rename: Our column names by theirs.
        citation_form: In which agents cite whose answers do not say it; empty where nobody knows.
    """

    queries: TableSource | None = None
    answers: tuple[tuple[TableSource, str], ...] = ()
    documents: TableSource | None = None
    runs: tuple[str, ...] = ()
    qrels: TableSource | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    citation_form: str = ""


def with_query_ids(table: Table, queries: Mapping[str, str], column: str = "query") -> Table:
    """A table of questions with the ids that they have in a tournament; one without an id there stands for its own.

    Args:
        table: Without a column ``query_id``.
        queries: The tournament's, by id.
        column: Of the questions; where there is none, the table stays as it is.
    """
    if column not in table.columns:
        return table
    ids = {text: query_id for query_id, text in queries.items()}
    texts = table.column(column).each(lambda cell: "" if is_missing(cell) else as_text(cell))
    found = table.with_columns({"query_id": TableColumn.of(ids.get(text, text) for text in texts)})
    return replace(found, columns=(*table.columns, "query_id"))


def read_manifest(path: str) -> Sources:
    """The files that a YAML tournament file names; relative paths start from its folder.

    Keys: ``queries``, ``answers`` (a file, a list, or files by agent), ``documents``, ``runs``, ``qrels``,
    ``map`` (our column names by theirs).

    Raises:
        InputError: When it is no such file, or names something unknown.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError([f"{path}: {seen_at(file)}; a YAML tournament file was expected. Check the path."])
    if is_table(path):
        raise InputError([f"{path}: a table; a YAML tournament file was expected. Give it as --answers {path}."])
    try:
        content = _Manifest.model_validate(load_yaml(path, file.read_text(encoding="utf-8")) or {})
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError([f"{path}: not YAML ({str(error).splitlines()[0]}); see 'judgec evaluate --help'."]) from error
    except ValidationError as error:
        raise InputError(
            [
                f"{path}: {'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}; valid keys are "
                f"{listed(_Manifest.model_fields)}. Fix the entry."
                for fault in error.errors()
            ]
        ) from error

    def beside(name: str) -> str:
        return str(inside(file.parent, name, where=path))

    given = content.answers
    answers = [(given, "")] if isinstance(given, str) else [(name, "") for name in given]
    if isinstance(given, dict):
        answers = [(name, agent) for agent, name in given.items()]
    return Sources(
        queries=beside(content.queries) if content.queries else None,
        answers=tuple((beside(name), agent) for name, agent in answers),
        documents=beside(content.documents) if content.documents else None,
        runs=tuple(map(beside, content.runs)),
        qrels=beside(content.qrels) if content.qrels else None,
        rename=as_rename([f"{theirs}={ours}" for theirs, ours in content.map.items()]),
    )


def read_entries(sources: Sources, others: Sequence[TableSource] = ()) -> Entries:
    """Read a tournament.

    The same row twice is one answer. Agents may lack answers; that is in ``Entries.missing``.

    Args:
        sources: The files.
        others: Tables that are read elsewhere, whose columns ``sources.rename`` may name as well.

    Raises:
        InputError: All faults of all files: missing columns, unknown query ids, one agent only, two different
            answers of an agent to one query; each with its line.
        UserError: When no file of answers was given.
    """
    if not sources.answers:
        raise UserError("evaluate: no answers; a file of query_id, agent, answer is needed. Give --answers.")
    reader = _Reader(dict(sources.rename), sources.citation_form)
    if sources.queries is not None:
        reader.read_queries(sources.queries)
    for table, agent in sources.answers:
        reader.read_answers(table, agent, has_queries=sources.queries is not None)
    if sources.documents is not None:
        reader.read_documents(sources.documents)
    for path in sources.runs:
        reader.read_run(path)
    qrels = [sources.qrels] if sources.qrels is not None and is_table(sources.qrels) else []
    return reader.finish(name_of(sources.answers[0][0]), [*others, *qrels])


class _Reader:
    """Collects rows and faults of all files."""

    def __init__(self, rename: dict[str, str], citation_form: str) -> None:
        self._rename = rename
        self._citation_form = citation_form
        self._unused = set(rename)
        self._faults: list[str] = []
        self._notes: list[str] = []
        self._queries: dict[str, str] = {}
        self._references: dict[str, str] = {}
        self._nuggets: dict[str, tuple[str, ...]] = {}
        self._answers: dict[tuple[str, str], tuple[str, str]] = {}  # text and place
        self._documents: dict[str, str] = {}
        self._listed: dict[str, set[str]] = {}  # names of the documents of a file of them, by file
        self._retrieved: dict[tuple[str, str], list[str]] = {}
        self._shared: dict[str, list[str]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()  # of one, and of several
        self._costs: dict[tuple[str, str], AnswerCost] = {}
        self._own_ids: dict[str, str] = {}
        self._settings: dict[str, dict[str, str]] = {}
        self._given: dict[tuple[str, str], tuple[str, ...]] = {}
        self._without_ids: dict[str, str] = {}  # the place of an answer whose contexts have none, by agent
        self._citing: dict[str, str] = {}

    def read_queries(self, source: TableSource) -> None:
        for where, row in self._rows(source, ("query_id", "query")):
            self._query(where, as_id(row["query_id"]), row)

    def read_answers(self, source: TableSource, agent: str, *, has_queries: bool) -> None:
        needed = ("query_id", "answer") if has_queries else ("query_id", "query", "answer")
        for where, row in self._rows(source, needed if agent else (*needed, "agent")):
            query_id = "" if is_missing(row.get("query_id")) else as_id(row["query_id"])
            name = agent or ("" if is_missing(row.get("agent")) else as_id(row["agent"]))
            if not name or not query_id:
                self._faults.append(f"{where}: {'query_id' if name else 'agent'} is empty; each row names it. Fill it.")
                continue
            if not has_queries:
                self._query(where, query_id, row)
            elif query_id not in self._queries:
                self._faults.append(
                    f"{where}: unknown query_id {query_id!r}; the queries file has no such row. Add it."
                )
                continue
            else:
                self._wanted(where, query_id, row)
            self._answer(where, (query_id, name), row)

    def _answer(self, where: str, key: tuple[str, str], row: Row) -> None:
        empty = is_missing(row.get("answer"))
        text = "" if empty else as_text(row["answer"])
        known = self._answers.get(key)
        if known is not None:
            self._counts[REPEATED] += 1
            if known[0] != text:
                self._faults.append(
                    f"{where}: another answer of {key[1]!r} to query {key[0]!r} than at {known[1]}; one is valid. "
                    "Delete one, or give the agents different names."
                )
            return
        self._counts[EMPTY] += empty
        self._answers[key] = (text, where)
        contexts = () if is_missing(row.get("contexts")) else as_texts(row["contexts"])[0]
        self._costs[key] = cost_of(row)
        if (settings := _settings(row.get("settings"))) and self._settings.setdefault(key[1], settings) != settings:
            self._faults.append(
                f"{where}: other settings of {key[1]!r} than before; an agent has one set. Rename one of the two."
            )
        self._cites(where, key[1], row)
        if not contexts:  # the documents' own file has their texts
            if given := _passage_ids(row):
                self._retrieved[key], self._given[key] = list(dict.fromkeys(given)), given
            return
        names = [
            self._named(doc_id, context) for doc_id, context in zip(context_ids(row, contexts), contexts, strict=True)
        ]
        ranking = self._retrieved.setdefault(key, [])
        ranking += [name for name in dict.fromkeys(names) if name not in ranking]
        left = iter(names)  # an empty context has a number, too
        self._given[key] = tuple("" if is_missing(part) else next(left) for part in as_parts(row["contexts"]))
        if len(_passage_ids(row)) != len(contexts):
            self._without_ids.setdefault(key[1], where)

    def _cites(self, where: str, agent: str, row: Row) -> None:
        """The form in which the agent cites, where the row says so."""
        if is_missing(row.get("citation_form")):
            return
        form = as_text(row["citation_form"]).strip()
        if agent not in self._citing and (fault := form_fault(form)):
            self._faults.append(f"{where}: citation_form {fault}. Correct it.")
        if self._citing.setdefault(agent, form) != form:
            self._faults.append(
                f"{where}: citation_form {form!r} of {agent!r}, {self._citing[agent]!r} before; an agent has one. "
                "Correct one of the two."
            )

    def _named(self, doc_id: str, text: str) -> str:
        """The id of a text: another than its file's where that stands for another text (chunks, two indexes)."""
        if self._documents.setdefault(doc_id, text) == text:
            return doc_id
        name = digest([doc_id, text])[:16]
        self._documents[name], self._own_ids[name] = text, doc_id
        return name

    def read_documents(self, source: TableSource) -> None:
        rows = list(self._rows(source, ("doc_id", "document")))
        texts: dict[str, set[str]] = {}
        for _, row in rows:
            texts.setdefault(as_id(row.get("doc_id", "")), set()).add(as_text(row.get("document") or ""))
        reused = {doc_id for doc_id, different in texts.items() if len(different) > 1}
        if reused:
            self._notes.append(f"{len(reused)} document ids stand for different texts; they are told apart by query.")
        for where, row in rows:
            doc_id = as_id(row.get("doc_id", ""))
            query_id = "" if is_missing(row.get("query_id")) else as_id(row["query_id"])
            name = f"{query_id}/{doc_id}" if doc_id in reused else doc_id
            if name != doc_id:
                self._own_ids[name] = doc_id
            self._listed.setdefault(name_of(source), set()).add(name)
            text = as_text(row.get("document") or "")
            if self._documents.setdefault(name, text) != text:
                self._faults.append(f"{where}: document {doc_id} has two texts; one is valid. Rename one.")
            if not query_id:
                continue
            if query_id not in self._queries:
                self._faults.append(
                    f"{where}: unknown query_id {query_id!r}; the queries file has no such row. Add it."
                )
                continue
            agent = "" if is_missing(row.get("agent")) else as_id(row["agent"])
            ranking = self._retrieved.setdefault((query_id, agent), []) if agent else self._shared_of(query_id)
            if name not in ranking:
                ranking.append(name)

    def _shared_of(self, query_id: str) -> list[str]:
        return self._shared.setdefault(query_id, [])

    def read_run(self, path: str) -> None:
        unknown: set[str] = set()
        for (query_id, agent), ranking in read_run(path).items():
            if query_id not in self._queries:
                unknown.add(query_id)
                continue
            self._retrieved[query_id, agent] = list(ranking)
        if unknown:
            queries = plural(len(unknown), "query is", "queries are")
            self._notes.append(f"{path}: {queries} not in this tournament: left out.")

    def finish(self, path: str, others: Sequence[TableSource]) -> Entries:
        for other in others if self._unused else ():
            self._unused -= set(opened(other).columns)
        if self._unused and not self._faults:
            name = min(self._unused)
            self._faults.append(f"--map: no file has a column {name!r}. Correct the name.")
        agents = sorted({agent for _, agent in self._answers})
        if len(agents) < 2 and not self._faults:
            said = f"one agent only ({agents[0]})" if agents else "no answers"
            self._faults.append(f"{path}: {said}; a tournament needs at least two. Add another agent's answers.")
        if not self._faults and len({query_id for query_id, _ in self._answers}) == len(self._answers):
            self._faults.append(f"{path}: no two agents answered the same query; games need that. Check the query ids.")
        named = {key: tuple(self._here(key[0], one) for one in ids) for key, ids in self._retrieved.items()}
        used = {one for ids in (*named.values(), *self._shared.values()) for one in ids}
        self._faults += [
            f"{file}: none of its {len(ids)} documents is one that an answer rests on; a column query_id (and agent), "
            "a --run, or ids in the answers' column passage_ids say which are. Add one of these."
            for file, ids in self._listed.items()
            if used.isdisjoint(ids)
        ]
        having = {*agents} if self._shared else {agent for (_, agent), ids in named.items() if ids}
        forms = {agent: self._citing.get(agent, self._citation_form) for agent in agents if agent in having}
        citing = {agent: form for agent, form in forms.items() if form}
        self._faults += [
            f"{self._without_ids[agent]}: no passage_ids of its contexts, by which {agent!r} cites ({form}); an id for "
            "each context is needed. Add the column."
            for agent, form in citing.items()
            if BY_ID in form and agent in self._without_ids
        ]
        if self._faults:
            raise InputError(self._faults)
        namers = {agent for _, agent in self._given}
        empty = {key: () for key in self._answers if key[1] in namers and key[0] not in self._shared}
        retrieved = empty | {key: ids for key, ids in named.items() if key[1] in agents}
        strangers = sorted({agent for _, agent in self._retrieved} - set(agents))
        if strangers:
            self._notes.append(f"Documents of {_some(strangers)}, who answered nothing, are not used.")
        self._notes += [plural(count, one, many) for (one, many), count in self._counts.items() if count]
        return Entries(
            queries=self._queries,
            answers={key: text for key, (text, _) in self._answers.items()},
            references=self._references,
            nuggets=self._nuggets,
            documents=self._documents,
            retrieved=retrieved,
            shared={query_id: tuple(ids) for query_id, ids in self._shared.items()},
            notes=tuple(self._notes),
            costs={key: cost for key, cost in self._costs.items() if cost != AnswerCost()},
            own_ids=self._own_ids,
            settings=self._settings,
            given={
                key: given
                for key, ids in self._given.items()
                if (given := tuple(self._here(key[0], one) for one in ids)) != retrieved.get(key, ())
            },
            citing=citing,
        )

    def _here(self, query_id: str, doc_id: str) -> str:
        """The name of a document of a query: another than its id where that stands for several texts."""
        name = f"{query_id}/{doc_id}"
        return name if name in self._own_ids else doc_id

    def _query(self, where: str, query_id: str, row: Row) -> None:
        if is_missing(row.get("query")):
            self._faults.append(f"{where}: no query text; every query needs one. Fill it in.")
            return
        text = as_text(row["query"])
        if self._queries.setdefault(query_id, text) != text:
            self._faults.append(f"{where}: another text for query_id {query_id!r}; one is valid. Give it another id.")
        self._wanted(where, query_id, row)

    def _wanted(self, where: str, query_id: str, row: Row) -> None:
        """Reads what a good answer to the query of a row is."""
        if not is_missing(row.get("reference")):
            self._references.setdefault(query_id, _reference(row["reference"]))
        if not is_missing(row.get(NUGGETS)):
            try:
                self._nuggets.setdefault(query_id, as_nuggets(row[NUGGETS])[0])
            except ValueError as fault:
                self._faults.append(f"{where}: {fault}")

    def _rows(self, source: TableSource, needed: Sequence[str]) -> Iterator[tuple[str, Row]]:
        table, path = self._table(source), name_of(source)
        if "query_id" in needed and "query_id" not in table.columns:
            table = with_query_ids(table, self._queries)
        missing = [name for name in needed if name not in table.columns]
        if missing:
            self._faults.append(
                f"{path}:1: no column {listed(missing)}; the columns are {listed(table.columns)}. "
                f"Rename with --map, for example --map THEIR_COLUMN={missing[0]}."
            )
            return
        for index, row in enumerate(table.rows):
            yield table.where(index), row

    def _table(self, source: TableSource) -> Table:
        table = opened(source)
        own = named_here(table.columns, self._rename)
        self._unused -= set(own)
        table = renamed(table, own)
        theirs = {old: new for old, new in RAGELO.items() if old in table.columns and new not in table.columns}
        return replace(renamed(table, theirs), path=name_of(source))


def _reference(value: object) -> str:
    return ALTERNATIVES.join(as_texts(value)[0]) if isinstance(value, list) else as_text(value)


def _some(names: Sequence[str]) -> str:
    return listed(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _settings(cell: object) -> dict[str, str]:
    """An object of settings, or its JSON from a CSV file; empty of anything else."""
    found = _object(cell)
    return {str(name): as_text(value) for name, value in found.items()} if isinstance(found, dict) else {}


def _object(cell: object) -> object:
    """The content of a cell, where it is the text of JSON; None of other texts."""
    if not isinstance(cell, str):
        return cell
    try:
        return json.loads(cell)
    except ValueError:
        return None
