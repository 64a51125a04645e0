"""Proposes which column of a table is what: by kinds, numbers of different values, lengths and gaps.

Words decide nothing: one table of names that others give judgec's columns proposes inputs, and a person confirms them.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from judgec.labels.rows.conversations import TURN, holding
from judgec.records.label import Task
from judgec.records.tasks.registry import OURS, TASKS, folded, told_by
from judgec.records.tasks.spec import PAIR, PAIR_AGENTS, PREFIXES
from judgec.table.rows.cells import as_number, as_text, is_accept_word, is_missing
from judgec.table.rows.records import NOBODY
from judgec.table.table import Table, TableColumn

Kind = Literal["empty", "constant", "id", "text", "small set", "number", "list", "object"]
MOST_GRADES = 12  # different values of a scale: 0 to 10, and a mark of nothing
LONGEST_GRADE = 24  # characters
LEAST_WORDS = 3  # of a text, on average
LETTERS_A_WORD = 10  # where a script puts no spaces
MOSTLY_NUMBERS = 0.8  # of the cells
NAMES = range(2, 31)  # of people, or of what answered
TWO = 2
SAID = "you said so"  # why a column is what it is
REPEATED = 0.5  # of the answers stand in several rows where a column says who graded
AGAIN = 0.3  # of these at most with one name twice

LABELS = frozenset(label for spec in TASKS.values() for label in spec.labels)


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """Facts of a column, from its values alone.

    Args:
        kind: Of its values.
        different: How many different ones there are.
        filled: Share of the rows that have one.
        words: Mean number of words of a cell.
        values: The different values and how often each stands there.
    """

    kind: Kind
    different: int
    filled: float
    words: float
    values: Counter[str]

    @property
    def graded(self) -> bool:
        """True where the values can be grades: a small set, or numbers."""
        return self.kind in {"small set", "number"}


@dataclass(frozen=True, slots=True)
class Roles:
    """Proposal of what each column is.

    Args:
        columns: judgec's name by the table's, of inputs and of who answered or graded.
        graded: Columns that hold grades, in the table's order.
        why: By column, where the proposal comes from.
        asked: Columns whose role is a guess by statistics or by a name of others, to be confirmed.
        seen: Facts by column.
        beside: Two texts of comparable length that may be answers to one question, where nobody said what they are.
        fields: Small fields of the objects that hold the grades, one of which may say who graded.
        task: What is labelled, where the columns tell it.
        rows: Those with a question and an answer; the others are sums, headings and notes.
    """

    columns: Mapping[str, str]
    graded: tuple[str, ...]
    why: Mapping[str, str]
    asked: tuple[str, ...]
    seen: Mapping[str, ColumnFacts]
    beside: tuple[str, ...]
    fields: tuple[str, ...]
    task: Task | None
    rows: Table

    def theirs(self, ours: str) -> str | None:
        """The table's name of a column."""
        return next((column for column, name in self.columns.items() if name == ours), None)

    @property
    def unused(self) -> tuple[str, ...]:
        """Columns without a role."""
        return tuple(name for name in self.seen if name not in self.columns and name not in self.graded)


@dataclass(frozen=True, slots=True)
class ProposedRoles:
    """The roles that a model proposes.

    Args:
        model: Who proposes.
        columns: Roles by column, of those that can be.
        ignored: What was proposed and cannot be, a sentence each.
    """

    model: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


def seen_in(column: TableColumn) -> ColumnFacts:
    """Kind and counts of a column."""
    rows = len(column.codes)
    pairs = [(value, n) for value, n in zip(column.values, column.counts, strict=True) if n and not is_missing(value)]
    counts: Counter[str] = Counter()
    for value, n in pairs:
        counts[as_text(value).strip()] += n
    cells = counts.total()
    words = sum(n * _words(text) for text, n in counts.items()) / max(1, cells)
    return ColumnFacts(_kind(pairs, counts, words, rows), len(counts), cells / max(1, rows), words, counts)


def _words(text: str) -> float:
    unspaced = not text.isascii() and " " not in text.strip()
    return max(len(text.split()), len(text) / LETTERS_A_WORD if unspaced else 0.0) if len(text) > LEAST_WORDS else 1.0


def _kind(pairs: Sequence[tuple[object, int]], counts: Counter[str], words: float, rows: int) -> Kind:
    if not counts:
        return "empty"
    kinds = {type(value) for value, _ in pairs}
    if kinds & {list, tuple} or all(isinstance(value, dict) for value, _ in pairs):
        return "list" if kinds & {list, tuple} else "object"
    if len(counts) == 1 and rows > 1:
        return "constant"
    cells, longest = counts.total(), max(map(len, counts))
    if words >= LEAST_WORDS and len(counts) > min(MOST_GRADES, cells / 4):
        return "text"
    numbers = {text: number for text in counts if (number := number_in(text)) is not None}
    alone = len(counts) == cells == rows
    if alone and (len(numbers) < len(counts) or all(map(float.is_integer, numbers.values()))):
        return "id" if words < LEAST_WORDS else "text"
    if len(counts) <= MOST_GRADES and longest <= LONGEST_GRADE and (cells >= 2 * len(counts) or numbers):
        return "small set"
    if sum(counts[text] for text in numbers) >= MOSTLY_NUMBERS * cells:
        return "number"
    return "text"


