"""Reads labels: a file, the Hub, or the human feedback on an MLflow experiment's traces."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from judgec.compile.held_out import on_scale_of
from judgec.connect.feedback import LABEL, feedback_table
from judgec.connect.tracking.store import TrackingStore, tracking_store
from judgec.connect.tracking.traces import MLFLOW_PREFIX, read_feedback, save_traces
from judgec.errors import InputError, UserError
from judgec.labels.labels import LabelFile, label_file
from judgec.labels.reading import (
    EVERYBODY,
    NAME,
    NOTHING_SAID,
    Datasheet,
    Reading,
    as_reading,
    read_datasheet,
    scale_option,
)
from judgec.raters.judge import recorded_judges
from judgec.raters.programs import Program
from judgec.records.card import ProgramCard
from judgec.records.conversation import usual_turn
from judgec.records.label import LabelSet
from judgec.records.tasks.registry import TASKS, USUAL, as_task
from judgec.records.trajectory import STEPS
from judgec.table.table import IN_MEMORY, Row, Table
from judgec.table.tables import read_table
from judgec.verbs.frames import as_table, is_path
from judgec.verbs.options.shared import HeldOutLabels


@dataclass(frozen=True, slots=True)
class LabelSource:
    """Settings that read labels; a report keeps them, so that they can be read again.

    Args:
        path: A file, ``hf:...`` or ``mlflow:EXPERIMENT``, whose datasheet is ``ASSESSMENT.datasheet.toml`` in the
            current folder.
        reading: How it is read.
        assessment: As ``--assessment``; needed for ``mlflow:``, and only there.
    """

    path: str
    reading: Reading = NOTHING_SAID
    assessment: str | None = None

    def to_json(self) -> dict[str, object]:
        """For the report; what says nothing is left out, but for the names that it has always had."""
        known = self.reading.model_dump(mode="json", exclude_defaults=True)
        named = {"path": self.path, "assessment": self.assessment, "rename": known.pop("columns", {})}
        usual: dict[str, object] = {
            "task": None,
            "annotators": [],
            "accept_at": None,
            "scale": None,
            "turn": None,
            "winner_words": {},
        }
        judges = known.pop("judges", None)
        if judges is not None:
            known["judges"] = judges if any(judges.values()) else list(judges)
        if self.reading.scale is not None:
            known["scale"] = scale_option(self.reading.scale)
        return {**usual, **known, **named}

    @classmethod
    def from_json(cls, kept: Mapping[str, object]) -> "LabelSource":
        """The source that a report kept."""
        known = dict(kept)
        path, assessment, columns = (known.pop(name, None) for name in ("path", "assessment", "rename"))
        return cls(str(path), as_reading(columns=columns, **known), None if assessment is None else str(assessment))


@dataclass(frozen=True, slots=True)
class JudgeLabels:
    """Labels to hold a judge against, on its scale.

    Args:
        label_set: All that was read, with what the judge has learned from.
        source: From where.
    """

    label_set: LabelSet
    source: str


def _with_steps(
    rows: Sequence[Mapping[str, object]], source: LabelSource, store: TrackingStore, environ: Mapping[str, str]
) -> list[Row]:
    """The labelled traces with what happened in each, step by step."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "traces.jsonl")
        save_traces(store, source.path.removeprefix(MLFLOW_PREFIX), file, environ)
        steps = {row["item_id"]: row.get(STEPS) for row in read_table(str(file)).rows}
    return [{**row, STEPS: steps.get(row["item_id"])} for row in rows]


