"""The one record of how a table of labels is read: ``judgec.toml`` and a datasheet hold it, and options override it.

No table says who of those that graded is a person, or which end of a scale is good. Somebody does, once, and this is
where it stands.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from judgec.errors import InputError, UserError
from judgec.records.conversation import ROLES
from judgec.records.label import Task
from judgec.records.scale import Aspect, Scale
from judgec.records.tasks.registry import TASKS
from judgec.records.tasks.winners import winner_words
from judgec.table.arrow import HUB_PREFIX
from judgec.table.toml import line_of, read_toml
from judgec.table.workbooks import split_sheet

NAME = "datasheet.toml"
EVERYBODY = ("*",)  # every name of the column annotator, or all but the judges
TYPED = frozenset({"accept_at", "best"})  # said of a scale by options; files say it in [scale]
SCALE, ASPECTS = "scale", "aspects"  # tables whose own keys are told apart in messages

Kind = TypeVar("Kind", bound=BaseModel)
Other = TypeVar("Other", bound="Reading")
Text = Annotated[str, Field(pattern=r"\S")]


def _task(value: object) -> object:
    if value is not None and value not in TASKS:
        raise ValueError
    return value


def _role(value: str) -> str:
    if value not in ROLES:
        raise ValueError
    return value


def _ranges(value: object) -> object:
    """Names alone are judges on the scale; a pair of numbers is a range."""
    if isinstance(value, Mapping):
        ends = {str(name): one for name, one in value.items()}
    elif isinstance(value, Sequence | set | frozenset) and not isinstance(value, str):
        ends = dict.fromkeys(map(str, value), "")
    else:
        return value
    said = {name: "..".join(f"{end:g}" for end in one) if isinstance(one, tuple) else one for name, one in ends.items()}
    return {name: one or "" for name, one in said.items()}


def _sides(value: object) -> object:
    """Words as they are compared, of all graders or of each by name."""
    if not isinstance(value, Mapping):
        return value
    flat = {word: side for word, side in value.items() if not isinstance(side, Mapping)}
    each = {name: winner_words(words, "") for name, words in value.items() if isinstance(words, Mapping)}
    try:
        return {**winner_words(flat, ""), **each}
    except UserError as error:
        raise ValueError from error


def _texts(value: object) -> object:
    return {str(key): str(one) for key, one in value.items()} if isinstance(value, Mapping) else value


class Reading(BaseModel):
    """How a table of labels is read; everything is optional.

    Args:
        task: What is labelled.
        columns: judgec's names by those of the table.
        annotators: The people: columns of one each, or names in the column ``annotator``; ``*`` for every name.
        judges: Columns or names that hold a judge's verdicts, each with the range of its numbers, worst first
            (``0..1``); empty where they are on the scale. They are never labels.
        reasons: Whose reasons a column holds, by column.
        scale: The grades, worst first, and from where on one is accepted.
        accept_at: The lowest accepted grade; it goes before the scale's.
        best: The grade that is best where nobody declared a scale: one end of the whole numbers that were given.
        winner_words: What words for the winner of a pair mean, by word, or by grader and word.
        missing: Words that say nothing, in any cell.
        roles: Who wrote the turns of a conversation, by the name of a role.
        turn: Which part of a conversation is judged.
        orders: What A means in a judge's picks of pairs: the answer shown first, or ``answer_a``.
        checked: Graders whom somebody looked at after a check asked.
        round: ``nearest``: grades that are means of annotators become the nearest grade.
        repeats: What becomes of an item that one person graded again.
        aspects: What is asked and what the grades mean, by aspect.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: Annotated[Task | None, BeforeValidator(_task), Field(description=", ".join(TASKS))] = None
    columns: Annotated[
        Mapping[Text, Text], Field(description='a table [columns] of lines "Your column" = "query"')
    ] = {}
    annotators: Annotated[tuple[Text, ...], Field(description='a list of texts such as ["ann", "bob"]')] = ()
    judges: Annotated[
        Mapping[Text, Annotated[str, Field(pattern=r"^$|^\s*[-+]?[\d.]+\s*\.\.\s*[-+]?[\d.]+\s*$")]],
        BeforeValidator(_ranges),
        Field(description='a table [judges] of lines "judge" = "0..1", worst first, or "" on the scale'),
    ] = {}
    reasons: Annotated[Mapping[Text, Text], Field(description='a table [reasons] of lines "Why" = "ann"')] = {}
    scale: Scale | None = None
    accept_at: str | None = None
    best: str | None = None
    winner_words: Annotated[
        Mapping[str, str | Mapping[str, str]],
        BeforeValidator(_sides),
        Field(description='a table [winner_words] (or [winner_words.NAME]) of lines "1" = "a": a, b, tie or unscored'),
    ] = {}
    missing: Annotated[tuple[Text, ...], Field(description='a list of texts such as ["k.A."]')] = ()
    roles: Annotated[
        Mapping[Text, Annotated[str, AfterValidator(_role)]],
        Field(description=f'a table [roles] of lines "theirs" = one of {", ".join(ROLES)}'),
    ] = {}
    turn: Annotated[Literal["last", "each", "whole"] | None, Field(description="last, each or whole")] = None
    orders: Annotated[Literal["as-shown", "mapped"] | None, Field(description="as-shown or mapped")] = None
    checked: Annotated[tuple[Text, ...], Field(description='a list of texts such as ["ann"]')] = ()
    round: Annotated[Literal["nearest"] | None, Field(description="nearest")] = None
    repeats: Annotated[Literal["median", "error"] | None, Field(description="median or error")] = None
    aspects: Mapping[str, Aspect] = {}

    def over(self, other: Other) -> Other:
        """The other reading, where this one says nothing: tables line by line; a person here is no judge there."""
        said: dict[str, object] = {}
        for name in Reading.model_fields:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, Mapping):
                said[name] = {**theirs, **mine}
            elif mine not in (None, ()):
                said[name] = mine
        if self.annotators:
            said["judges"] = {**{n: r for n, r in other.judges.items() if n not in self.annotators}, **self.judges}
        return other.model_copy(update=said)

    def told(self, scale: Scale, where: str = "") -> Scale:
        """The scale with what is said of single aspects, where the scale itself says nothing of any.

        Raises:
            InputError: When the meanings are not one a grade.
        """
        if not self.aspects or scale.aspects:
            return scale
        try:
            return Scale.model_validate({**scale.model_dump(), "aspects": dict(self.aspects)})
        except ValidationError as error:
            raise InputError(
                [f"{where}: {str(fault['msg']).removeprefix('Value error, ')}" for fault in error.errors()]
            ) from error

    @property
    def named(self) -> tuple[str, ...]:
        """The people that are called by name."""
        return () if self.annotators == EVERYBODY else self.annotators

    @property
    def accepted_from(self) -> str | None:
        """The lowest accepted grade, as an option names it."""
        at = self.accept_at if self.accept_at is not None or self.scale is None else self.scale.accept_at
        return None if at is None else str(at)

    @property
    def columns_of_reasons(self) -> dict[str, str]:
        """Judgec's names of the columns of single graders' reasons."""
        return {column: f"{name}.rationale" for column, name in self.reasons.items()}

    @property
    def words(self) -> dict[str, str]:
        """What words for the winner mean for all graders."""
        return {word: side for word, side in self.winner_words.items() if isinstance(side, str)}


