"""Maps columns: renaming, the task they imply, and what is missing for it."""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from judgec.errors import InputError, UserError
from judgec.records.conversation import CHATS, ROLES, TURNS, role_of
from judgec.records.label import Task
from judgec.records.tasks.registry import SYNONYMS, TASKS, advised, folded
from judgec.records.tasks.spec import ASPECT_PREFIX, MODE_PREFIX
from judgec.table.table import Row, Table

LEARNED = "learned"  # the column of rows whose queries a judge has learned from
STRATUM, UNCERTAIN, RANDOM = "stratum", "uncertain", "random"  # the column of ``labels next``: how a row was chosen
JUDGED_BY = "judged_by"  # judgec's own column of a judge's name
JUDGED = frozenset({"grade", "score", "accept", "confidence", "preference"})  # beside it the judge's
FEWEST_WORDS = 3  # of a text, on average
ABOUT = ("rationale", "annotator", "agent", "group")  # what may hold many words and is no input
SHOWN = 8  # of many names, in a message
ROLE = "role:"  # what --map puts before a role of turns
MODES_LIST = "modes"  # the column that lists failure modes
EXPORTED: Mapping[str, frozenset[str]] = {  # fields that records of one tool alone have
    "argilla": frozenset({"_server_id", "suggestions"}),
    "langfuse": frozenset({"projectId", "bookmarked"}),
    "langsmith": frozenset({"run_type", "feedback_stats"}),
    "opik": frozenset({"feedback_scores"}),
    "phoenix": frozenset({"span_kind", "annotator_kind"}),
    "promptfoo": frozenset({"vars"}),
}


def as_rename(pairs: Sequence[str], option: str = "--map", form: str = "THEIRS=OURS") -> dict[str, str]:
    """Our column names by theirs, from ``THEIRS=OURS`` each; or what else an option maps so.

    Raises:
        UserError: When a pair is not of that form, or one column is renamed twice.
    """
    rename: dict[str, str] = {}
    for pair in pairs:
        theirs, _, ours = pair.rpartition("=")  # our names have no "=", theirs may
        if not theirs.strip() or not ours.strip():
            example = "; for example --map question=query" if option == "--map" else ""
            raise UserError(f"{option} {pair}: not of the form {form}{example}.")
        if theirs.strip() in rename:
            what = f"column {theirs.strip()!r} is renamed" if option == "--map" else f"{theirs.strip()!r} is there"
            raise UserError(f"{option} {pair}: {what} twice; once is valid. Drop one.")
        rename[theirs.strip()] = ours.strip()
    return rename


def as_names(text: str | None, option: str = "--annotators") -> tuple[str, ...]:
    """Names separated by commas.

    Raises:
        UserError: When there is none.
    """
    if text is None:
        return ()
    names = tuple(name for part in text.split(",") if (name := part.strip()))
    if not names:
        raise UserError(f"{option}: no name given; names separated by commas are valid. Give {option} A,B.")
    return names


def renamed(table: Table, rename: Mapping[str, str]) -> Table:
    """The table with columns renamed, all at once, so that two may swap their names, and roles in its conversations.

    Raises:
        InputError: A column that is not there, a new name that another column already has, a role that there is not.
    """
    roles = {name: new for name, new in rename.items() if name.startswith(ROLE) and name not in table.columns}
    rename = {name: new for name, new in rename.items() if name not in roles}
    faults = [
        f"{table.path}: --map {name}={new}: no role of a turn; valid are {listed(ROLES)}. Correct it."
        for name, new in roles.items()
        if new not in ROLES
    ]
    if not rename and not faults:
        return _with_roles(table, roles)
    faults += [
        f"{table.path}:1: no column {name!r}; the columns are {listed(table.columns)}. Correct --map {name}={new}."
        for name, new in rename.items()
        if name not in table.columns
    ]
    columns = [rename.get(name, name) for name in table.columns]
    faults += [
        f"{table.path}:1: --map makes a second column {name!r}; names must differ. "
        f"Rename the other too, for example --map {name}=other_{name}."
        for name in dict.fromkeys(columns)
        if columns.count(name) > 1
    ]
    if faults:
        raise InputError(faults)
    rows = tuple(renamed_row(row, rename) for row in table.rows)
    return _with_roles(replace(table, columns=tuple(columns), rows=rows), roles)


