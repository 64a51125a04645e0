"""Proposes which column of a table is what: by kinds, numbers of different values, lengths and gaps.

Words decide nothing: one table of names that others give judgec's columns proposes inputs, and a person confirms them.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judgec.errors import UserError
from judgec.labels.rows.conversations import TURN, holding
from judgec.records.label import Task
from judgec.records.scale import Grade
from judgec.records.tasks.registry import TASKS, told_by
from judgec.records.tasks.spec import PAIR, PAIR_AGENTS, PREFIXES
from judgec.table.rows.cells import as_grade, as_number, as_text, is_accept_word, is_missing
from judgec.table.table import Table, TableColumn

Kind = Literal["empty", "constant", "id", "text", "small set", "number", "list", "object"]
MOST_GRADES = 12  # different values of a scale: 0 to 10, and a mark of nothing
LONGEST_GRADE = 24  # characters
LEAST_WORDS = 3  # of a text, on average
LETTERS_A_WORD = 10  # where a script puts no spaces
MOSTLY_NUMBERS = 0.8  # of the cells
NAMES = range(2, 31)  # of people, or of what answered
TWO = 2
REPEATED = 0.5  # of the answers stand in several rows where a column says who graded
AGAIN = 0.3  # of these at most with one name twice
_RANGE = re.compile(r"([-+]?\d+)\.\.([-+]?\d+)")
_BETWEEN = re.compile(r"[\s_-]+")

LABELS = frozenset(label for spec in TASKS.values() for label in spec.labels)
SYNONYMS: Mapping[str, str] = {
    name: ours
    for ours, names in {
        "query": "question prompt input userinput instruction questiontext userquery",
        "answer": "response output completion reply prediction responsetext answertext generatedanswer actualoutput",
        "reference": "groundtruth expected expectedoutput expectedanswer referenceanswer goldanswer idealanswer",
        "contexts": "context retrievedcontexts retrievalcontext documents passages",
        "document": "passage doc",
        "answer_a": "responsea outputa modelaresponse answer1 response1",
        "answer_b": "responseb outputb modelbresponse answer2 response2",
        "item_id": "id rowid sampleid",
        "query_id": "questionid qid promptid",
        "agent": "model system modelname bot",
        "agent_a": "modela systema",
        "agent_b": "modelb systemb",
        "annotator": "rater reviewer grader annotatorid labeler",
        "group": "category",
    }.items()
    for name in names.split()
}
"""judgec's columns by what others call them, folded; they propose, and nothing is read by them unasked."""


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
        task: What is labelled, where the columns tell it.
        rows: Those with a question and an answer; the others are sums, headings and notes.
    """

    columns: Mapping[str, str]
    graded: tuple[str, ...]
    why: Mapping[str, str]
    asked: tuple[str, ...]
    seen: Mapping[str, ColumnFacts]
    task: Task | None
    rows: Table

    def theirs(self, ours: str) -> str | None:
        """The table's name of a column."""
        return next((column for column, name in self.columns.items() if name == ours), None)

    @property
    def unused(self) -> tuple[str, ...]:
        """Columns without a role."""
        return tuple(name for name in self.seen if name not in self.columns and name not in self.graded)


def folded(name: str) -> str:
    """A head without case, spaces, ``_`` and ``-``."""
    return _BETWEEN.sub("", name.strip()).casefold()


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
    numbers = {text: number for text in counts if (number := _number(text)) is not None}
    alone = len(counts) == cells == rows
    if alone and (len(numbers) < len(counts) or all(map(float.is_integer, numbers.values()))):
        return "id" if words < LEAST_WORDS else "text"
    if len(counts) <= MOST_GRADES and longest <= LONGEST_GRADE and (cells >= 2 * len(counts) or numbers):
        return "small set"
    if sum(counts[text] for text in numbers) >= MOSTLY_NUMBERS * cells:
        return "number"
    return "text"


def _number(text: str) -> float | None:
    return as_number(text.removesuffix("%").strip().replace(",", "."))


def propose(table: Table, said: Mapping[str, str], graders: Collection[str] = ()) -> Roles:
    """Propose the roles of a table's columns.

    Args:
        table: As it stands in its file.
        said: judgec's names by the table's, as far as somebody said them.
        graders: Columns of grades that somebody named.
    """
    look = _Look(table, dict(said), graders)
    look.by_name()
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
        look.task(),
        look.table,
    )


