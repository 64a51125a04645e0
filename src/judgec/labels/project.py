"""``judgec.toml``: how a label file is read, and what is compiled from it, so that no command has to be told again.

It travels with files that others wrote. So it says nothing about where a request goes: no endpoint, no header, no code.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from judgec.errors import InputError, UserError
from judgec.labels.rows.means import Rounding
from judgec.labels.rows.raters import is_measured
from judgec.labels.rows.repeats import Repeats
from judgec.labels.split.family import FAMILY_NAME
from judgec.records.scale import Scale
from judgec.records.tasks.registry import TASKS
from judgec.records.tasks.winners import winner_words
from judgec.table.arrow import HUB_PREFIX
from judgec.table.datasheet import Datasheet, aspects_of, line_of, read_toml, scale_of
from judgec.table.rows.columns import missing_columns
from judgec.table.table import Table, Wide
from judgec.table.tables import as_read, inside, read_table
from judgec.table.wide import as_wide
from judgec.table.workbooks import is_workbook, split_sheet

NAME = "judgec.toml"
KEYS = (
    *("labels", "task", "name", "lm", "budget", "max_cost", "annotators", "judges"),
    *("missing", "round", "repeats", "wide", "columns", "winner_words", "scale", "aspects"),
)
REDIRECTS = {  # keys that would say where requests, keys and runs go, or what code runs; with the way that is left
    **dict.fromkeys(("api_base", "base_url", "endpoint", "url", "host", "proxy", "ray_address"), "--api-base URL"),
    **dict.fromkeys(("headers", "extra_headers", "api_key", "key", "token"), "the provider's environment variable"),
    **dict.fromkeys(("tracking_uri", "home", "postgres", "index"), "the option of the command"),
    **dict.fromkeys(("python", "rerank", "agents", "system", "module", "env", "environment"), "the option itself"),
}
MODEL = re.compile(r"embedded|[A-Za-z0-9_.-]+(/[A-Za-z0-9_.:@+-]+)+")
NEAREST = "nearest"
HEAD_LINES = 200  # of a text file, to see its columns


@dataclass(frozen=True, slots=True)
class Project:
    """The content of a ``judgec.toml``; everything is optional.

    Args:
        path: The file.
        labels: The label file, relative to the folder of ``path``, or ``hf:...``; with ``#SHEET`` of a workbook.
        task: What is labelled.
        name: Of the judge.
        lm: The model that a judge is compiled for.
        budget: Most LM calls.
        max_cost: Most dollars.
        annotators: Columns that hold one annotator's labels each.
        columns: judgec's names by those of the file.
        scale: The grades, worst first.
        round: ``nearest``: grades that are means of annotators become the nearest grade.
        repeats: ``median`` or ``error``: what becomes of an item that one person graded again.
        judges: Columns of a judge's grades or scores, and judges in the column of annotators: no annotators.
        missing: Words that say nothing, in any cell.
        wide: How several answers a row become rows; False: they never do.
        winner_words: What words for the winner mean.
    """

    path: Path
    labels: str | None = None
    task: str | None = None
    name: str | None = None
    lm: str | None = None
    budget: int | None = None
    max_cost: float | None = None
    annotators: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    scale: Scale | None = None
    round: Rounding = None
    repeats: Repeats = None
    judges: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    wide: Wide | bool | None = None
    winner_words: Mapping[str, str] = field(default_factory=dict)

    @property
    def accept_at(self) -> str | None:
        """The lowest grade that counts as accepted, as an option names it."""
        at = None if self.scale is None else self.scale.accept_at
        return None if at is None else str(at)

    @property
    def label_path(self) -> str | None:
        """The label file as it is opened from the current folder."""
        if self.labels is None or self.labels.startswith(HUB_PREFIX):
            return self.labels
        folder = self.path.parent
        return self.labels if folder == Path() else str(folder / self.labels)

    def names(self, path: str) -> bool:
        """True when ``path`` is the label file, whatever sheet of it."""
        if self.label_path is None or HUB_PREFIX in (path[:3], self.label_path[:3]):
            return path == self.label_path
        (mine, own), (given, sheet) = split_sheet(self.label_path), split_sheet(path)
        return Path(mine).resolve() == Path(given).resolve() and sheet in (None, own)

    def applies_to(self, path: str) -> bool:
        """True for the label file, and for another one that can be read that has the columns of the task."""
        if self.names(path) or self.task is None or path.startswith(HUB_PREFIX):
            return self.names(path)
        return not self.lacking(columns_in(path))

    def lacking(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Columns that a table with these columns lacks for the task, once they are renamed; empty where it fits."""
        ours = [self.columns.get(name, name) for name in columns]
        return missing_columns(ours, self.task, labelled=False) if self.task is not None else ()


