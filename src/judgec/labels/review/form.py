"""Makes the form that experts fill in for a file: task, scale, and the columns that their labels go to."""

from collections.abc import Collection
from dataclasses import dataclass

from judgec.errors import InputError, UserError
from judgec.labels.reading import Datasheet
from judgec.labels.rows.grades import position_of, raw_labels, settle_scale
from judgec.labels.rows.modes import with_modes
from judgec.records.label import Task
from judgec.records.scale import ACCEPT_SCALE, Grade, Scale
from judgec.records.tasks.registry import TASKS, USUAL, as_task, told_by
from judgec.records.tasks.spec import MODE_PREFIX
from judgec.table.rows.cells import as_accept, as_grade
from judgec.table.rows.columns import MODES_LIST, aspect_columns, infer_task, task_of_labels
from judgec.table.table import Row, Table


@dataclass(frozen=True, slots=True)
class Form:
    """The questions on each item.

    Args:
        task: The task.
        scale: The grades to choose from.
        aspects: ``("grade",)`` for tasks with one grade.
        columns: The label column of each aspect.
        accept_only: The labels are true / false.
    """

    task: Task
    scale: Scale
    aspects: tuple[str, ...]
    columns: tuple[str, ...]
    accept_only: bool

    def value(self, position: int) -> Grade | bool:
        """Value of a label column for a position on the scale."""
        return bool(position) if self.accept_only else self.scale.grades[position]

    def position(self, said: object) -> int | None:
        """The position that a cell names; None when it is off the scale."""
        grade = as_grade(said)
        if grade is None:
            return None
        if self.accept_only:
            accept = as_accept(grade)
            return None if accept is None else int(accept)
        return position_of(grade, self.scale)

    def positions(self, row: Row) -> dict[str, int]:
        """The positions that a row holds by aspect; what is missing or off the scale is absent."""
        found = {
            aspect: self.position(row.get(column)) for aspect, column in zip(self.aspects, self.columns, strict=True)
        }
        return {aspect: position for aspect, position in found.items() if position is not None}

    @property
    def options(self) -> tuple[str, ...]:
        """The grades as experts see them, worst first."""
        return ("reject", "accept") if self.accept_only else tuple(map(str, self.scale.grades))


def form_of(
    table: Table,
    sheet: Datasheet,
    theirs: Collection[str] = (),
    *,
    task: str | None = None,
    scale: Scale | None = None,
    aspects: tuple[str, ...] = (),
    accept_at: str | None = None,
    best: str | None = None,
) -> Form:
    """The form that fits a file, labelled or not.

    Args:
        table: The file.
        sheet: Its datasheet.
        theirs: Columns that have another name in the file, or none as they are of an annotator each.
        task: Overrides the datasheet's, which overrides the one the columns imply.
        scale: Overrides the datasheet's, and that the usual one.
        aspects: Of a task with several; default: the file's, else the usual ones of the task.
        accept_at: The lowest accepted grade.
        best: As ``settle_scale``.

    Raises:
        UserError: An unknown task, ``accept_at`` off the scale, or failure modes in a list.
        InputError: The file has grades, and nobody declared their scale.
    """
    known = task_of_labels(as_task(task) if task is not None else sheet.task, table.columns)
    if with_modes(table, known) is not table:
        raise UserError(
            f"{table.path}: column {MODES_LIST} lists the failure modes of an item; to grade on a page or sheet, each "
            f"mode needs a column {MODE_PREFIX}NAME with 1 or 0. Replace {MODES_LIST} by these columns."
        )
    known = known or _task_of(table)
    spec = TASKS[known]
    own: tuple[str, ...] = ("grade",)
    if spec.by_aspect:
        theirs = tuple(name.removeprefix(spec.prefix) for name in aspect_columns(table.columns, spec.prefix))
        own = aspects or theirs or spec.usual_aspects or tuple(spec.aspects)
    asked_accept = scale is None and sheet.scale is None and "grade" not in table.columns and "accept" in table.columns
    if spec.takes_accept and (asked_accept or scale == ACCEPT_SCALE):
        return Form(known, ACCEPT_SCALE, own, ("accept",), accept_only=True)
    settled = sheet.told(scale or _scale(table, known, sheet.scale, theirs, accept_at, best))
    return Form(known, settled, own, spec.columns(own), accept_only=False)


def _task_of(table: Table) -> Task:
    try:
        return infer_task(table)[0]
    except InputError:  # no label column yet: the inputs alone
        told = told_by(table.columns)
        return USUAL if told is None else told.name


def _scale(
    table: Table, task: Task, declared: Scale | None, theirs: Collection[str], accept_at: str | None, best: str | None
) -> Scale:
    raw = raw_labels(table, task, declared)
    graded = any(label.grades for label in raw.rows if label)
    known = declared or (None if graded else TASKS[task].scale)
    if known is not None and not accept_at:
        return known
    own = {} if {*theirs} & {*raw.columns.values()} else {name: name for name in raw.columns.values()}
    return settle_scale(table, task, raw, known, accept_at, best, columns=own)[0]
