"""The label file that experts grade into: JSON lines, each save whole or not at all, other lines untouched."""

import json
import os
import re
import sys
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from judgec.errors import InputError, UserError
from judgec.labels.labels import DEFAULT_ANNOTATOR
from judgec.labels.reading import NAME as DATASHEET
from judgec.labels.reading import find_datasheet, read_datasheet
from judgec.labels.review.form import Form, form_of
from judgec.labels.rows.conversations import with_turns
from judgec.labels.rows.items import Collected, collect_items
from judgec.labels.rows.raters import RATIONALE, columns_of, rejoined, unpivot
from judgec.labels.split.family import default_family, write_whole
from judgec.records.counts import plural
from judgec.records.label import Item
from judgec.records.tasks.registry import TASKS, as_task
from judgec.table.arrow import HUB_PREFIX
from judgec.table.rows.cells import as_id, as_text, is_missing
from judgec.table.rows.columns import STRATUM, renamed, require_columns
from judgec.table.table import Row, Table
from judgec.table.tables import read_table
from judgec.table.workbooks import split_sheet

JSON_LINES = (".jsonl", ".ndjson")
MOST_RATIONALE = 20_000  # characters


@dataclass(frozen=True, slots=True)
class Given:
    """One annotator's label of one item, as far as it is filled in.

    Args:
        grades: Position on the scale by aspect.
        rationale: Why, or empty.
        stratum: How ``judgec labels next`` came to ask for it, or empty: what the file has stays.
    """

    grades: Mapping[str, int]
    rationale: str = ""
    stratum: str = field(default="", compare=False)

    def as_saved(self) -> "Given":
        """As the file holds it: no reason without a grade, none that is blank, none over the limit."""
        reason = "" if not self.grades or is_missing(self.rationale) else as_text(self.rationale)
        return replace(self, rationale=reason[:MOST_RATIONALE])


NOTHING = Given({})