def find_project(path: str | None = None) -> Project | None:
    """The ``judgec.toml`` beside a file, else that of the current folder; parents are not searched.

    Raises:
        InputError: As ``read_project``.
    """
    local = path is not None and ":" not in path[:8]
    folders = [Path(split_sheet(path)[0]).parent] if path is not None and local else []
    found = (folder / NAME for folder in (*folders, Path()))
    file = next((each for each in found if each.is_file()), None)
    return None if file is None else read_project(file)


def read_project(path: Path) -> Project:
    """Read a ``judgec.toml``.

    Raises:
        InputError: All faults of it, each with its line: broken TOML, keys that there are not, values of another kind,
            and what it may not say.
    """
    text, content = read_toml(path)
    where = partial(line_of, path, text)
    faults = [_unknown(where, key) for key in content if key not in KEYS]
    taken: dict[str, object] = {}
    for key, check in _CHECKS.items():
        if key in content:
            value = content[key]
            if (wrong := check(value)) is not None:
                faults.append(f"{where(key)}: {key} is {value!r}; {wrong}")
            else:
                taken[key] = tuple(value) if isinstance(value, list) else as_wide(value) if key == "wide" else value
    scale = scale_of(where, content["scale"], faults) if "scale" in content else None
    aspects = aspects_of(where, content.get("aspects", {}), faults)
    if aspects and scale is None:
        faults.append(f"{where('aspects')}: [aspects.NAME] without [scale]; its grades are needed. Add them.")
    elif aspects and scale is not None:
        try:
            scale = Datasheet(path=str(path), aspects=aspects).told(scale)
        except InputError as error:
            faults += error.faults
    labels = taken.get("labels")
    if isinstance(labels, str) and not labels.startswith(HUB_PREFIX):
        try:
            inside(path.parent, split_sheet(str(labels))[0], where=where("labels"))
        except InputError as error:
            faults += error.faults
    raters, judges = (taken.get(key) for key in ("annotators", "judges"))
    if isinstance(raters, tuple) and isinstance(judges, tuple):
        both = [name for name in raters if is_measured(name, judges)]
        faults += [
            f"{where('judges')}: {name} is also among the annotators; a judge is no annotator. Delete it from one list."
            for name in both
        ]
    if faults:
        raise InputError(faults)
    return Project(path, scale=scale, **taken)  # type: ignore[arg-type]  # checked above


def columns_in(path: str) -> tuple[str, ...]:
    """The columns of a file, from its beginning where it is text: it may be large.

    Raises:
        InputError: As ``read_table``.
    """
    file = Path(path)
    if file.suffix.lower() in {".jsonl", ".ndjson"} and file.is_file():
        with file.open(encoding="utf-8-sig", errors="replace") as lines:
            try:
                rows = [json.loads(line) for line in islice(lines, HEAD_LINES) if line.strip()]
            except json.JSONDecodeError:
                rows = []
        columns = tuple(dict.fromkeys(name for row in rows if isinstance(row, dict) for name in row))
        return as_read(Table(path, columns, tuple(rows), tuple(range(1, len(rows) + 1)))).columns if rows else ()
    if file.suffix.lower() in {".csv", ".tsv", ".tab"} and not is_workbook(path) and file.is_file():
        return read_table(path, head=HEAD_LINES).columns
    return read_table(path).columns


def _unknown(where: Callable[[str], str], key: str) -> str:
    if key in REDIRECTS or key.replace("-", "_") in REDIRECTS:
        way = REDIRECTS[key.replace("-", "_")]
        return (
            f"{where(key)}: {key} is never read from {NAME}: a file that came with somebody else's folder could send "
            f"your key or your data elsewhere. Delete the line, and use {way}."
        )
    return f"{where(key)}: {NAME} has no {key!r}; valid are {', '.join(KEYS)}. Correct it."


def _text(value: object) -> str | None:
    return None if isinstance(value, str) and value.strip() else "a text is valid. Correct it."


def _model(value: object) -> str | None:
    if isinstance(value, str) and MODEL.fullmatch(value) and not value.startswith("python"):
        return None
    return (
        f"'embedded' or 'provider/name' is valid. No address, code or file is taken from {NAME}, which could send your "
        "key elsewhere: give those with --lm and --api-base."
    )


def _labels(value: object) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return "the name of a file is valid. Correct it."
    bare = value.startswith(HUB_PREFIX) or not re.match(r"[A-Za-z0-9+.-]{2,}:", value)
    return None if bare and "://" not in value else "a file beside it, or hf:owner/name, is valid. Correct it."