def _with_roles(table: Table, roles: Mapping[str, str]) -> Table:
    """The table with roles of its conversations by judgec's names, so that a copy of it needs no ``--map``."""
    ours = {name.removeprefix(ROLE).casefold(): new for name, new in roles.items()}

    def said(cell: object) -> object:
        try:
            turns = json.loads(cell) if isinstance(cell, str) else cell
        except json.JSONDecodeError:
            return cell  # whoever reads the turns says so
        if not isinstance(turns, list | tuple):
            return cell
        new = [ours.get(str(role_of(one)).casefold()) if isinstance(one, Mapping) else None for one in turns]
        return [{**one, "role": role} if role else one for one, role in zip(turns, new, strict=True)]

    named = [name for name in (*TURNS, *CHATS) if name in table.columns] if roles else []
    return table.with_columns({name: table.column(name).made(said) for name in named}) if named else table


def renamed_row(row: Row, rename: Mapping[str, str]) -> Row:
    """One row with its columns renamed."""
    return {rename.get(name, name): value for name, value in row.items()} if rename else row


def named_here(columns: Sequence[str], rename: Mapping[str, str]) -> dict[str, str]:
    """The part of ``rename`` that is about these columns, where several files share one ``--map``."""
    return {theirs: ours for theirs, ours in rename.items() if theirs in columns}


def aspect_columns(columns: Sequence[str], prefix: str = ASPECT_PREFIX) -> tuple[str, ...]:
    """The ``grade.<aspect>`` columns, or those of another prefix, in file order."""
    return tuple(name for name in columns if name.startswith(prefix) and name != prefix)


def label_columns(columns: Sequence[str], task: Task) -> tuple[str, ...]:
    """The columns among these that hold labels of the task."""
    if TASKS[task].by_aspect:
        return aspect_columns(columns, TASKS[task].prefix)
    return tuple(name for name in TASKS[task].labels if name in columns)


def infer_task(table: Table) -> tuple[Task, str]:
    """The most specific task whose columns are all there, and a sentence that says so.

    Raises:
        InputError: When the columns fit no task; it says what each lacks.
    """
    fits = [
        task
        for task, spec in TASKS.items()
        if not missing_columns(table.columns, task, labelled=True)
        and (not spec.inferred_by or set(spec.inferred_by) & set(table.columns))
    ]
    if not fits:
        lacks = "; ".join(
            f"{task} lacks {listed(missing_columns(table.columns, task, labelled=True))}" for task in advised()
        )
        raise InputError(
            [
                (
                    f"{table.path}:1: the columns {listed(table.columns)} fit no task; {lacks}. "
                    f"{nested(table) or _proposed(table)}"
                )
            ]
        )
    task = fits[0]
    used = [name for name in (*TASKS[task].inputs, *TASKS[task].labels) if name in table.columns]
    if TASKS[task].by_aspect:
        used += aspect_columns(table.columns, TASKS[task].prefix)
    note = f"Task {task}, inferred from the columns {listed(used)}."
    if len(fits) > 1:
        note += f" They fit {listed(fits[1:])} too; --task chooses another."
    return task, note


def _proposed(table: Table) -> str:
    init = f"judgec init {shlex.quote(table.path)} proposes what each column is."
    return f"{_advice(table.columns, _closest(table.columns))} {init}"


def nested(table: Table) -> str:
    """Advice on a table of rows that hold objects, as exports of other tools do; empty where none do."""
    own = set(table.columns)
    tool = next((tool for tool, fields in EXPORTED.items() if fields & own), "other")
    held = [name for name in table.columns if any(isinstance(cell, dict) for cell in table.column(name).values)]
    if not held and tool == "other":
        return ""
    what = f"Columns {listed(held)} hold objects" if held else f"The columns are those of an export of {tool}"
    theirs = " --map THEIRS=query --map THEIRS=answer --map THEIRS=grade" if tool == "other" else ""
    made = f"judgec labels import OUT.jsonl {tool}:{shlex.quote(table.path)}{theirs}"
    return f"{what}: make a table of them with {made}."


