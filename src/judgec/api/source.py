"""Where labels come from: a file, the Hub, or the human feedback on an MLflow experiment's traces."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from judgec.api.options.shared import LabelColumns
from judgec.errors import InputError, UserError
from judgec.held_out import labels_for, on_scale_of
from judgec.records.card import ProgramCard
from judgec.records.label import LabelSet
from judgec.store.datasheet import NAME, Datasheet, read_datasheet
from judgec.store.labels import label_file, read_labels
from judgec.store.rows.feedback import LABEL, feedback_table
from judgec.tracking.store import TrackingStore
from judgec.tracking.traces import MLFLOW_PREFIX, read_feedback


@dataclass(frozen=True, slots=True)
class LabelSource:
    """How labels are read; a report keeps it, so that they can be read again.

    Args:
        path: A file, ``hf:...`` or ``mlflow:EXPERIMENT``, whose datasheet is ``ASSESSMENT.datasheet.toml`` in the
            current folder.
        task: As ``--task``.
        rename: As ``--map``.
        annotators: As ``--annotators``.
        accept_at: As ``--accept-at``.
        assessment: As ``--assessment``; needed for ``mlflow:``, and only there.
    """

    path: str
    task: str | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    annotators: tuple[str, ...] = ()
    accept_at: str | None = None
    assessment: str | None = None

    def to_json(self) -> dict[str, object]:
        """For the report."""
        return {**asdict(self), "rename": dict(self.rename), "annotators": list(self.annotators)}


def source_of(path: str, columns: LabelColumns, task: str | None) -> LabelSource:
    """The source that options name."""
    least = None if columns.accept_at is None else str(columns.accept_at)
    return LabelSource(path, task, dict(columns.columns), tuple(columns.annotators), accept_at=least)


def read_source(
    source: LabelSource, store: TrackingStore, environ: Mapping[str, str], card: ProgramCard | None = None
) -> LabelSet:
    """Read labels from wherever they are.

    Args:
        source: What to read.
        store: Where MLflow keeps its traces.
        environ: The environment of the process that reads them.
        card: Of the judge that the labels are for: they are on its scale, unless their datasheet says otherwise.

    Raises:
        UserError: When the assessment's name is missing, or given for a file.
        InputError: As ``read_label_file``.
    """
    mlflow = source.path.startswith(MLFLOW_PREFIX)
    if mlflow is (source.assessment is None):
        wanted = "names the human feedback to read" if mlflow else "is for mlflow:EXPERIMENT"
        advice = "Add --assessment NAME" if mlflow else "Drop it"
        raise UserError(f"{source.path}: --assessment {source.assessment or 'is missing'}; it {wanted}. {advice}.")
    if source.assessment is None and card is not None:
        return labels_for(
            card,
            source.path,
            task=source.task,
            rename=source.rename,
            annotators=source.annotators,
            accept_at=source.accept_at,
        )
    if source.assessment is None:
        return read_labels(
            source.path,
            task=source.task,
            rename=source.rename,
            annotators=source.annotators,
            accept_at=source.accept_at,
        )
    sheet = _datasheet(source.assessment)
    if card is not None:
        sheet = on_scale_of(card, sheet)
    found = read_feedback(store, source.path.removeprefix(MLFLOW_PREFIX), source.assessment, environ)
    table = feedback_table(found.rows, source.path, notes=found.notes, column="grade" if sheet.scale else None)
    try:
        return label_file(
            table,
            sheet,
            task=source.task or sheet.task or "grade",
            rename=source.rename,
            annotators=source.annotators,
            accept_at=source.accept_at,
        ).labels
    except InputError as error:
        if sheet.path or not any(isinstance(row[LABEL], str) for row in found.rows):
            raise
        hint = f"{source.path}: its datasheet would be {source.assessment}.{NAME} in the current folder; there is none."
        raise InputError([*error.faults, hint]) from error


def _datasheet(assessment: str) -> Datasheet:
    """``ASSESSMENT.datasheet.toml`` in the current folder, where there is one: feedback in words has no other order."""
    beside = Path(f"{assessment}.{NAME}").is_file()
    return read_datasheet(f"{assessment}.mlflow") if beside else Datasheet()