def _named(value: object) -> str | None:
    if isinstance(value, str) and FAMILY_NAME.fullmatch(value):
        return None
    return "letters, digits, '.', '_' and '-' are valid. Correct it."


def _task(value: object) -> str | None:
    return None if isinstance(value, str) and value in TASKS else f"valid are {', '.join(TASKS)}. Correct it."


def _calls(value: object) -> str | None:
    return None if type(value) is int and value >= 1 else "a whole number from 1 is valid. Correct it."


def _dollars(value: object) -> str | None:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return None if fits else "a number from 0 is valid. Correct it."


def _list(value: object) -> str | None:
    fits = isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value)
    return None if fits else 'a list of texts such as ["ann", "bob"] is valid. Correct it.'


def _rounding(value: object) -> str | None:
    return None if value == NEAREST else f"{NEAREST} is valid. Correct it."


def _repeats(value: object) -> str | None:
    return None if value in {"median", "error"} else "median or error is valid. Correct it."


def _wide(value: object) -> str | None:
    try:
        as_wide(value)
    except ValueError:
        return 'false, or agents = ["r1", "r2"] and columns = ["Reply {agent}", "Mia {agent}"] is valid. Correct it.'
    return None


def _table(value: object) -> str | None:
    fits = isinstance(value, dict) and all(isinstance(one, str) and one.strip() for one in value.values())
    return None if fits else 'a table [columns] of lines "Your column" = "query" is valid. Correct it.'


def _words(value: object) -> str | None:
    try:
        winner_words(value if isinstance(value, dict) else {"": ""})
    except UserError:
        return 'a table [winner_words] of lines "1" = "a" is valid: a, b, tie or unscored. Correct it.'
    return None


_CHECKS: Mapping[str, Callable[[object], str | None]] = {
    "labels": _labels,
    "task": _task,
    "name": _named,
    "lm": _model,
    "budget": _calls,
    "max_cost": _dollars,
    "annotators": _list,
    "round": _rounding,
    "repeats": _repeats,
    "judges": _list,
    "missing": _list,
    "wide": _wide,
    "columns": _table,
    "winner_words": _words,
}


def write_project(project: Project, notes: Mapping[str, str]) -> str:
    """A ``judgec.toml`` as text.

    Args:
        project: What it says.
        notes: By key, the comment above it.
    """
    lines = [
        "# How judgec reads these labels; every command takes it from here. Written by judgec init: edit it freely."
    ]
    for key in (
        "labels",
        "task",
        "name",
        "lm",
        "budget",
        "max_cost",
        "annotators",
        "judges",
        "missing",
        "round",
        "repeats",
    ):
        value = getattr(project, key)
        if value is None or value == ():
            continue
        if note := notes.get(key):
            lines.append(f"# {' '.join(note.split())}")
        lines.append(f"{key} = {_toml(value)}")
    if project.wide is False:
        lines.append("wide = false")
    elif isinstance(project.wide, Wide):
        lines += ["", "[wide]  # a row holds several answers; each becomes a row with the column agent"]
        lines += [f"agents = {_toml(project.wide.agents)}"]
        lines += [f"columns = {_toml(project.wide.columns)}  # the answers first"]
    if project.columns:
        lines += ["", "[columns]  # yours = judgec's"]
        lines += [f"{_toml(theirs)} = {_toml(ours)}" for theirs, ours in project.columns.items()]
    if project.winner_words:
        lines += ["", "[winner_words]  # of the file = a, b, tie or unscored"]
        lines += [f"{_toml(word)} = {_toml(side)}" for word, side in project.winner_words.items()]
    if project.scale is not None:
        scale = project.scale
        lines += ["", "[scale]", f"name = {_toml(scale.name)}"]
        lines += [f"level = {_toml(scale.level)}"] if scale.level != "ordinal" else []
        lines.append(f"grades = {_toml(scale.grades)}  # worst first")
        if scale.meanings:
            lines += ["meanings = [", *[f"  {_toml(one)}," for one in scale.meanings], "]"]
        else:
            lines.append("# meanings = [...]  # one sentence a grade makes a better judge")
        if scale.accept_at is not None:
            lines.append(f"accept_at = {_toml(scale.accept_at)}  # the lowest grade that counts as accepted")
        lines += ["as_percent = true  # a reply of 80 % is 80 % of the highest grade"] if scale.as_percent else []
        for name, aspect in scale.aspects.items():
            lines += ["", f"[aspects.{_toml(name)}]"]
            lines += [f"asks = {_toml(aspect.asks)}"] if aspect.asks else []
            lines += [f"meanings = {_toml(aspect.meanings)}"] if aspect.meanings else []
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    """A value as TOML writes it: JSON's text, with DEL escaped."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
