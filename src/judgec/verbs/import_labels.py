"""Labels and verdicts from the export of a label or trace tool, as one label file and recorded verdicts beside it."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from judgec.connect.scores.records import ScoreExport
from judgec.connect.scores.registry import TOOLS, read_scores, tool_of
from judgec.connect.scores.table import imported
from judgec.errors import InputError, UserError
from judgec.labels.review.sheet import declare_people
from judgec.labels.split.family import write_whole
from judgec.raters.about_judges import VERDICTS
from judgec.records.counts import plural
from judgec.records.tasks.winners import unknown_words, winner_of, winner_words
from judgec.report.report import Report
from judgec.table.formulas import IMPORTED_FROM, NUMBER, guarded
from judgec.table.rows.cells import as_grade, as_number, as_text
from judgec.table.table import Row
from judgec.verbs.options.labels import LabelImportOptions
from judgec.verbs.typed import command

SUFFIXES = (".jsonl", ".csv", ".parquet")


@dataclass(frozen=True)
class ImportedExport:
    """Result of reading the export of a tool.

    Args:
        out: The label file, or None where the export has verdicts alone.
        verdicts_out: Recorded verdicts for ``--lm recorded:FILE``, or None where a machine said nothing.
        records: Scores in the export; ``labels``, ``verdicts``, ``texts`` and ``skipped`` add up to it.
        items: What was scored.
        labels: Scores of people.
        verdicts: Scores of machines.
        texts: Remarks and corrected answers of people, kept as columns.
        skipped: Scores that are neither, by reason.
        annotators: Labels by annotator.
        columns: The label column of each metric.
        notes: What was assumed.
    """

    out: Path
    verdicts_out: Path | None
    records: int
    items: int
    labels: int
    verdicts: int
    texts: int
    skipped: Mapping[str, int]
    annotators: Mapping[str, int]
    columns: Mapping[str, str]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """The JSON that ``labels import TOOL:FILE --json`` prints."""
        verdicts = None if self.verdicts_out is None else str(self.verdicts_out)
        return {**asdict(self), "out": str(self.out), "verdicts_out": verdicts, "notes": list(self.notes)}


def import_export(options: LabelImportOptions) -> ImportedExport:
    """Write the label file ``options.file`` from the export that ``options.import_`` names, ``TOOL:FILE``.

    Raises:
        UserError: A file that is there, or whose format is not one to write.
        InputError: What is wrong with the export; scores whose origin it does not mark, without ``--as``.
    """
    found = tool_of(options.import_)
    if found is None:
        raise UserError(f"labels import {options.import_}: no tool; valid are {', '.join(TOOLS)}. Name one: TOOL:FILE.")
    tool, file = found
    out = Path(options.file)
    if out.suffix.lower() not in SUFFIXES:
        raise UserError(f"{out}: labels are written to {', '.join(SUFFIXES)}. Give the file one of these names.")
    verdicts = out.with_name(f"{out.stem}{VERDICTS}{out.suffix}")
    if not out.parent.is_dir():
        raise UserError(f"{out}: no such folder {out.parent}; create it, or name another.")
    export = _with_sides(read_scores(tool, file, options.columns), file, winner_words(options.winner_words))
    made = imported(export, file, options.columns, options.as_)
    targets = [out, *[verdicts] * bool(made.verdicts)]
    if there := [str(path) for path in targets if path.exists()]:
        raise UserError(
            f"{', '.join(there)}: is there and may hold labels; a new file is valid. Move it, or name another."
        )
    _write(out, [{**row, IMPORTED_FROM: tool} for row in made.rows])
    declare_people(out, sorted(made.annotators))
    if made.verdicts:
        _write(verdicts, [{**row, IMPORTED_FROM: tool} for row in made.verdicts])
    return ImportedExport(
        out=out,
        verdicts_out=verdicts if made.verdicts else None,
        records=made.records,
        items=len({row["item_id"] for row in made.rows}),
        labels=made.labels,
        verdicts=len(made.verdicts),
        texts=made.texts,
        skipped=made.skipped,
        annotators=made.annotators,
        columns=made.columns,
        notes=made.notes,
    )


def _with_sides(export: ScoreExport, file: str, said: Mapping[str, str]) -> ScoreExport:
    """The export with a side in place of each number that says who won, and of each word that somebody named.

    Raises:
        InputError: Numbers of which nobody said what they mean.
    """
    cells = {one.value: as_grade(one.value) for one in export.scores if one.kind == "preference"}
    sides = {value: winner_of(word, said) for value, word in cells.items() if word is not None}
    if strange := [value for value, side in sides.items() if side is None and as_number(value) is not None]:
        raise InputError([f"{file}: {unknown_words(cells[value] for value in strange)}"])
    several = len(set(sides.values())) < len(sides) and all(as_number(value) is not None for value in sides)
    note = "Numbers became sides by --winner-words; how much better an answer is was dropped."
    scores = [
        replace(one, value=sides.get(one.value) or one.value) if one.kind == "preference" else one
        for one in export.scores
    ]
    return replace(export, scores=scores, notes=(*export.notes, *([note] if several else [])))


def _write(path: Path, rows: Sequence[Row]) -> None:
    """The rows in the format that the name says; cells of CSV and Parquet that are no single value are JSON."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    kind = path.suffix.lower()
    if kind == ".jsonl":
        write_whole(path, "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows))
    elif kind == ".csv":
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([guarded(name) for name in columns])
        writer.writerows([_guarded(_cell(row.get(name))) for name in columns] for row in rows)
        write_whole(path, text.getvalue())
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        cells = {name: [None if row.get(name) is None else _cell(row[name]) for row in rows] for name in columns}
        pq.write_table(pa.table(cells, schema=pa.schema([(name, pa.string()) for name in columns])), path)


def _guarded(text: str) -> str:
    return text if NUMBER.fullmatch(text) else guarded(text)


def _cell(value: object) -> str:
    return "" if value is None else as_text(value)


def made_report(found: ImportedExport, options: LabelImportOptions) -> Report:
    """Report of what became of every score of an export."""
    verdicts = [f"{found.verdicts_out}: {found.verdicts} verdicts for --lm recorded:FILE"] if found.verdicts_out else []
    made = f"{plural(found.labels, 'label')}, {plural(found.verdicts, 'verdict')}, {plural(found.texts, 'text')}"
    return Report(
        data=found.to_json(),
        verdict=[f"{found.records} scores of {found.items} items: {made}, {sum(found.skipped.values())} left out"],
        lines=[
            *(f"{count} left out: {reason}" for reason, count in found.skipped.items()),
            *(f"{plural(count, 'label')} by {name}" for name, count in found.annotators.items()),
            *verdicts,
        ],
        notes=found.notes,
        next=[command("labels", str(found.out), home=options.home)],
    )