class LabelSheet:
    """A file of items with the labels that are given while it is open.

    Every change reads the file again when somebody else wrote it in between, changes the one row, and replaces the
    file as a whole. Rows that are not concerned keep their bytes.

    Args:
        path: JSON lines, one row an item and annotator.
        form: What is asked.
    """

    def __init__(self, path: Path, form: Form) -> None:
        self.path, self.form = path.resolve(), form
        self._lock = threading.RLock()
        self._seen: tuple[int, int, int] | None = None
        self._lines: list[str] = []
        self._rows: list[Row] = []
        self.items: tuple[Item, ...] = ()
        self._given: dict[tuple[str, str], Given] = {}
        self._read()

    def given(self, annotator: str) -> dict[str, Given]:
        """Labels of an annotator so far, by item_id."""
        with self._lock:
            self._read()
            return {item: label for (item, name), label in self._given.items() if name == annotator}

    def widen(self, numbers: Iterable[float | None]) -> None:
        """Give each of these numbers a position of its own where the labels are numbers: else the nearest stands in."""
        if self.form.scale.interval:
            known = [*self.form.scale.values, *(number for number in numbers if number is not None)]
            self.form = replace(self.form, scale=self.form.scale.with_values(known))

    def annotators(self) -> dict[str, int]:
        """Number of items that each annotator has graded in full, by name."""
        counts: dict[str, int] = {}
        with self._lock:
            for (_, name), label in self._given.items():
                counts[name] = counts.get(name, 0) + (len(label.grades) == len(self.form.aspects))
        return dict(sorted(counts.items()))

    def save(
        self, item_id: str, annotator: str, given: Given, *, known: Collection[Given] | None = None
    ) -> Given | None:
        """Put a label into the file; one without any grade takes it out again.

        Args:
            item_id: An item of the file.
            annotator: Who says so.
            given: What they say.
            known: What the file may say until then; where it says anything else, that is kept. None: whatever it says.

        Returns:
            What the file says instead, where it was kept.

        Raises:
            UserError: When the item is not in the file (any more), or a grade is not on the scale.
        """
        with self._lock, _alone_in(self.path.parent):
            self._read()
            there = self._given.get((item_id, annotator), NOTHING)
            if known is not None and there not in [one.as_saved() for one in (given, *known)]:
                return there
            self._write([(item_id, annotator, given)])
            return None

    def save_all(self, labels: list[tuple[str, str, Given]]) -> None:
        """``save`` for many labels: all of them or none."""
        with self._lock, _alone_in(self.path.parent):
            self._read()
            self._write(labels)

    def _write(self, labels: list[tuple[str, str, Given]]) -> None:
        for item_id, annotator, given in labels:
            self._check(item_id, annotator, given)
        before = {name for _, name in self._given}
        self._seen = None  # until the file is written: a save that fails must not be believed
        for item_id, annotator, given in labels:
            self._put(item_id, annotator, given.as_saved())
        mode = self.path.stat().st_mode
        write_whole(self.path, "".join(f"{line}\n" for line in self._lines))
        self.path.chmod(mode & 0o777)
        self._seen = _facts(self.path)
        if new := {name for _, name in self._given} - before:
            declare_people(self.path, sorted(new), sorted(before))

    def _read(self) -> None:
        seen = _facts(self.path)
        if seen == self._seen:
            return
        table = read_table(str(self.path))
        lines = self.path.read_text(encoding="utf-8-sig").split("\n")
        collected = _collected(table, self.form)
        self.items = collected.items
        self._rows = [dict(row) for row in table.rows]
        self._lines = [lines[number - 1].rstrip("\r") for number in table.lines]
        self._ids = [collected.items[item].item_id for item in collected.item_of]
        self._given = {}
        for item_id, row in zip(self._ids, self._rows, strict=True):
            grades = self.form.positions(row)
            if grades:
                self._given.setdefault((item_id, _name(row)), Given(grades, reason_in(row)))
        self._seen = seen

    def _check(self, item_id: str, annotator: str, given: Given) -> None:
        where = f"{self.path.name}: label of {item_id} by {annotator}"
        if item_id not in self._ids:
            raise UserError(f"{where}: no such item in the file. Load the page again.")
        if not annotator.strip():
            raise UserError(f"{where}: a name is needed. Fill it in.")
        for aspect, position in given.grades.items():
            if aspect not in self.form.aspects or not 0 <= position < len(self.form.scale.grades):
                raise UserError(
                    f"{where}: {aspect} {position} is not on the form; aspects are {', '.join(self.form.aspects)}, "
                    f"positions 0-{len(self.form.scale.grades) - 1}. Load the page again."
                )

    def _put(self, item_id: str, annotator: str, given: Given) -> None:
        rows = [i for i, other in enumerate(self._ids) if other == item_id]
        named = [
            i for i in rows if not is_missing(self._rows[i].get("annotator")) or self.form.positions(self._rows[i])
        ]
        own = next((i for i in named if _name(self._rows[i]) == annotator), None)
        blank = next((i for i in rows if i not in named), None)
        if not given.grades:
            self._given.pop((item_id, annotator), None)
            if own is not None:
                self._take_out(own, alone=len(rows) == 1)
            return
        label: Row = {
            column: self.form.value(given.grades[aspect]) if aspect in given.grades else None
            for aspect, column in zip(self.form.aspects, self.form.columns, strict=True)
        }
        label |= {"annotator": annotator, "rationale": given.rationale}
        label |= {STRATUM: given.stratum} if given.stratum else {}
        if own is not None or blank is not None:
            at = own if own is not None else blank
            assert at is not None
            self._rows[at] = {**self._rows[at], **label}
        else:
            at = rows[-1] + 1
            self._rows.insert(at, {**_without_label(self._rows[rows[0]], self.form), **label})
            self._ids.insert(at, item_id)
            self._lines.insert(at, "")
        self._lines[at] = _line(self._rows[at])
        self._given[item_id, annotator] = given

    def _take_out(self, at: int, *, alone: bool) -> None:
        if alone:
            self._rows[at] = _without_label(self._rows[at], self.form)
            self._lines[at] = _line(self._rows[at])
        else:
            for column in (self._rows, self._lines, self._ids):
                del column[at]


