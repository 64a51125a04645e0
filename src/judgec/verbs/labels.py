"""``judgec.read_labels``: experts' labels from a file or from memory."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judgec.connect.tracking.store import tracking_store
from judgec.errors import UserError
from judgec.labels.labels import label_file
from judgec.labels.reading import Datasheet, Reading
from judgec.labels.rows.means import Rounding
from judgec.labels.rows.ranges import as_judges
from judgec.labels.rows.repeats import Repeats
from judgec.records.conversation import TurnChoice
from judgec.records.label import LabelSet
from judgec.table.rows.columns import as_names
from judgec.table.table import IN_MEMORY
from judgec.verbs.frames import Source, as_table, is_path
from judgec.verbs.options.shared import LabelColumns
from judgec.verbs.source import LabelSource, read_source


@dataclass(frozen=True, slots=True)
class Labels:
    """Experts' labels, ready to compile a judge from.

    Args:
        label_set: The items, who labelled them and how, the scale.
        source: How they were read, for the report of a compile; empty for labels from memory.
    """

    label_set: LabelSet
    source: Mapping[str, object]

    def __len__(self) -> int:
        return len(self.label_set.items)

    def __repr__(self) -> str:
        of = self.label_set
        annotators = len({label.annotator for label in of.labels})
        queries = len({item.query_id for item in of.items})
        scale = "accept or reject" if of.accept_only else " / ".join(map(str, of.scale.grades))
        return f"<Labels {of.task}: {len(of.items)} items of {queries} queries, {annotators} annotators, {scale}>"


def read_labels(
    source: Source,
    *,
    annotators: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    task: str | None = None,
    accept_at: str | float | None = None,
    scale: Mapping[str, object] | None = None,
    turn: TurnChoice | None = None,
    round: Rounding = None,  # noqa: A002  # the option's name
    winner_words: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    repeats: Repeats = None,
    assessment: str | None = None,
    judges: str | Sequence[str] | Mapping[str, object] = (),
    best: str | float | None = None,
    grades: str | Sequence[str] = (),
    home: str | Path = ".",
    tracking_uri: str | None = None,
) -> Labels:
    """Read experts' labels: one row an item and annotator, or one column an annotator.

    Args:
        source: A path, ``hf:owner/name@split``, ``mlflow:EXPERIMENT``, a DataFrame, a list of dicts or a
            ``datasets.Dataset``.
        annotators: Columns that hold one annotator's labels each.
        columns: judgec's names by yours, for example ``{"Frage": "query"}``.
        task: answer, grade, modes, preference, rejection, relevance or reliability; by default the columns tell.
        accept_at: The lowest grade that counts as accepted.
        scale: ``grades`` (worst first), ``meanings``, ``accept_at``, ``name``: else the datasheet's, or inferred.
        turn: Of a conversation ``last``: its last answer is judged; ``each``: each answer; ``whole``: the dialogue.
        round: ``nearest``: grades that are means of annotators, such as 2.33, become the nearest grade.
        winner_words: What words for the winner of a pair mean, for example ``{"1": "a", "2": "b", "0": "tie"}``.
        missing: Words that say nothing, in any cell, beside an empty one.
        repeats: Of an item that one person graded again the ``median``, or an ``error``; by default the median where a
            name tells who.
        assessment: The human feedback to read from ``mlflow:EXPERIMENT``.
        judges: Columns, or annotators, that are judges to be measured against the labels, or ``{NAME: (0, 1)}`` with
            the range of a judge's numbers: none of them is an annotator.
        best: The best grade, one end of the whole numbers from the lowest to the highest seen.
        grades: The scale, worst first: ``"1..5"``, ``"5..1"`` or ``["bad", "good"]``.
        home: Folder of mlruns/, for ``mlflow:EXPERIMENT``.
        tracking_uri: An MLflow server or database, for the same.

    Raises:
        InputError: Every fault of the labels together, each with its line or row.
        UserError: An unknown task, or ``accept_at`` off the scale.

    Example:
        >>> labels = judgec.read_labels(
        ...     [{"query": f"What is {n} + 1?", "answer": str(n + n % 2), "reference": str(n + 1), "grade": 1 + n % 2}
        ...      for n in range(6)]
        ... )
        >>> len(labels)
        6
    """
    said = LabelColumns(
        columns=columns or {},
        annotators=tuple(annotators),
        judges=as_judges(judges),
        best=None if best is None else str(best),
        grades=as_names(grades, "grades") if isinstance(grades, str) else tuple(map(str, grades)),
        accept_at=None if accept_at is None else str(accept_at),
        scale=scale,
        turn=turn,
        round=round,
        winner_words=winner_words or {},
        missing=tuple(missing),
        repeats=repeats,
    )
    return labels_of(source, said.reading(task), assessment, home, tracking_uri)


def labels_of(
    source: Source,
    reading: Reading,
    assessment: str | None = None,
    home: str | Path = ".",
    tracking_uri: str | None = None,
) -> Labels:
    """Labels of any source, as ``read_labels``."""
    if is_path(source):
        named = LabelSource(str(source), reading, assessment)
        store = tracking_store(Path(home), tracking_uri, os.environ)
        return Labels(read_source(named, store, os.environ), named.to_json())
    if assessment is not None:
        raise UserError(f"{IN_MEMORY}: assessment={assessment!r} is for mlflow:EXPERIMENT. Drop it.")
    return Labels(label_file(as_table(source, reading.missing), Datasheet(), reading).labels, {})