def task_of_labels(task: Task | None, columns: Sequence[str]) -> Task | None:
    """The task that was named, or the one that takes its place where the labels are failure modes."""
    if task is None or not TASKS[task].modes_task:
        return task
    modes = MODES_LIST in columns or bool(aspect_columns(columns, MODE_PREFIX))
    return TASKS[task].modes_task if modes and not label_columns(columns, task) else task


def require_columns(table: Table, task: Task, *, labelled: bool) -> None:
    """Check that the table has what the task reads.

    Raises:
        InputError: Naming what is missing, what there is and how to rename it.
    """
    missing = missing_columns(table.columns, task, labelled=labelled)
    if missing:
        raise InputError(
            [
                (
                    f"{table.path}:1: task {task} needs {listed(missing)}, which the file lacks; its columns "
                    f"are {listed(table.columns)}. {_advice(table.columns, missing)}"
                )
            ]
        )


def missing_columns(columns: Sequence[str], task: Task, *, labelled: bool) -> tuple[str, ...]:
    """The columns that ``task`` needs and the table lacks; alternatives are joined by "or"."""
    spec = TASKS[task]
    missing = [name for name in spec.required if name not in columns]
    if spec.one_of and not set(spec.one_of) & set(columns):
        missing.append(" or ".join(spec.one_of))
    if labelled:
        has_label = aspect_columns(columns, spec.prefix) if spec.by_aspect else set(spec.labels) & set(columns)
        if not has_label:
            missing.append(" or ".join(spec.labels))
    return tuple(missing)


def without_texts(table: Table) -> bool:
    """True for a table of labels by the ids of what was labelled, which holds no text."""
    inputs = {name for spec in TASKS.values() for name in spec.inputs}
    worded = (table.column(name).given() for name in table.columns if name not in ABOUT)
    return (
        bool({"item_id", "query_id"} & {*table.columns})
        and not inputs & {*table.columns}
        and not any(
            sum(len(str(cell).split()) for cell in cells) >= FEWEST_WORDS * max(len(cells), 1) for cells in worded
        )
    )


def listed(names: Iterable[object]) -> str:
    """Names separated by commas."""
    return ", ".join(map(str, names))


def shortly(names: Sequence[str]) -> str:
    """The first few of many names."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{listed(names[:SHOWN])}{more}"


def _closest(columns: Sequence[str]) -> tuple[str, ...]:
    """Columns that the task with the fewest missing columns lacks, one whose columns can be guessed before others."""
    lacking = [missing_columns(columns, task, labelled=True) for task in advised()]
    return min(lacking, key=lambda missing: (len(missing), _guess(columns, missing) is None))


def _guess(columns: Sequence[str], missing: Sequence[str]) -> str | None:
    """A likely ``THEIRS=OURS`` for one of the missing columns."""
    theirs = {folded(name): name for name in reversed(columns)}
    known = (
        f"{theirs[key]}={ours}"
        for ours in _alternatives(missing)
        for key in map(folded, (ours, *SYNONYMS.get(ours, ())))
        if key in theirs
    )
    return next(known, None)


def _advice(columns: Sequence[str], missing: Sequence[str]) -> str:
    """Advice on renaming, with the user's own column names where they can be guessed."""
    guess = _guess(columns, missing)
    if guess is not None:
        return f"Rename with --map, for example --map {shlex.quote(guess)}."
    wanted = _alternatives(missing)
    advice = f"Rename with --map, for example --map THEIR_COLUMN={wanted[0].replace('<aspect>', 'relevance')}"
    return advice + (", or name one column an annotator with --annotators A,B." if "grade" in wanted else ".")


def _alternatives(missing: Sequence[str]) -> list[str]:
    return [alternative for name in missing for alternative in name.split(" or ")]