def open_sheet(
    path: str,
    form: Form | None = None,
    *,
    task: str | None = None,
    rename: Mapping[str, str] | None = None,
    accept_at: str | None = None,
    annotators: Sequence[str] = (),
    scale: Mapping[str, object] | None = None,
    best: str | None = None,
) -> tuple[LabelSheet, list[str]]:
    """Open a file to grade into; notes say what was done.

    Where no datasheet declares the scale that is graded on, one is written beside the file.

    A file that is not JSON lines, or whose columns are renamed, or that has one column an annotator, is copied to
    ``STEM.labels.jsonl`` beside it; where that is there already, grading goes on in it. Grades in annotators' columns
    are in the copy; one that is there already gets those of annotators who have graded nothing in it.

    Args:
        path: Any file that ``read_table`` reads.
        form: What is asked, or None to find out.
        task: As ``form_of``.
        rename: Our column names by theirs.
        accept_at: As ``form_of``.
        scale: As ``read_datasheet``.
        annotators: Who grades; columns of these names, or ``NAME.<aspect>``, hold what they have said so far.
        best: As ``settle_scale``.

    Raises:
        InputError: As ``read_table``; a missing column; one item_id with different inputs.
        UserError: As ``form_of``.
    """
    file, notes = Path(split_sheet(path)[0]), list[str]()
    if file.is_dir():
        inside = [file / f"labels{suffix}" for suffix in JSON_LINES if (file / f"labels{suffix}").is_file()]
        file = inside[0] if inside else file
    target, sheet = file, read_datasheet(path, scale)
    wide = _unpivoted(path, annotators, form, task, rename or {})
    if path.startswith(HUB_PREFIX) or file.suffix.lower() not in JSON_LINES or rename or wide is not None:
        target = Path(f"{default_family(path)}.jsonl") if path.startswith(HUB_PREFIX) else file
        target = target.with_name(f"{target.name if file.is_dir() else target.stem}.labels.jsonl")
        if target.exists():
            notes.append(f"grading goes on in {target}")
            sheet = read_datasheet(str(target), scale)
        else:
            table = renamed(read_table(path), rename or {}) if wide is None else wide
            theirs = (rename or {}).values() if wide is None else wide.columns
            form = form or form_of(with_turns(table), sheet, theirs, task=task, accept_at=accept_at, best=best)
            _collected(table, form)
            _copy(table, path, target)
            notes.append(f"labels go to {target}, a copy of {path}")
    if form is None:
        form = form_of(with_turns(read_table(str(target))), sheet, task=task, accept_at=accept_at, best=best)
    found, declared = LabelSheet(target, form), []
    if find_datasheet(str(target)) is None and not TASKS[form.task].settled and not form.accept_only:
        beside = target.with_name(f"{target.stem}.{DATASHEET}")
        write_whole(beside, _declared(form))
        declared = [f"the scale is declared in {beside}, so that a judge is compiled on what the experts saw"]
    if wide is not None:
        notes += _filled(found, wide, path)
        declare_people(target, sorted({_name(row) for row in wide.rows if "annotator" in row}))
    return found, notes + declared


def declare_people(path: Path, names: Sequence[str], before: Sequence[str] = ()) -> None:
    """Write who graded into the datasheet of a label file, ``STEM.datasheet.toml``, as no file says who is a person.

    Args:
        path: The file.
        names: People who are known to be some.
        before: Who else is in the file; of several whom no datasheet calls people nobody knows it, and nothing is said.
    """
    sheet = read_datasheet(str(path))
    known = sheet.annotators or tuple(name for name in before if name not in sheet.judges)
    people = dict.fromkeys([*known, *names])
    if "*" in known or len(people) < 2 or people.keys() == set(sheet.annotators):
        return
    if not sheet.annotators and len(known) > 1:
        return
    text = Path(sheet.path).read_text(encoding="utf-8-sig") if sheet.path else ""
    if sheet.annotators:
        text = re.sub(r"(?m)^annotators\s*=\s*\[[^\]]*\][^\n]*\n", "", text, count=1)
    line = f"annotators = {json.dumps([*people], ensure_ascii=False)}\n"
    write_whole(path.with_name(f"{path.stem}.{DATASHEET}"), line + text)


