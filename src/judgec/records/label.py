"""Items and the experts' labels of them, as read from a label file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from judgec.records.scale import Scale

Task = str  # the name of a task; ``judgec.records.tasks`` knows them
Text = str | tuple[str, ...]
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
TextArray = NDArray[np.str_]

REASON_NAMES = (  # fields of a program's answer, or beside a score's field, that say why; the surest first
    *("rationale", "reason", "reasons", "reasoning", "explanation", "explanations", "justification", "why"),
    *("critique", "comment", "comments", "feedback", "notes"),
)
UNLABELLED = -1  # in integer arrays of grades and accepts


@dataclass(frozen=True, slots=True)
class PooledContexts:
    """What a prompt says of an item whose ``contexts`` are documents of several answers together, called P1, P2, ...

    Args:
        grades: What stands beside the name of each, such as "relevance 2"; empty for nothing.
        reasons: Why it has this grade, in a model's words, or empty.
        meanings: What the grades mean, once for all; empty where there are none.
        answers: By input field, an answer with the names of these documents in place of its citations; a field is
            absent where its agent has not declared in which form it cites.
    """

    grades: tuple[str, ...]
    reasons: tuple[str, ...]
    meanings: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Item:
    """An item to grade: the inputs, who they belong to and where they came from.

    Args:
        item_id: Unique in a file.
        query_id: Groups splits and intervals.
        inputs: Input fields by name (``query``, ``answer``, ``reference``, ``contexts``, ``document``, ...);
            ``contexts`` is a tuple of texts, all others are one text. A field that an item lacks is absent.
        agent: The RAG system that produced it, or None.
        group: The slice it belongs to (a subject area), or None.
        pool: How a prompt shows documents of several answers; None where the contexts are the item's own.
    """

    item_id: str
    query_id: str
    inputs: Mapping[str, Text]
    agent: str | None = None
    group: str | None = None
    pool: PooledContexts | None = None

    @property
    def given(self) -> list[str]:
        """The names of the inputs that it has: those that are not blank."""
        return [name for name, value in self.inputs.items() if _is_given(value)]

    def text(self, name: str) -> str:
        """The field as one text; an absent field is empty, several texts are joined by blank lines."""
        value = self.inputs.get(name, "")
        return value if isinstance(value, str) else "\n\n".join(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """The field as several texts; an absent or empty field is an empty tuple."""
        value = self.inputs.get(name, ())
        if isinstance(value, str):
            return (value,) if value else ()
        return value

    def everything(self) -> list[str]:
        """The texts of all fields."""
        return [text for name in self.inputs for text in self.texts(name)]


def _is_given(value: Text) -> bool:
    return bool(value) and not value.isspace() if isinstance(value, str) else any(map(_is_given, value))


@dataclass(slots=True)
class InputCounts:
    """Counts how many items have each input.

    Args:
        items: How many were counted.
        given: How many of them have an input, by its name.
    """

    items: int = 0
    given: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, items: Sequence[Item]) -> "InputCounts":
        """The counts of some items."""
        found = cls()
        found.add(items)
        return found

    def add(self, items: Sequence[Item]) -> None:
        """Count items."""
        self.items += len(items)
        for item in items:
            self.given.update(item.given)

    def merge(self, other: "InputCounts") -> None:
        """Count what another has counted."""
        self.items += other.items
        self.given.update(other.given)

    def missing(self, name: str) -> float:
        """The share without an input; 0 of no items."""
        return (self.items - self.given[name]) / self.items if self.items else 0.0


@dataclass(frozen=True, slots=True)
class Label:
    """One annotator's label of one item.

    Args:
        grades: Position on the scale by aspect; aspects left blank are absent.
        accept: The annotator's own accept / reject, or None.
        rationale: Why, in the annotator's words, or empty.
        line: Where in the file it stands (1-based; 0 when unknown).
    """

    item_id: str
    annotator: str
    grades: Mapping[str, int]
    accept: bool | None = None
    rationale: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class JudgedCell:
    """A judge's verdict on one aspect of an item, as a table of labels has it.

    Args:
        cell: The verdict; None where the cell is empty.
        line: Where in the file it stands.
        more: Its ``reply``, ``cost_usd``, ``seconds`` and ``order``, where they are there.
    """

    item_id: str
    aspect: str
    cell: object
    line: int
    more: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LabelSet:
    """Everything a label file said.

    Args:
        task: What kind of judgment the labels are.
        scale: The grades; ``ACCEPT_SCALE`` when only accept / reject is labelled.
        aspects: ``("grade",)`` for tasks with one grade; the aspect names for ``answer``.
        items: One an item, in file order.
        labels: One an item and annotator, in file order; each names an item.
        accept_only: True when the labels are accept / reject alone.
        digest: SHA-256 of items and labels, independent of file format and row order.
        source: The datasheet's ``[source]`` table; ``labels = "constructed"`` marks constructed labels.
        notes: What reading assumed or mended, one sentence each, to be shown to the user.
        instructions: What the user would tell a judge of them, from the datasheet, or empty.
        judged: What judges said that stand in the same table, by judge: none of them labels anything.
    """

    task: Task
    scale: Scale
    aspects: tuple[str, ...]
    items: tuple[Item, ...]
    labels: tuple[Label, ...]
    accept_only: bool
    digest: str
    source: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    instructions: str = ""
    judged: Mapping[str, tuple[JudgedCell, ...]] = field(default_factory=dict)

    @property
    def constructed(self) -> bool:
        """No expert gave them, says the datasheet."""
        return self.source.get("labels") == "constructed"

    @property
    def fields(self) -> tuple[str, ...]:
        """The input fields that at least one item has, sorted."""
        return tuple(sorted({name for item in self.items for name, value in item.inputs.items() if value}))


@dataclass(frozen=True, slots=True)
class Experts:
    """The experts' grades as arrays; row i belongs to ``items[i]`` of the set they were made from.

    Args:
        target: Consensus grade positions, shape (n_items, n_aspects, n_tied): the one, or those that share the item in
            equal parts, worst first; -1 fills up, and stands where nobody graded.
        target_accept: Consensus accept, 1 / 0, in the same form; an ``accept`` label beats the threshold.
        cluster: Code of the item's query, shape (n_items,), values 0..n_queries-1.
        annotators: Annotator names, sorted.
        grade_by: Each annotator's grade positions, shape (n_annotators, n_items, n_aspects); -1 where
            missing.
        accept_by: Each annotator's accept, same shape.
        adjudicators: Those of ``annotators`` who were asked only where others differed.
        system: Who answered each item, empty where nobody says, shape (n_items,); None where nobody says of any.
        draws: A number in [0, 1) for each item by which one of its tied grades was picked, shape (n_items,); None where
            these share the item.
    """

    target: IntArray
    target_accept: IntArray
    cluster: IntArray
    annotators: tuple[str, ...]
    grade_by: IntArray
    accept_by: IntArray
    adjudicators: tuple[str, ...] = ()
    system: TextArray | None = None
    draws: FloatArray | None = None

    def rows(self, index: Sequence[int] | IntArray) -> "Experts":
        """The experts on ``items[i] for i in index``, in that order; clusters are coded anew from 0."""
        chosen = np.asarray(index, dtype=np.int64)
        _, cluster = np.unique(self.cluster[chosen], return_inverse=True)
        return Experts(
            self.target[chosen],
            self.target_accept[chosen],
            cluster.astype(np.int64),
            self.annotators,
            self.grade_by[:, chosen],
            self.accept_by[:, chosen],
            self.adjudicators,
            None if self.system is None else self.system[chosen],
            None if self.draws is None else self.draws[chosen],
        )
