"""Scores as they stand in exports of label and trace tools, before anybody decides which are labels."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from judgec.records.label import REASON_NAMES
from judgec.records.tasks.registry import plain
from judgec.table.table import Row

Origin = Literal["human", "machine", "unmarked"]
ScoreKind = Literal["grade", "preference", "text"]

LABELS = ("grade", "accept", "preference")  # what --map may call a column of scores, beside ``grade.<aspect>``
INPUTS = ("query", "answer", "answer_a", "answer_b", "reference", "contexts", "document", "conversation")


ABOUT = ("item_id", "annotator", "judge", "rationale", "created_at")  # what --map may call what is known of a score

SYSTEM_ERROR = "the system gave an error and no answer"
JUDGE_ERROR = "the judge gave an error: unscored"
MOST_SHOWN = 40  # fields that a message lists


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """One object, line or row of an export.

    Args:
        where: Its place, as messages name it.
        fields: What is in it, as the tool calls it.
        flat: It is a row of a table (CSV, Parquet), whose cells may hold JSON as text.
    """

    where: str
    fields: Row
    flat: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """A score that one person or program gave one item.

    Args:
        item: The item's id in the export.
        name: Of the metric, control or question.
        value: A number, a word, true or false; of a preference ``a``, ``b`` or ``tie``.
        origin: Who said so, as far as the tool marks it.
        annotator: The person, or empty.
        judge: The program or model, or empty.
        comment: Why, or empty.
        time: When, as the tool writes it, or empty.
        more: Whatever else the tool says of the score, by the tool's names.
        kind: A text is kept as a column and is no grade.
        marked: How the tool marked the origin, for messages: ``source API``.
    """

    item: str
    name: str
    value: object
    origin: Origin
    annotator: str = ""
    judge: str = ""
    comment: str = ""
    time: str = ""
    more: Mapping[str, object] = field(default_factory=dict)
    kind: ScoreKind = "grade"
    marked: str = "no mark"


@dataclass(frozen=True, slots=True)
class ScoreExport:
    """An export, read.

    Args:
        items: What was scored by id: ``query``, ``answer`` and the like where they were found, and the tool's fields.
        scores: In the order of the file.
        skipped: Scores that can become neither label nor verdict, by reason.
        notes: What reading assumed.
    """

    items: Mapping[str, Row]
    scores: Sequence[Score]
    skipped: Counter[str] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()


def is_label_column(name: str) -> bool:
    """True for a name under which judgec reads labels."""
    return name in LABELS or name.startswith("grade.")


def reason_of(name: str, fields: Mapping[str, object]) -> str | None:
    """The field that says why a score is what it is: ``NAME_reason``, or ``reason`` in the same object.

    Args:
        name: Of the score's field.
        fields: The row.
    """
    inside, dot, last = name.rpartition(".")
    stems = [plain(name)]
    if dot and last in {"score", "value", "grade", "pass", "success", "label", "rating"}:
        stems.append(plain(inside))
    heads = {plain(one): one for one in reversed([*fields])}
    return next((heads[one] for stem in stems for why in REASON_NAMES if (one := f"{stem}_{why}") in heads), None)


def some(fields: Iterable[str]) -> str:
    """Names of fields for a message: the first of them, and how many more there are."""
    names = list(dict.fromkeys(fields))
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more