def read_source(
    source: LabelSource,
    store: TrackingStore,
    environ: Mapping[str, str],
    card: ProgramCard | None = None,
    judges: Collection[str] = (),
) -> LabelSet:
    """Read labels from wherever they are.

    Args:
        source: What to read.
        store: Where MLflow keeps its traces.
        environ: The environment of the process that reads them.
        card: Of the judge that the labels are for: they are on its scale, unless their datasheet says otherwise.
        judges: As ``label_file``.

    Raises:
        UserError: When the assessment's name is missing, or given for a file.
        InputError: As ``read_label_file``.
    """
    reading = as_reading(judges=dict.fromkeys(judges, "")).over(source.reading) if judges else source.reading
    mlflow = source.path.startswith(MLFLOW_PREFIX)
    if mlflow is (source.assessment is None):
        wanted = "names the human feedback to read" if mlflow else "is for mlflow:EXPERIMENT"
        advice = "Add --assessment NAME" if mlflow else "Drop it"
        raise UserError(f"{source.path}: --assessment {source.assessment or 'is missing'}; it {wanted}. {advice}.")
    if source.assessment is None:
        sheet = read_datasheet(source.path)
        table = read_table(source.path, reading.columns, missing=reading.missing)
        return _for_judge(table, reading.over(sheet), card).labels
    how = reading.over(_datasheet(source.assessment))
    how = how.model_copy(update={"annotators": how.annotators or EVERYBODY})  # MLflow says whose feedback is human
    if card is not None:
        how = on_scale_of(card, how)
    found = read_feedback(store, source.path.removeprefix(MLFLOW_PREFIX), source.assessment, environ)
    task = how.task or (USUAL if card is None else card.task)
    rows = _with_steps(found.rows, source, store, environ) if STEPS in TASKS[as_task(task)].inputs else found.rows
    table = feedback_table(rows, source.path, notes=found.notes, column="grade" if how.scale else None)
    try:
        return label_file(table, how.model_copy(update={"task": task, "turn": None})).labels
    except InputError as error:
        if how.path or not any(isinstance(row[LABEL], str) for row in found.rows):
            raise
        hint = f"{source.path}: its datasheet would be {source.assessment}.{NAME} in the current folder; there is none."
        raise InputError([*error.faults, hint]) from error


def _for_judge(table: Table, how: Datasheet, card: ProgramCard | None) -> LabelFile:
    """The labels on the scale of the judge that they are for, unless they declare another."""
    if card is None:
        return label_file(table, how)
    how = on_scale_of(card, how.model_copy(update={"task": how.task or card.task}))
    return label_file(table, how, usual=usual_turn(card.fields))


def labels_for(
    wanted: HeldOutLabels,
    judge: Program,
    *others: Program,
    environ: Mapping[str, str],
    task: str | None = None,
) -> JudgeLabels:
    """Read all labels that a judge can be held against, on its scale, unless their datasheet declares another.

    Args:
        wanted: Where they are: a file, a table in memory; None for those that the judge was compiled on.
        judge: As saved.
        others: Further judges that are held against them.
        environ: As ``read_source``.
        task: The judge's when None.

    Raises:
        UserError: When the judge's report does not say where its labels are.
        InputError: As ``read_source``.
    """
    card, given, judges = judge.card, wanted.labels, recorded_judges(judge, *others)
    if given is not None and not is_path(given):
        reading = as_reading(judges=judges).over(wanted.reading(task or card.task))
        read = _for_judge(as_table(given, wanted.missing), reading.over(Datasheet()), card)
        return JudgeLabels(read.labels, IN_MEMORY)
    source = _recorded(judge) if given is None else LabelSource(str(given), wanted.reading(task or card.task))
    store = tracking_store(wanted.home, wanted.tracking_uri, environ)
    return JudgeLabels(read_source(source, store, environ, card, judges), source.path)


def _recorded(judge: Program) -> LabelSource:
    """Place of the labels that a judge was compiled on."""
    recorded = judge.report.get("source")
    if not isinstance(recorded, dict) or not recorded.get("path"):
        raise UserError(
            f"{judge.card.name}@{judge.card.version}: its report does not say where its labels are. "
            "Give labels with --labels FILE."
        )
    return LabelSource.from_json(recorded)


def _datasheet(assessment: str) -> Datasheet:
    """``ASSESSMENT.datasheet.toml`` in the current folder, where there is one: feedback in words has no other order."""
    beside = Path(f"{assessment}.{NAME}").is_file()
    return read_datasheet(f"{assessment}.mlflow") if beside else Datasheet()