NOTHING_SAID = Reading()


class JudgeTable(BaseModel):
    """The table [judge]: what a user would tell a judge of these labels."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    instructions: str = ""


class Datasheet(Reading):
    """The declaration of a label file that travels with it.

    Args:
        path: The file it was read from, or empty.
        source: Where the labels come from, by key.
        judge: The table of the same name.
        notes: What was left unread.
    """

    path: str = ""
    source: Annotated[Mapping[str, str], BeforeValidator(_texts), Field(description="a table [source] of texts")] = {}
    judge: Annotated[JudgeTable, Field(description="a table [judge] with instructions")] = JudgeTable()
    notes: tuple[str, ...] = ()

    @property
    def instructions(self) -> str:
        """What the user would tell a judge, or empty."""
        return self.judge.instructions.strip()


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
        found = Datasheet()
    else:
        text, content = read_toml(sheet)
        known = {key: value for key, value in content.items() if key in Datasheet.model_fields.keys() - _OWN}
        unread = sorted(content.keys() - known.keys())
        notes = (f"{sheet} also has {', '.join(unread)}; no key of a datasheet.",) if unread else ()
        found = validated(Datasheet, sheet, text, known).model_copy(update={"path": str(sheet), "notes": notes})
    return found if declared is None else found.model_copy(update={"scale": as_scale(declared)})


_OWN = TYPED | {"path", "notes"}  # fields that no datasheet says


def as_reading(**values: object) -> Reading:
    """The reading that options, or arguments in Python, say; those that are None say nothing.

    Raises:
        UserError: A value that is none.
    """
    try:
        return validated(Reading, None, "", {key: value for key, value in values.items() if value is not None})
    except InputError as error:
        raise UserError("\n".join(error.faults)) from error


def as_scale(declared: Mapping[str, object]) -> Scale:
    """A scale that Python or ``judgec.toml`` declares: ``{"grades": ["bad", "good"], "accept_at": "good"}``.

    Raises:
        UserError: When it is none.
    """
    return as_reading(scale=dict(declared)).scale  # type: ignore[return-value]  # it is there


def scale_option(scale: Scale | None) -> dict[str, object] | None:
    """The other way: what ``[scale]`` of a datasheet, or the option ``scale``, says of it."""
    return None if scale is None else scale.model_dump(mode="json", exclude_defaults=True)


def validated(kind: type[Kind], path: Path | None, text: str, content: Mapping[str, object]) -> Kind:
    """The content of a TOML file as a record.

    Args:
        kind: The record.
        path: The file, for messages; None where it is no file.
        text: Its text.
        content: What it says.

    Raises:
        InputError: All faults of it, each with its line.
    """
    where = "--{}".format if path is None else partial(line_of, path, text)
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        faults = []
        for fault in error.errors():
            key, *inside = (str(part) for part in fault["loc"])
            value = content.get(key)
            if key == SCALE:
                faults.append(_fault_of_scale(where, value, inside, fault["type"], str(fault["msg"])))
            elif key == ASPECTS:
                faults.append(_fault_of_aspect(where, value, inside))
            else:
                valid = kind.model_fields[key].description
                faults.append(f"{where(key)}: {key} is {value!r}; {valid} is valid. Correct it.")
        raise InputError(list(dict.fromkeys(faults))) from error


def _fault_of_scale(where: Callable[[str], str], value: object, inside: Sequence[str], kind: str, message: str) -> str:
    if not isinstance(value, Mapping):
        return f"{where(SCALE)}: scale is {value!r}; a table [scale] with 'grades' is needed. Correct it."
    key = inside[0] if inside else SCALE
    if kind == "extra_forbidden":
        return f"{where(key)}: [scale] has no {key!r}; valid are {', '.join(Scale.model_fields)}. Correct it."
    said = message.removeprefix("Value error, ").rstrip(".")
    return f"{where(key if key in value else SCALE)}: {key}: {said}. Correct it."


def _fault_of_aspect(where: Callable[[str], str], value: object, inside: Sequence[str]) -> str:
    needed = "a table [aspects.NAME] with 'meanings' (a text for each grade, worst first) or 'asks' is needed"
    if not isinstance(value, Mapping):
        return f"{where(ASPECTS)}: aspects is {value!r}; {needed}. Correct it."
    name, *keys = inside
    return f"{where(ASPECTS)}: [aspects.{name}] {', '.join(keys[:1]) or value[name]!r}; {needed}. Correct it."
