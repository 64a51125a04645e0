"""The datasheet beside a label file: task, scale and origin, as TOML."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from judgec.errors import InputError, UserError
from judgec.records.label import Task
from judgec.records.scale import Aspect, Scale
from judgec.records.tasks.registry import TASKS
from judgec.records.tasks.winners import winner_words
from judgec.table.arrow import HUB_PREFIX
from judgec.table.regular import regular
from judgec.table.workbooks import split_sheet

NAME = "datasheet.toml"
READ = "task, [scale], [aspects.NAME], [judge], [winner_words] and [source]"


@dataclass(frozen=True, slots=True)
class Datasheet:
    """Declaration of a label file; everything is optional.

    Args:
        path: The file it was read from, or empty.
        task: The task, or None.
        scale: The scale, or None.
        source: Where the labels come from, by key.
        notes: What was left unread.
        instructions: What the user would tell a judge of these labels, or empty.
        aspects: What is asked and what the grades mean, by aspect.
        winner_words: What words for the winner mean, as ``records.tasks.winners.winner_words`` makes it.
    """

    path: str = ""
    task: Task | None = None
    scale: Scale | None = None
    source: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    instructions: str = ""
    aspects: Mapping[str, Aspect] = field(default_factory=dict)
    winner_words: Mapping[str, str] = field(default_factory=dict)

    def told(self, scale: Scale) -> Scale:
        """The scale with what the sheet says of single aspects, where the scale itself says nothing of any.

        Raises:
            InputError: When the meanings are not one a grade.
        """
        if not self.aspects or scale.aspects:
            return scale
        try:
            return Scale.model_validate({**scale.model_dump(), "aspects": dict(self.aspects)})
        except ValidationError as error:
            raise InputError(
                [f"{self.path}: {str(fault['msg']).removeprefix('Value error, ')}" for fault in error.errors()]
            ) from error


def find_datasheet(path: str) -> Path | None:
    """``STEM.datasheet.toml`` beside the file, else ``datasheet.toml`` in its folder (or in it, for a
    folder).
    """
    if path.startswith(HUB_PREFIX):
        return None
    file = Path(split_sheet(path)[0])
    beside = file.parent / f"{file.name if file.is_dir() else file.stem}.{NAME}"
    inside = (file if file.is_dir() else file.parent) / NAME
    return next((sheet for sheet in (beside, inside) if sheet.is_file()), None)


def read_datasheet(path: str, declared: Mapping[str, object] | None = None) -> Datasheet:
    """The datasheet of the label file ``path``; an empty one where there is none.

    Args:
        path: The label file.
        declared: A scale that goes before the datasheet's own, as ``as_scale`` takes it.

    Raises:
        InputError: Broken TOML, an unknown task, or a scale that is not one.
        UserError: ``declared`` is no scale.
    """
    sheet = find_datasheet(path)
    if sheet is None:
        return Datasheet(scale=None if declared is None else as_scale(declared))
    found = _interpreted(sheet, *read_toml(sheet))
    return found if declared is None else replace(found, scale=as_scale(declared))


def as_scale(declared: Mapping[str, object]) -> Scale:
    """A scale that Python or ``judgec.toml`` declares: ``{"grades": ["bad", "good"], "accept_at": "good"}``.

    Raises:
        UserError: When it is none.
    """
    faults: list[str] = []
    scale = scale_of("scale: {}".format, dict(declared), faults)
    if scale is None or faults:
        raise UserError("\n".join(faults))
    return scale


def scale_option(scale: Scale | None) -> dict[str, object] | None:
    """The other way: what ``[scale]`` of a datasheet, or the option ``scale``, says of it."""
    return None if scale is None else scale.model_dump(mode="json", exclude_defaults=True)


def read_toml(path: Path) -> tuple[str, dict[str, object]]:
    """A TOML file as text and as what it says.

    Raises:
        InputError: When it is none, with the line.
    """
    try:
        text = regular(path).read_bytes().decode("utf-8-sig")
        return text, tomllib.loads(text)
    except OSError as error:
        raise InputError([f"{path}: {error.strerror}; a TOML file is needed. Check the path."]) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError([f"{path}:{line}: not UTF-8; the whole file must be. Save it as UTF-8."]) from error
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        line = int(at[1]) if at else text.count("\n") + 1
        raise InputError(
            [f"{path}:{line}: not TOML ({error}); a value is quoted text, a number or [...]. Fix it."]
        ) from error


def _interpreted(sheet: Path, text: str, content: Mapping[str, object]) -> Datasheet:
    faults: list[str] = []
    where = partial(line_of, sheet, text)
    named = content.get("task")
    task = named if isinstance(named, str) and named in TASKS else None
    if "task" in content and task is None:
        faults.append(
            f"{where('task')}: task {content['task']!r} is not known; valid are {', '.join(TASKS)}. Correct it."
        )
    scale = scale_of(where, content["scale"], faults) if "scale" in content else None
    aspects = aspects_of(where, content.get("aspects", {}), faults)
    source = content.get("source", {})
    texts = {str(key): str(value) for key, value in source.items()} if isinstance(source, dict) else {}
    if not isinstance(source, dict):
        faults.append(f"{where('source')}: source is {source!r}; a table [source] of texts is needed. Correct it.")
    judge = content.get("judge", {})
    instructions = judge.get("instructions", "") if isinstance(judge, dict) else None
    if not isinstance(judge, dict) or set(judge) - {"instructions"} or not isinstance(instructions, str):
        faults.append(f"{where('judge')}: judge is {judge!r}; a table [judge] with instructions is needed. Correct it.")
    words: dict[str, str] = {}
    said = content.get("winner_words", {})
    try:
        words = winner_words(said if isinstance(said, dict) else {str(said): ""}, "winner_words")
    except UserError as error:
        faults.append(f"{where('winner_words')}: {error}")
    if faults:
        raise InputError(faults)
    unread = sorted(set(content) - {"task", "scale", "source", "judge", "aspects", "winner_words"})
    return Datasheet(
        path=str(sheet),
        task=task,
        scale=scale,
        source=texts,
        notes=(f"{sheet} also has {', '.join(unread)}; only {READ} are read.",) if unread else (),
        instructions=str(instructions).strip(),
        aspects=aspects,
        winner_words=words,
    )


def line_of(sheet: Path, text: str, key: str) -> str:
    """The place of a key or table header in the datasheet."""
    found = re.search(rf"^\s*\[?\s*{re.escape(key)}\b", text, re.MULTILINE)
    line = text.count("\n", 0, found.end()) + 1 if found else 1
    return f"{sheet}:{line}"


def scale_of(where: Callable[[str], str], table: object, faults: list[str]) -> Scale | None:
    """The scale of a table [scale]; what is wrong with it goes to ``faults``."""
    if not isinstance(table, dict):
        faults.append(f"{where('scale')}: scale is {table!r}; a table [scale] with 'grades' is needed. Correct it.")
        return None
    valid = ", ".join(Scale.model_fields)
    unknown = sorted(set(table) - set(Scale.model_fields))
    faults += [f"{where(key)}: [scale] has no {key!r}; valid are {valid}. Correct it." for key in unknown]
    try:
        return Scale.model_validate({key: value for key, value in table.items() if key not in unknown})
    except ValidationError as error:
        for fault in error.errors():
            key = str(fault["loc"][0]) if fault["loc"] else "scale"
            message = str(fault["msg"]).removeprefix("Value error, ").rstrip(".")
            faults.append(f"{where(key if key in table else 'scale')}: {key}: {message}. Correct it.")
        return None


def aspects_of(where: Callable[[str], str], table: object, faults: list[str]) -> dict[str, Aspect]:
    """The content of the tables [aspects.NAME]; what is wrong with them goes to ``faults``."""
    needed = "a table [aspects.NAME] with 'meanings' (a text for each grade, worst first) or 'asks' is needed"
    if not isinstance(table, dict):
        faults.append(f"{where('aspects')}: aspects is {table!r}; {needed}. Correct it.")
        return {}
    found = {}
    for name, said in table.items():
        try:
            found[str(name)] = Aspect.model_validate(said)
        except ValidationError as error:
            at = sorted({".".join(map(str, fault["loc"])) for fault in error.errors()} - {""})
            faults.append(f"{where('aspects')}: [aspects.{name}] {', '.join(at) or said!r}; {needed}. Correct it.")
    return found
