"""Label files that experts grade elsewhere: sheets out, their labels back in."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from judgec.errors import UserError
from judgec.labels.labels import DEFAULT_ANNOTATOR
from judgec.labels.reading import read_datasheet
from judgec.labels.review.form import Form, form_of
from judgec.labels.review.sheet import LabelSheet, open_sheet
from judgec.labels.review.spreadsheet import export_sheet, import_sheet
from judgec.labels.rows.ranges import scale_of_grades
from judgec.raters import programs
from judgec.records.card import ProgramCard
from judgec.records.counts import plural
from judgec.records.tasks.registry import TASKS
from judgec.report.report import Report
from judgec.table.rows.columns import renamed
from judgec.table.tables import read_table
from judgec.verbs.options.labels import LabelExportOptions, LabelImportOptions, ReviewOptions
from judgec.verbs.typed import as_typed, command


@dataclass(frozen=True)
class ExportedSheets:
    """Spreadsheets to be filled in.

    Args:
        items: Items of the file.
        blank: By path, how many items still lack a label of its annotator.
        annotators: By path, whose sheet it is.
        notes: What opening the label file did.
    """

    items: int
    blank: Mapping[str, int]
    annotators: Mapping[str, str]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """The JSON that ``labels export --json`` prints."""
        return {"items": self.items, "blank": dict(self.blank)}


@dataclass(frozen=True)
class ImportedLabels:
    """Labels that came back.

    Args:
        out: The label file that they are in now.
        items: Its items.
        imported: How many labels came back, by annotator.
        graded: How many items each annotator has graded in full.
        notes: As ``ExportedSheets``.
    """

    out: Path
    items: int
    imported: Mapping[str, int]
    graded: Mapping[str, int]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """The JSON that ``labels import --json`` prints."""
        return {
            "out": str(self.out),
            "items": self.items,
            "imported": dict(self.imported),
            "graded": dict(self.graded),
        }


def open_labels(
    options: ReviewOptions | LabelExportOptions | LabelImportOptions,
) -> tuple[LabelSheet, list[str]]:
    """The label file to grade into, with the form of the judge where one is named; notes say what was done.

    Raises:
        UserError: No such judge, or its task has no label columns.
        InputError: Faults of the file.
    """
    if options.turn not in {None, "last"}:
        raise UserError(
            f"{options.file}: --turn {options.turn}; experts are shown the last answer of a conversation. Drop --turn."
        )
    form = None if options.judge is None else _form_of_judge(options, options.judge)
    return open_sheet(
        options.file,
        form,
        task=options.task,
        rename=options.columns,
        accept_at=options.accept_at,
        annotators=options.annotators,
        scale=options.scale or scale_of_grades(options.grades),
        best=None if options.best is None else str(options.best),
    )


def export_labels(options: LabelExportOptions) -> ExportedSheets:
    """Write a spreadsheet for each annotator, as ``options.export`` says.

    Raises:
        UserError: When the target's format is not known.
    """
    target = options.export
    sheet, notes = open_labels(options)
    names = options.annotators
    path = Path(target)
    if not path.parent.is_dir():
        raise UserError(f"labels export {target}: no such folder {path.parent}; create it, or name another.")
    paths = {name: path.with_name(f"{path.stem}.{_file_part(name)}{path.suffix}") for name in names}
    if len(names) < 2:
        paths = {names[0] if names else DEFAULT_ANNOTATOR: path}
    if there := [str(each) for each in paths.values() if each.exists()]:
        raise UserError(f"labels export: {', '.join(there)} is there and may hold labels. Move it, or name another.")
    blank: dict[str, int] = {}
    for name, each in paths.items():
        blank[str(each)], lost = export_sheet(sheet, each, name)
        notes += lost
    return ExportedSheets(len(sheet.items), blank, {str(each): name for name, each in paths.items()}, tuple(notes))


def import_labels(options: LabelImportOptions) -> ImportedLabels:
    """Put labels from a spreadsheet into the file, as ``options.import_`` says.

    Raises:
        InputError: All faults of the spreadsheet.
    """
    origin = options.import_
    sheet, notes = open_labels(options)
    names = options.annotators
    counts = import_sheet(sheet, Path(origin), names[0] if len(names) == 1 else None, among=names)
    return ImportedLabels(sheet.path, len(sheet.items), counts, sheet.annotators(), tuple(notes))


def _form_of_judge(options: ReviewOptions | LabelExportOptions | LabelImportOptions, judge: str) -> Form:
    card: ProgramCard = programs.load(options.home, judge).card
    if card.task not in TASKS:
        raise UserError(f"--judge {judge}: its task {card.task} has no label columns. Name another judge.")
    table = renamed(read_table(options.file), options.columns)
    return form_of(table, read_datasheet(options.file), task=card.task, scale=card.scale, aspects=card.aspects)


def _file_part(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)


def sheets_report(found: ExportedSheets, options: LabelExportOptions) -> Report:
    """Report of what was exported, and the command that brings it back."""
    judge = () if options.judge is None else ("--judge", options.judge)
    typed = (options.file, next(iter(found.blank)), *as_typed(options), *judge)
    return Report(
        data=found.to_json(),
        verdict=[
            f"{path}: {plural(found.items, 'item')} for {found.annotators[path]}, {blank} of them to grade"
            for path, blank in found.blank.items()
        ],
        notes=found.notes,
        next=[command("labels", "import", *typed, home=options.home)],
    )


def imported_report(found: ImportedLabels, options: LabelImportOptions) -> Report:
    """Report of the people whose labels came back."""
    return Report(
        data=found.to_json(),
        verdict=[f"{plural(count, 'label')} by {name}" for name, count in found.imported.items()],
        notes=found.notes,
        next=[command("labels", str(found.out), home=options.home)],
    )
