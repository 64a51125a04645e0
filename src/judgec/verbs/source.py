"""Reads labels: a file, the Hub, or the human feedback on an MLflow experiment's traces."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from judgec.compile.held_out import on_scale_of
from judgec.connect.feedback import LABEL, feedback_table
from judgec.connect.tracking.store import TrackingStore, tracking_store
from judgec.connect.tracking.traces import MLFLOW_PREFIX, read_feedback, save_traces
from judgec.errors import InputError, UserError
from judgec.labels.labels import label_file
from judgec.labels.rows.means import Rounding
from judgec.labels.rows.repeats import Repeats
from judgec.raters.programs import Program
from judgec.raters.recorded import recorded_judges
from judgec.records.card import ProgramCard
from judgec.records.conversation import TurnChoice, usual_turn
from judgec.records.label import LabelSet
from judgec.records.tasks.registry import TASKS, USUAL, as_task
from judgec.records.trajectory import STEPS
from judgec.table.datasheet import NAME, Datasheet, as_scale, read_datasheet
from judgec.table.table import Row
from judgec.table.tables import read_table
from judgec.verbs.frames import IN_MEMORY, as_table, is_path
from judgec.verbs.options.shared import HeldOutLabels, LabelColumns


@dataclass(frozen=True, slots=True)
class LabelSource:
    """Settings that read labels; a report keeps them, so that they can be read again.

    Args:
        path: A file, ``hf:...`` or ``mlflow:EXPERIMENT``, whose datasheet is ``ASSESSMENT.datasheet.toml`` in the
            current folder.
        task: As ``--task``.
        rename: As ``--map``.
        annotators: As ``--annotators``.
        accept_at: As ``--accept-at``.
        assessment: As ``--assessment``; needed for ``mlflow:``, and only there.
        scale: As the option ``scale``; else the datasheet's.
        turn: As ``--turn``.
        round: As ``--round``.
        judges: Who is measured against them, and so no annotator.
        winner_words: As ``--winner-words``.
        missing: As ``--missing``.
        repeats: As ``--repeats``.
    """

    path: str
    task: str | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    annotators: tuple[str, ...] = ()
    accept_at: str | None = None
    assessment: str | None = None
    scale: Mapping[str, object] | None = None
    turn: TurnChoice | None = None
    round: Rounding = None
    judges: tuple[str, ...] = ()
    winner_words: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    repeats: Repeats = None

    def to_json(self) -> dict[str, object]:
        """For the report; ``judges`` and ``missing`` where there are some."""
        known = asdict(self)
        judges, missing = known.pop("judges"), known.pop("missing")
        return {
            **{name: value for name, value in known.items() if name not in {"round", "repeats"} or value is not None},
            **({"judges": list(judges)} if judges else {}),
            **({"missing": list(missing)} if missing else {}),
            "rename": dict(self.rename),
            "annotators": list(self.annotators),
            "scale": None if self.scale is None else dict(self.scale),
        }


@dataclass(frozen=True, slots=True)
class JudgeLabels:
    """Labels to hold a judge against, on its scale.

    Args:
        label_set: All that was read, with what the judge has learned from.
        source: From where.
    """

    label_set: LabelSet
    source: str


def source_of(path: str, columns: LabelColumns, task: str | None) -> LabelSource:
    """The source that options name."""
    least = None if columns.accept_at is None else str(columns.accept_at)
    return LabelSource(
        path,
        task,
        dict(columns.columns),
        tuple(columns.annotators),
        accept_at=least,
        scale=columns.scale,
        turn=columns.turn,
        round=columns.round,
        judges=tuple(columns.measured),
        winner_words=dict(columns.winner_words),
        missing=tuple(columns.missing),
        repeats=columns.repeats,
    )


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
    judges = (*judges, *source.judges)
    mlflow = source.path.startswith(MLFLOW_PREFIX)
    if mlflow is (source.assessment is None):
        wanted = "names the human feedback to read" if mlflow else "is for mlflow:EXPERIMENT"
        advice = "Add --assessment NAME" if mlflow else "Drop it"
        raise UserError(f"{source.path}: --assessment {source.assessment or 'is missing'}; it {wanted}. {advice}.")
    if source.assessment is None:
        sheet = read_datasheet(source.path, source.scale)
        return label_file(
            read_table(source.path, source.rename, missing=source.missing),
            sheet if card is None else on_scale_of(card, sheet),
            task=source.task if card is None else source.task or card.task,
            rename=source.rename,
            annotators=source.annotators,
            accept_at=source.accept_at,
            turn=source.turn,
            rounding=source.round,
            repeats=source.repeats,
            winner_words=source.winner_words,
            usual=None if card is None else usual_turn(card.fields),
            judges=judges,
        ).labels
    sheet = _datasheet(source.assessment)
    if source.scale is not None:
        sheet = replace(sheet, scale=as_scale(source.scale))
    if card is not None:
        sheet = on_scale_of(card, sheet)
    found = read_feedback(store, source.path.removeprefix(MLFLOW_PREFIX), source.assessment, environ)
    task = source.task or sheet.task or (USUAL if card is None else card.task)
    rows = _with_steps(found.rows, source, store, environ) if STEPS in TASKS[as_task(task)].inputs else found.rows
    table = feedback_table(rows, source.path, notes=found.notes, column="grade" if sheet.scale else None)
    try:
        return label_file(
            table,
            sheet,
            task=task,
            rename=source.rename,
            annotators=source.annotators,
            accept_at=source.accept_at,
            rounding=source.round,
            repeats=source.repeats,
            judges=judges,
            winner_words=source.winner_words,
        ).labels
    except InputError as error:
        if sheet.path or not any(isinstance(row[LABEL], str) for row in found.rows):
            raise
        hint = f"{source.path}: its datasheet would be {source.assessment}.{NAME} in the current folder; there is none."
        raise InputError([*error.faults, hint]) from error


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
        columns = source_of(IN_MEMORY, wanted, task or card.task)
        read = label_file(
            as_table(given, wanted.missing),
            on_scale_of(card, Datasheet(scale=None if columns.scale is None else as_scale(columns.scale))),
            task=columns.task,
            rename=columns.rename,
            annotators=columns.annotators,
            accept_at=columns.accept_at,
            turn=columns.turn,
            rounding=columns.round,
            repeats=columns.repeats,
            winner_words=columns.winner_words,
            usual=usual_turn(card.fields),
            judges=(*judges, *columns.judges),
        )
        return JudgeLabels(read.labels, IN_MEMORY)
    source = _recorded(judge) if given is None else source_of(str(given), wanted, task or card.task)
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
    names = {key: tuple(recorded.get(key) or ()) for key in ("annotators", "judges", "missing")}
    return LabelSource(**recorded | names)


def _datasheet(assessment: str) -> Datasheet:
    """``ASSESSMENT.datasheet.toml`` in the current folder, where there is one: feedback in words has no other order."""
    beside = Path(f"{assessment}.{NAME}").is_file()
    return read_datasheet(f"{assessment}.mlflow") if beside else Datasheet()