def _unpivoted(
    path: str,
    annotators: Sequence[str],
    form: Form | None,
    task: str | None,
    rename: Mapping[str, str],
) -> Table | None:
    """The file with a row an item and annotator, or None where none of them has a column."""
    if not annotators:
        return None
    table = renamed(read_table(path), rename)
    raters = [name for name in rejoined(annotators, table.columns) if columns_of(name, table.columns)]
    if not raters:
        return None
    known = form.task if form is not None else None if task is None else as_task(task)
    return unpivot(table, raters, task=known or read_datasheet(path).task)


def _filled(sheet: LabelSheet, wide: Table, path: str) -> list[str]:
    """Put in what annotators said in columns of their own and the sheet does not have; says what came from there."""
    there = sheet.annotators()
    collected = _collected(wide, sheet.form)
    labels = [
        (collected.items[item].item_id, _name(row), Given(grades, reason_in(row)[:MOST_RATIONALE]))
        for row, item in zip(wide.rows, collected.item_of, strict=True)
        if _name(row) not in there and (grades := sheet.form.positions(row))
    ]
    if labels:
        sheet.save_all(labels)
    lost = sum(
        not is_missing(row.get(column)) and sheet.form.position(row.get(column)) is None
        for row in wide.rows
        for column in sheet.form.columns
    )
    given = ", ".join(f"{count} by {name}" for name, count in sheet.annotators().items())
    notes = [f"labels in {sheet.path.name}, those in columns of {path} among them: {given}"] if given else []
    return notes + ([f"off the scale and left out: {plural(lost, 'cell')} of annotators' columns"] if lost else [])


def _declared(form: Form) -> str:
    facts = form.scale.model_dump(exclude={"aspects"})
    lines = [f"task = {json.dumps(form.task)}", "", "[scale]", *_as_toml(facts)]
    for name, aspect in form.scale.aspects.items():
        lines += ["", f"[aspects.{json.dumps(name)}]", *_as_toml(aspect.model_dump())]
    return "\n".join([*lines, ""])


def _as_toml(facts: Mapping[str, object]) -> list[str]:
    """Lines of TOML; what says nothing is left out."""
    return [
        f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in facts.items()
        if value not in (None, (), "")
    ]


def _copy(table: Table, path: str, target: Path) -> None:
    """The rows as JSON lines, and the datasheet where it would not be found beside them."""
    sheet = find_datasheet(path)
    beside = target.with_name(f"{target.stem}.{DATASHEET}")
    if sheet is not None and sheet.name != DATASHEET and not beside.exists():
        write_whole(beside, sheet.read_text(encoding="utf-8-sig"))
    write_whole(target, "".join(f"{_line(row)}\n" for row in table.rows))


def _collected(table: Table, form: Form) -> Collected:
    table = with_turns(table, every=True)
    require_columns(table, form.task, labelled=False)
    collected = collect_items(table, form.task)
    if collected.faults:
        raise InputError([sentence for _, sentence in collected.faults])
    return collected


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One process at a time reads and replaces a file in this folder; a killed one lets go at once.

    Where the system or its disk has no such lock, two processes that save in the same moment may overwrite each other.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl  # not there on Windows

    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _facts(path: Path) -> tuple[int, int, int]:
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def reason_in(row: Row) -> str:
    """The reason for a row's label, or empty."""
    said = row.get(RATIONALE)
    return "" if is_missing(said) else as_text(said)


def _name(row: Row) -> str:
    value = row.get("annotator")
    return DEFAULT_ANNOTATOR if is_missing(value) else as_id(value)


def _without_label(row: Row, form: Form) -> Row:
    hidden = {*form.columns, "annotator", "rationale"} | ({"accept"} if TASKS[form.task].takes_accept else set())
    return {name: value for name, value in row.items() if name not in hidden}


def _line(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, default=str)
