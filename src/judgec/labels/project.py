"""``judgec.toml``: how a label file is read, and which judge is made of it, written down once.

A file that came with somebody else's folder decides nothing about where requests, keys and runs go.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from judgec.errors import InputError
from judgec.labels.reading import TYPED, Reading, Text, validated
from judgec.labels.rows.conversations import columns_with
from judgec.labels.split.family import FAMILY_NAME
from judgec.records.scale import Scale
from judgec.table.arrow import HUB_PREFIX
from judgec.table.rows.columns import ROLE, missing_columns
from judgec.table.table import Table
from judgec.table.tables import as_read, inside, read_table
from judgec.table.toml import line_of, read_toml
from judgec.table.workbooks import is_workbook, split_sheet

NAME = "judgec.toml"
REDIRECTS = {  # keys that would say where requests, keys and runs go, or what code runs; with the way that is left
    **dict.fromkeys(("api_base", "base_url", "endpoint", "url", "host", "proxy", "ray_address"), "--api-base URL"),
    **dict.fromkeys(("headers", "extra_headers", "api_key", "key", "token"), "the provider's environment variable"),
    **dict.fromkeys(("tracking_uri", "home", "postgres", "index"), "the option of the command"),
    **dict.fromkeys(("python", "rerank", "agents", "system", "module", "env", "environment"), "the option itself"),
}
MODEL = re.compile(r"embedded|[A-Za-z0-9_.-]+(/[A-Za-z0-9_.:@+-]+)+")
HEAD_LINES = 200  # of a text file, to see its columns


def _label_file(value: str) -> str:
    bare = value.startswith(HUB_PREFIX) or not re.match(r"[A-Za-z0-9+.-]{2,}:", value)
    if not bare or "://" in value:
        raise ValueError
    return value


def _model(value: str) -> str:
    if not MODEL.fullmatch(value) or value.startswith("python"):
        raise ValueError
    return value


class Project(Reading):
    """The content of a ``judgec.toml``; everything is optional.

    Args:
        path: The file.
        labels: The label file, relative to the folder of ``path``, or ``hf:...``; with ``#SHEET`` of a workbook.
        name: Of the judge.
        lm: The model that a judge is compiled for.
        budget: Most LM calls.
        max_cost: Most dollars.
        proposed_by: The model that proposed what the columns are, which somebody confirmed.
    """

    path: Path = Path(NAME)
    labels: Annotated[
        Annotated[Text, AfterValidator(_label_file)] | None, Field(description="a file beside it, or hf:owner/name,")
    ] = None
    name: Annotated[
        str | None,
        Field(pattern=f"^(?:{FAMILY_NAME.pattern})$", description="a name of letters, digits, '.', '_' and '-'"),
    ] = None
    lm: Annotated[
        Annotated[str, AfterValidator(_model)] | None,
        Field(description="'embedded' or 'provider/name', and no address, code or file (for these --lm, --api-base),"),
    ] = None
    budget: Annotated[int | None, Field(strict=True, ge=1, description="a whole number from 1")] = None
    proposed_by: Annotated[Text | None, Field(description="the name of a model")] = None
    max_cost: Annotated[float | None, Field(strict=True, ge=0, description="a number from 0")] = None

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
        ours = columns_with(self.columns.get(name, name) for name in columns)  # those of its conversations, too
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


FIRST = ("labels", "task", "name", "lm", "budget", "max_cost")
KEYS = tuple(dict.fromkeys((*FIRST, *(name for name in Project.model_fields if name not in {"path", *TYPED}))))
TABLES = {  # by key, what its lines say
    "judges": "name = the range of its numbers, worst..best; empty where they are on the scale",
    "columns": "yours = judgec's",
    "reasons": "column = whose reasons it holds",
    "winner_words": "of the file = a, b, tie or unscored",
    "roles": "of the turns = user, assistant, system or tool",
}


def read_project(path: Path) -> Project:
    """Read a ``judgec.toml``.

    Raises:
        InputError: All faults of it, each with its line: broken TOML, keys that there are not, values of another kind,
            and what it may not say.
    """
    text, content = read_toml(path)
    where = partial(line_of, path, text)
    faults = [_unknown(where, key) for key in content if key not in KEYS]
    found = Project(path=path)
    try:
        found = validated(Project, path, text, {"path": path} | {k: v for k, v in content.items() if k in KEYS})
        if found.labels is not None and not found.labels.startswith(HUB_PREFIX):
            inside(path.parent, split_sheet(found.labels)[0], where=where("labels"))
    except InputError as error:
        faults += error.faults
    roles = {f"{ROLE}{theirs}": ours for theirs, ours in found.roles.items()}
    found = found.model_copy(update={"columns": {**found.columns, **roles}, "roles": {}})
    if found.aspects and found.scale is None:
        faults.append(f"{where('aspects')}: [aspects.NAME] without [scale]; its grades are needed. Add them.")
    elif found.scale is not None:
        try:
            found = found.model_copy(update={"scale": found.told(found.scale, str(path)), "aspects": {}})
        except InputError as error:
            faults += error.faults
    faults += [
        f"{where('judges')}: {name} is also among the annotators; a judge is no annotator. Delete it from one list."
        for name in found.annotators
        if name in found.judges
    ]
    if faults:
        raise InputError(faults)
    return found


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


def write_project(project: Project, notes: Mapping[str, str]) -> str:
    """A ``judgec.toml`` as text.

    Args:
        project: What it says.
        notes: By key, the comment above it.
    """
    lines = [
        "# How judgec reads these labels; every command takes it from here. Written by judgec init: edit it freely."
    ]
    for key in KEYS:
        value = getattr(project, key)
        if value in (None, ()) or isinstance(value, Mapping | Scale):
            continue
        if note := notes.get(key):
            lines.append(f"# {' '.join(note.split())}")
        lines.append(f"{key} = {_toml(value)}")
    roles = {theirs.removeprefix(ROLE): ours for theirs, ours in project.columns.items() if theirs.startswith(ROLE)}
    columns = {theirs: ours for theirs, ours in project.columns.items() if not theirs.startswith(ROLE)}
    project = project.model_copy(update={"roles": roles, "columns": columns})
    for key, said in TABLES.items():
        table = getattr(project, key)
        own = table if isinstance(table, Mapping) else {}
        flat = {name: one for name, one in own.items() if not isinstance(one, Mapping)}
        lines += ["", f"[{key}]  # {notes.get(key, said)}"] if flat else []
        lines += [f"{_toml(name)} = {_toml(one)}" for name, one in flat.items()]
        for name, words in own.items():
            if isinstance(words, Mapping):
                lines += [
                    "",
                    f"[{key}.{_toml(name)}]",
                    *(f"{_toml(word)} = {_toml(one)}" for word, one in words.items()),
                ]
    if project.scale is not None:
        scale = project.scale
        lines += ["", "[scale]", f"name = {_toml(scale.name)}"]
        lines += [f"level = {_toml(scale.level)}"] if scale.level != "ordinal" else []
        lines.append(f"grades = {_toml(scale.grades)}{'' if scale.level == 'nominal' else '  # worst first'}")
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
