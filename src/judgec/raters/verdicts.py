"""Reads a file of recorded verdicts: one row an item and judge."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from judgec.errors import InputError
from judgec.labels.rows.label_cells import label_cells
from judgec.labels.rows.ranges import Range
from judgec.records.label import JudgedCell, Task
from judgec.records.tasks.registry import TASKS, plain
from judgec.table.coded import CodedTable, read_coded
from judgec.table.rows.cells import as_number, as_text, is_missing
from judgec.table.rows.columns import listed
from judgec.table.table import NO_CELL, Table, TableColumn
from judgec.table.tables import TableSource, name_of

ITEM, JUDGE, GRADE, PREFERENCE, ACCEPT = "item_id", "judge", "grade", "preference", "accept"
VERDICT = frozenset({GRADE, PREFERENCE, ACCEPT})
ASPECT, ORDER, RUN, REPLY, COST, SECONDS = "aspect", "order", "run", "reply", "cost_usd", "seconds"
MODEL, PROMPT = "model", "prompt"
EVERY = ""  # the aspect of a prompt that is for all
ROLES = frozenset({"system", "user", "assistant", "developer"})
CODED = (ITEM, JUDGE, GRADE, PREFERENCE, ACCEPT, ASPECT, ORDER, RUN, REPLY, MODEL, PROMPT)
NUMBERS = (COST, SECONDS)
CHANCE = "p_"  # before a grade: the recorded probability of it
ABOUT = "judges.json"  # STEM.judges.json beside STEM.verdicts.* or STEM.*
VERDICTS = ".verdicts"
AS_SHOWN, MAPPED = ORDERS = ("as_shown", "mapped")  # what a verdict on a pair in the other order says
EXPLAINED = "as shown, A is the answer that stood first; mapped back, A is answer_a in both orders"


@dataclass(frozen=True, slots=True)
class AboutJudge:
    """Facts known of a recorded judge beside its verdicts.

    Args:
        model: The language model, or None.
        prompt: Its prompt as text, or None; of several aspects their prompts one below the other.
        note: Whatever else somebody wrote.
        messages: The prompt as it was sent: role and text of each turn, by aspect, ``""`` for all; empty when unknown.
        range: From the worst to the best of its numbers, where these are not grades of the scale.
        order: What a verdict on a pair in the other order means, a key of ``ORDERS``; None where nobody says.
    """

    model: str | None = None
    prompt: str | None = None
    note: str = ""
    messages: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    range: Range | None = None
    order: str | None = None


@dataclass(frozen=True)
class VerdictColumns(CodedTable):
    """A file of recorded verdicts as columns.

    ``numbers`` are ``cost_usd``, ``seconds`` and the ``p_<grade>`` columns.

    Args:
        notes: What reading assumed.
        about: What ``judges.json`` says, by judge.
        order: What it says of the order of all judges whose entry says nothing.
    """

    notes: tuple[str, ...] = ()
    about: Mapping[str, AboutJudge] = field(default_factory=dict)
    order: str | None = None

    def require(self, *columns: str) -> None:
        """Refuse a file without one of these columns.

        Raises:
            InputError: Naming what is missing and what there is.
        """
        missing = [name for name in columns if name not in self.coded]
        if empty := [name for name in missing if name in self.columns]:
            raise InputError(
                [f"{self.path}:1: no row has a {listed(empty)}; fill in what judges said, or name another file."]
            )
        if missing:
            raise InputError(
                [
                    (
                        f"{self.path}:1: no {listed(missing)}; recorded verdicts have item_id, judge, and grade or "
                        f"preference, and the columns are {listed(self.columns)}. Rename with --map, for example --map "
                        f"THEIR_COLUMN={missing[0]}."
                    )
                ]
            )

    def missing_cells(self, name: str) -> list[str]:
        """A sentence for each row that lacks a cell which every row needs."""
        rows = np.flatnonzero(self.coded[name].codes == NO_CELL)
        return [
            f"{self.where(int(row))}: no {name}; every row needs one. Fill it in, or delete the row." for row in rows
        ]


def read_verdicts(
    source: TableSource,
    grades: Sequence[object],
    words: Collection[str] = (),
    rename: Mapping[str, str] = MappingProxyType({}),
) -> VerdictColumns:
    """Read a file of verdicts, in any format of a table.

    Args:
        source: The file, or rows in memory.
        grades: Of the scale: each may have a column ``p_<grade>``.
        words: For the winner, whose meaning somebody said.
        rename: Names of ours by names that the file may use.

    Raises:
        InputError: As ``table.tables.read_table``, and for a ``judges.json`` that is not one.
    """
    path = name_of(source)
    about, order = read_about(Path(path))
    wanted = (*NUMBERS, *(f"{CHANCE}{grade}" for grade in grades))
    read = read_coded(source, CODED, wanted, rename)
    strange = [name for name in read.columns if name.startswith(CHANCE) and name not in wanted]
    notes = [f"{listed(strange)}: no grade of the scale, so not read as a probability"] if strange else []
    known = {*words, *map(str, grades)}
    coded = {name: _said(column, known) if name in VERDICT else column for name, column in read.coded.items()}
    return VerdictColumns(**(vars(read) | {"coded": coded}), notes=tuple(notes), about=about, order=order)


def _said(column: TableColumn, known: Collection[str]) -> TableColumn:
    """A column of verdicts, missing where a mark says nothing, and with the numbers that 20% and 1,0 write."""
    cells = label_cells(column.values, said=known).cells
    if cells == tuple(column.values):
        return column
    place: dict[object, int] = {None: NO_CELL}
    codes = [place.setdefault(cell, len(place) - 1) for cell in cells]
    return TableColumn(
        np.array([*codes, NO_CELL], dtype=np.int32)[column.codes], [cell for cell in place if cell is not None]
    )


def as_recorded(
    path: str,
    judged: Mapping[str, Sequence[JudgedCell]],
    task: Task,
    aspects: Sequence[str],
    *,
    failed: bool = False,
) -> Table:
    """What judges said in a table of labels, as recorded verdicts: one row an item, judge and aspect, at its line.

    Args:
        path: The table, for messages.
        judged: By judge.
        task: What the items are for.
        aspects: Of the labels.
        failed: A judge was asked where its cell is empty, and failed; else it was not asked.
    """
    verdict = TASKS[task].labels[0] if not TASKS[task].by_aspect else GRADE
    several = len(aspects) > 1
    said = [(name, one) for name, own in judged.items() for one in own if failed or one.cell is not None]
    rows = [
        {ITEM: one.item_id, JUDGE: name, verdict: one.cell, **({ASPECT: one.aspect} if several else {}), **one.more}
        for name, one in said
    ]
    columns = (ITEM, JUDGE, verdict, *([ASPECT] if several else []), REPLY, *NUMBERS)
    return Table(path, columns, tuple(rows), tuple(one.line for _, one in said))


def read_about(path: Path) -> tuple[dict[str, AboutJudge], str | None]:
    """Reads what ``STEM.judges.json`` beside the file says of each judge, and of the order of all; nothing without one.

    Raises:
        InputError: When it is not an object of objects, beside ``"order"``, or that is another one; or a range is none.
    """
    stems = dict.fromkeys((path.name.partition(VERDICTS)[0], path.stem))
    file = next((one for name in stems if (one := path.parent / f"{name}.{ABOUT}").is_file()), None)
    if file is None:
        return {}, None
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, UnicodeDecodeError) as error:
        line = getattr(error, "lineno", 1)
        raise InputError([f"{file}:{line}: not JSON in UTF-8; an object of judges is needed. Fix the file."]) from error
    order = content.pop(ORDER) if isinstance(content, dict) and isinstance(content.get(ORDER), str) else None
    if not isinstance(content, dict) or not all(isinstance(one, dict) for one in content.values()):
        raise InputError(
            [f"{file}:1: not an object of objects; {{JUDGE: {{model, prompt}}}} is valid. Fix the file, or remove it."]
        )
    said = [order, *(one.get(ORDER) for one in content.values())]
    if strange := [one for one in said if one is not None and plain(str(one)) not in ORDERS]:
        raise InputError(
            [f"{file}:1: order {strange[0]!r}; {' or '.join(map(repr, ORDERS))} is valid. Correct it: {EXPLAINED}."]
        )
    about = {
        str(name): AboutJudge(
            _text(one.get("model")),
            _prompt(one.get("prompt")),
            _text(one.get("note")) or "",
            messages_of(one.get("prompt")),
            _range(one["range"], f"{file}:1: {name}") if "range" in one else None,
            None if one.get(ORDER) is None else plain(str(one[ORDER])),
        )
        for name, one in content.items()
    }
    return about, None if order is None else plain(order)


def _range(value: object, where: str) -> Range:
    ends = [as_number(one) for one in value] if isinstance(value, list) else []
    worst, best = ends if len(ends) == 2 else (None, None)
    if worst is None or best is None or worst == best:
        raise InputError([f"{where}: range is {value!r}; [WORST, BEST] such as [0, 1] is valid. Fix the file."])
    return Range(worst, best)


def _text(value: object) -> str | None:
    return None if is_missing(value) else as_text(value)


def _prompt(value: object) -> str | None:
    """A prompt as one text: a system and a user turn, or one prompt an aspect, under their names."""
    if isinstance(value, dict):
        return "\n\n".join(f"[{name}]\n{_prompt(one)}" for name, one in value.items() if not is_missing(one)) or None
    return _text(value)


def messages_of(prompt: object) -> dict[str, tuple[tuple[str, str], ...]]:
    """A prompt as it was sent: one text, turns by role, or either of these by aspect; nothing where there is none.

    A turn may be one text for all aspects, or one for each: ``{"system": TEXT, "user": {ASPECT: TEXT}}``.
    """
    if not isinstance(prompt, dict):
        return {} if is_missing(prompt) else {EVERY: (("user", as_text(prompt)),)}
    known = {str(name): one for name, one in prompt.items() if not is_missing(one)}
    if not known or not known.keys() <= ROLES:
        return {name: found[EVERY] for name, one in known.items() if EVERY in (found := messages_of(one))}
    texts = {role: one if isinstance(one, dict) else {EVERY: one} for role, one in known.items()}
    aspects = dict.fromkeys(str(name) for own in texts.values() for name in own)
    if len(aspects) > 1:
        aspects.pop(EVERY, None)
    turns = {
        aspect: tuple((role, as_text(own.get(aspect, own.get(EVERY)))) for role, own in texts.items())
        for aspect in aspects
        if all(not is_missing(own.get(aspect, own.get(EVERY))) for own in texts.values())
    }
    return {aspect: one for aspect, one in turns.items() if one}