def number_in(text: str) -> float | None:
    """The number that a cell writes, with a comma or a percent sign, too."""
    return as_number(text.removesuffix("%").strip().replace(",", "."))


def propose(
    table: Table,
    said: Mapping[str, str],
    graders: Collection[str] = (),
    proposed: ProposedRoles | None = None,
) -> Roles:
    """Propose the roles of a table's columns.

    Args:
        table: As it stands in its file.
        said: judgec's names by the table's, as far as somebody said them.
        graders: Columns of grades that somebody named.
        proposed: What a model proposes.
    """
    look = _Look(table, dict(said), graders)
    look.by_name(proposed or ProposedRoles())
    if not holding(look.ours()):
        look.texts()
        look.leave_out()
    look.names()
    graded = tuple(name for name in table.columns if look.is_graded(name))
    columns = {name: look.columns[name] for name in table.columns if name in look.columns}
    return Roles(
        columns,
        graded,
        look.why,
        tuple(name for name in table.columns if name in look.asked),
        look.seen,
        look.beside,
        look.fields,
        look.task(),
        look.table,
    )


class _Look:
    """A look at a table: roles as they are found, inputs first, then names, and what is left may be grades."""

    def __init__(self, table: Table, said: dict[str, str], graders: Collection[str]) -> None:
        self.table, self.columns, self.graders = table, said, graders
        self.seen = {name: seen_in(table.column(name)) for name in table.columns}
        self.why = dict.fromkeys(said, SAID)
        self.asked: list[str] = []
        self.beside: tuple[str, ...] = ()

    def ours(self) -> set[str]:
        """Judgec's columns that are there, as far as is known."""
        return {self.columns.get(name, name) for name in self.table.columns}

    def by_name(self, proposed: ProposedRoles) -> None:
        """Judgec's own names, what is proposed, and what others call its columns where nothing else is called so."""
        inputs = {name for spec in TASKS.values() for name in spec.inputs} | {
            "annotator",
            "rationale",
            TURN,
            *PAIR_AGENTS,
        }
        own = {*inputs, "item_id", "query_id", "agent", "group", "order"}
        free = [name for name in self.table.columns if name not in self.columns and name not in self.graders]
        for name in free:
            if name in own and name not in self.columns.values():
                self._take(name, name, "judgec's name")
        for name, ours in proposed.columns.items():
            usable = name in free and name not in self.columns and ours not in self.columns.values()
            if usable and self.seen[name].kind not in {"empty", "constant"}:
                self._take(name, ours, f"proposed by {proposed.model}", asked=True)
        told = Counter(OURS.get(folded(name), "") for name in free)
        for name in free:
            ours = own_name if (own_name := folded(name)) in own else OURS.get(own_name, "")
            again = ours in self.columns.values() or told[ours] > 1
            if ours and not again and name not in self.columns and self.seen[name].kind not in {"empty", "constant"}:
                self._take(name, ours, f"often called {name!r}", asked=True)

    def texts(self) -> None:
        """The question and the answer among texts that have no role yet: in the order of the columns."""
        spec = told_by(self.columns.values())
        wanted = ["query", *([] if spec is not None else ["answer"])]
        missing = [ours for ours in wanted if ours not in self.columns.values()]
        free = [name for name in self.table.columns if name not in self.columns and name not in self.graders]
        texts = [n for n in free if self.seen[n].kind == "text" and self.seen[n].words >= LEAST_WORDS]
        if len(texts) < len(missing):  # short ones: the longest and most different
            wide = [n for n in free if self.seen[n].kind in {"text", "id"} and self.seen[n].words > 1]  # codes are none
            weight = {name: self.seen[name].different * sum(map(len, self.seen[name].values)) for name in wide}
            texts = sorted(sorted(wide, key=lambda name: -weight[name])[: len(missing)], key=free.index)
        answers = texts["query" in missing :]
        if "answer" in missing and "agent" not in self.columns.values() and self._are_alike(answers[:TWO]):
            self.beside, missing = tuple(answers[:TWO]), [ours for ours in missing if ours != "answer"]
        for ours, name in zip(missing, texts, strict=False):
            self._take(name, ours, f"text {1 + texts.index(name)} of {len(texts)}", asked=True)

    def leave_out(self) -> None:
        """Rows without a question or without an answer, where most have both."""
        inputs = [name for name, ours in self.columns.items() if ours in {"query", "answer", "document", *PAIR}]
        gaps = [self.table.column(name).missing for name in inputs if name in self.seen]
        kept = np.flatnonzero(~np.logical_or.reduce(gaps)) if gaps else np.arange(len(self.table.rows))
        if len(self.table.rows) / TWO < len(kept) < len(self.table.rows):
            self.table = self.table.only(kept)
            self.seen = {name: seen_in(self.table.column(name)) for name in self.table.columns}

    def names(self) -> None:
        """Who graded, who answered, and the ids."""
        query, answer = (self._codes(ours) for ours in ("query", "answer"))
        if query is None:
            return
        texts = [one for ours in ("answer", "document", *PAIR) if (one := self._codes(ours)) is not None]
        texts += [self.table.column(name).codes for name in self.beside]
        item = np.unique(np.stack([query, *texts]), axis=1, return_inverse=True)[1].reshape(-1)
        for name in self.table.columns:
            if name in self.columns or name in {*self.graders, *self.fields} or not self._may_name(name):
                continue  # which field of an object says who graded, is asked
            own = self.table.column(name).codes
            if "annotator" not in self.columns.values() and _tells(own, item) and self._is_repeated(item):
                self._take(name, "annotator", "the same answers stand below each of its names", asked=True)
            elif "agent" not in self.columns.values() and answer is not None and self._answered(own, query, answer):
                self._take(name, "agent", "each of its names answers the same questions", asked=True)
        of_rows = "annotator" in self.columns.values() and self._is_repeated(item)
        for name in self.table.columns:
            if of_rows and name in self.asked and (self.columns[name], self.seen[name].kind) == ("item_id", "id"):
                del self.columns[name], self.why[name]  # each person's row has its own
                self.asked.remove(name)
            free = name not in self.columns and name not in self.graders and not of_rows
            if free and self.seen[name].kind == "id" and "item_id" not in self.columns.values():
                self._take(name, "item_id", "all different")

    def is_graded(self, name: str) -> bool:
        """True for a column that holds grades, by name where somebody named it."""
        if name in self.graders or (name in self.columns and self.columns[name] in LABELS):
            return True
        free = name not in self.columns and name not in self.fields
        return free and (self.seen[name].graded or name.startswith(PREFIXES))

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Short words in the objects of a list, each of which is a row: one of them may say who graded."""
        inside = {name: name.rpartition(".")[0] for name in self.table.columns}
        held = {inside[name] for name, seen in self.seen.items() if NOBODY in seen.values}
        if len({*self.table.lines}) < len(self.table.lines):
            held |= {one for one, n in Counter(inside.values()).items() if n > 1}
        fields = [name for name in self.seen if inside[name] and inside[name] in held and self._may_name(name)]
        return tuple(name for name in fields if self.seen[name].words < LEAST_WORDS and name not in self.graders)

    def task(self) -> Task | None:
        """The task that the inputs tell."""
        spec = told_by(self.ours() if holding(self.ours()) else self.columns.values())
        return None if spec is None else spec.name

    def _take(self, name: str, ours: str, why: str, *, asked: bool = False) -> None:
        self.columns[name], self.why[name] = ours, why
        if asked:
            self.asked.append(name)

    def _codes(self, ours: str) -> np.ndarray | None:
        theirs = next((name for name, own in self.columns.items() if own == ours and name in self.seen), None)
        return None if theirs is None else self.table.column(theirs).codes

    def _may_name(self, name: str) -> bool:
        seen = self.seen[name]
        words = any(number_in(text) is None and not is_accept_word(text) for text in seen.values)
        return seen.different in NAMES and seen.filled > 1 - 1e-9 and words and seen.kind in {"small set", "text"}

    def _are_alike(self, texts: Sequence[str]) -> bool:
        """True for two texts that stand in the same rows and are about as long."""
        if len(texts) < TWO or {self.seen[name].kind for name in texts} != {"text"}:
            return False
        words, filled = ([getattr(self.seen[name], what) for name in texts] for what in ("words", "filled"))
        return bool(max(words) <= TWO * min(words) and max(filled) <= TWO * min(filled))

    @staticmethod
    def _is_repeated(item: np.ndarray) -> bool:
        counts = np.unique(item, return_counts=True)[1]
        return bool((counts > 1).mean() > REPEATED)

    @staticmethod
    def _answered(own: np.ndarray, query: np.ndarray, answer: np.ndarray) -> bool:
        """True where each name has one answer to a question, and questions have several names."""
        pairs = np.unique(np.stack([query, own]), axis=1)
        trios = np.unique(np.stack([query, own, answer]), axis=1)
        questions, answers = len(np.unique(query)), np.unique(np.stack([query, answer]), axis=1).shape[1]
        alone = pairs.shape[1] == trios.shape[1] and questions < answers
        return bool(alone and pairs.shape[1] > questions * (1 + REPEATED))


def _tells(own: np.ndarray, item: np.ndarray) -> bool:
    """True where names tell rows of one item apart."""
    counts = np.unique(np.stack([item, own]), axis=1, return_counts=True)[1]
    return bool((counts > 1).mean() <= AGAIN)