class _Look:
    """A look at a table: roles as they are found, inputs first, then names, and what is left may be grades."""

    def __init__(self, table: Table, said: dict[str, str], graders: Collection[str]) -> None:
        self.table, self.columns, self.graders = table, said, graders
        self.seen = {name: seen_in(table.column(name)) for name in table.columns}
        self.why = dict.fromkeys(said, "you said so")
        self.asked: list[str] = []

    def ours(self) -> set[str]:
        """Judgec's columns that are there, as far as is known."""
        return {self.columns.get(name, name) for name in self.table.columns}

    def by_name(self) -> None:
        """Judgec's own names, and what others call its columns where nothing else is called so."""
        inputs = {name for spec in TASKS.values() for name in spec.inputs} | {
            "annotator",
            "rationale",
            TURN,
            *PAIR_AGENTS,
        }
        own = {*inputs, "item_id", "query_id", "agent", "group"}
        free = [name for name in self.table.columns if name not in self.columns and name not in self.graders]
        for name in free:
            if name in own and name not in self.columns.values():
                self._take(name, name, "judgec's name")
        told = Counter(SYNONYMS.get(folded(name), "") for name in free)
        for name in free:
            ours = own_name if (own_name := folded(name)) in own else SYNONYMS.get(own_name, "")
            again = ours in self.columns.values() or told[ours] > 1
            if ours and not again and name not in self.columns and self.seen[name].kind not in {"empty", "constant"}:
                self._take(name, ours, f"often called {name!r}", asked=True)

    def texts(self) -> None:
        """The question and the answer among texts that have no role yet: in the order of the columns."""
        spec = told_by(self.columns.values())
        wanted = ["query", *([] if spec is not None else ["answer"])]
        missing = [ours for ours in wanted if ours not in self.columns.values()]
        free = [name for name in self.table.columns if name not in self.columns and name not in self.graders]
        texts = [name for name in free if self.seen[name].kind == "text"]
        if len(texts) < len(missing):  # short ones: the longest and most different
            wide = [name for name in free if self.seen[name].kind in {"text", "id", "number"}]
            weight = {name: self.seen[name].different * sum(map(len, self.seen[name].values)) for name in wide}
            texts = sorted(sorted(wide, key=lambda name: -weight[name])[: len(missing)], key=free.index)
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
        item = query if answer is None else np.unique(np.stack([query, answer]), axis=1, return_inverse=True)[1]
        for name in self.table.columns:
            if name in self.columns or name in self.graders or not self._may_name(name):
                continue
            own = self.table.column(name).codes
            if "annotator" not in self.columns.values() and _tells(own, item) and self._is_repeated(item):
                self._take(name, "annotator", "the same answers stand below each of its names", asked=True)
            elif "agent" not in self.columns.values() and answer is not None and self._answered(own, query, answer):
                self._take(name, "agent", "each of its names answers the same questions", asked=True)
        for name in self.table.columns:
            free = name not in self.columns and name not in self.graders
            if free and self.seen[name].kind == "id" and "item_id" not in self.columns.values():
                self._take(name, "item_id", "all different")

    def is_graded(self, name: str) -> bool:
        """True for a column that holds grades, by name where somebody named it."""
        if name in self.graders or (name in self.columns and self.columns[name] in LABELS):
            return True
        return name not in self.columns and (self.seen[name].graded or name.startswith(PREFIXES))

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
        words = any(_number(text) is None and not is_accept_word(text) for text in seen.values)
        return seen.different in NAMES and seen.filled > 1 - 1e-9 and words and seen.kind in {"small set", "text"}

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


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A thing that no table answers.

    Args:
        key: Of what: ``columns``, ``grade``, ``graders``, ``scale``, ``winner_words`` or ``missing``.
        text: For people.
        options: What to type for it, ``?`` where only a person knows.
        usual: The answer of somebody who presses Enter; empty: there is none.
    """

    key: str
    text: str
    options: tuple[str, ...]
    usual: str = ""

    @property
    def certain(self) -> bool:
        """True where nothing but a confirmation is missing."""
        return "?" not in " ".join(self.options)


def grades_of(
    best: str | None, grades: Sequence[str], seen: Collection[str], where: str = "init"
) -> tuple[Grade, ...] | None:
    """The grades, worst first, that somebody declared; None where nobody did. Falling numbers become words.

    Args:
        best: One end of the whole numbers that are seen.
        grades: All of them, worst first; or one range such as ``1..5``.
        seen: The different cells.
        where: Of messages.

    Raises:
        UserError: Both, or an end that is none.
    """
    if best is not None and grades:
        raise UserError(f"{where}: --best {best} and --grades; one of them is valid. Drop one.")
    if len(grades) == 1 and (said := _RANGE.fullmatch(grades[0])):
        low, high = int(said[1]), int(said[2])
        return _rising(range(min(low, high), max(low, high) + 1), falling=low > high)
    if grades:
        read = [one if (number := as_grade(one)) is None else number for one in grades]
        numbers = [one for one in read if not isinstance(one, str)]
        if len(numbers) == len(read) and numbers != sorted(numbers):
            return tuple(map(str, read))
        return tuple(read)
    if best is None:
        return None
    whole = sorted({int(n) for text in seen if (n := _number(text)) is not None and n.is_integer()})
    if not whole or best not in {str(whole[0]), str(whole[-1])}:
        ends = f"{whole[0]} and {whole[-1]}" if whole else "no whole numbers"
        raise UserError(f"--best {best}: the ends of the grades are {ends}. Name one, or all with --grades.")
    return _rising(range(whole[0], whole[-1] + 1), falling=best == str(whole[0]))


def _rising(numbers: range, *, falling: bool) -> tuple[Grade, ...]:
    return tuple(map(str, reversed(numbers))) if falling else tuple(numbers)


def ends_of(seen: Collection[str]) -> tuple[str, str] | None:
    """The lowest and highest of whole numbers; None where most cells are others."""
    numbers = sorted(n for text in seen if (n := _number(text)) is not None)
    whole = len(numbers) > len(seen) / 2 and all(map(float.is_integer, numbers))
    return (f"{numbers[0]:g}", f"{numbers[-1]:g}") if whole else None
