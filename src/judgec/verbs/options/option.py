"""Declares options, and reads those of a verb from its dataclass."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from inspect import get_annotations
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

R = TypeVar("R")
Panel = Literal["What", "How", "Model", "Cost", "Output"]  # the headings of a command's help, in this order
LAZY: dict[str, object] = dict.fromkeys(("Judge", "Labels", "Source"), object)  # types that cost an import of pandas


@dataclass(frozen=True, slots=True)
class Option:
    """The part of an option that the type of its field does not say.

    Args:
        help: What it does, for the screen and for ``help()``.
        flag: On the command line, where it is not ``--`` and the field's name.
        metavar: What stands for its value on the command line.
        least: The smallest valid number.
        most: The largest valid number.
        positional: It is given without its name.
        leading: It has a flag on the command line, and may be given without its name in Python.
        commas: Several values are typed as one, with commas; else the flag is repeated.
        off: ``--no-FLAG`` exists.
        python: What may be passed in Python, where that is more than the type of the field.
        needed: The command line does not go without it, though Python does.
        python_only: The command line does not have it.
        panel: The heading of a command's help under which it stands.
        project: The key of ``judgec.toml`` that a command takes it from where nobody types it; ``file`` for the file
            that these keys are about, ``grades`` for one of several, whose reading alone they are about; ``answers``
            for tables whose columns alone it says.
    """

    help: str
    flag: str = ""
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    positional: bool = False
    leading: bool = False
    commas: bool = False
    off: bool = False
    python: str = ""
    needed: bool = False
    python_only: bool = False
    panel: Panel = "How"
    project: str = ""


@dataclass(frozen=True, slots=True)
class Declared:
    """An option of a verb.

    Args:
        name: Of the field, and of the Python parameter.
        hint: Its type, without None.
        optional: None is valid.
        default: ``MISSING`` where it has to be given.
        option: What else was declared.
    """

    name: str
    hint: Any  # a type, a union or a literal: Python has no type for these together
    optional: bool
    default: object
    option: Option

    @property
    def flag(self) -> str:
        """On the command line."""
        return self.option.flag or "--" + self.name.replace("_", "-")

    @property
    def required(self) -> bool:
        """There is no default."""
        return self.default is MISSING

    @property
    def pairs(self) -> bool:
        """Its value is a mapping, typed as THEIRS=OURS."""
        return get_origin(self.hint) is Mapping

    @property
    def several(self) -> bool:
        """Its value is a tuple."""
        return get_origin(self.hint) is tuple

    @property
    def words(self) -> tuple[object, ...]:
        """The valid values, where only some are; else nothing."""
        return get_args(self.hint) if get_origin(self.hint) is Literal else ()

    @property
    def path(self) -> bool:
        """Its value is a path."""
        return self.hint is Path


def declared(kind: type) -> Iterator[Declared]:
    """The options of a dataclass: its positional ones, its own, then the inherited ones, in the order of the file."""
    hints = get_type_hints(kind, localns=LAZY, include_extras=True)
    order = dict.fromkeys(name for each in kind.__mro__ for name in get_annotations(each))
    by_name = {field.name: field for field in fields(kind)}
    found = []
    for name in order:
        hint, option = get_args(hints[name])
        assert isinstance(option, Option)  # the dataclass declares no other fields
        default = by_name[name].default
        if (made := by_name[name].default_factory) is not MISSING:
            default = made()
        plain, optional = _without_none(hint)
        found.append(Declared(name, plain, optional, default, option))
    yield from sorted(found, key=lambda one: not one.option.positional)


def carried_over(kind: type[R], options: object, **changed: object) -> R:
    """The options of another verb: as here where both have them, else its defaults.

    Args:
        kind: The other verb's record.
        options: The record at hand.
        changed: Those that are to be otherwise.
    """
    build: Callable[..., R] = kind
    same = {one.name: getattr(options, one.name) for one in fields(kind) if hasattr(options, one.name)}  # type: ignore[arg-type]  # a dataclass
    return build(**{**same, **changed})


def _without_none(hint: object) -> tuple[object, bool]:
    if get_origin(hint) not in (Union, UnionType):
        return hint, False
    kinds = get_args(hint)
    rest = tuple(kind for kind in kinds if kind is not NoneType)
    if object in rest:  # one of ``LAZY`` or a name: ``Judge | str``
        return object, NoneType in kinds
    return Union[rest], NoneType in kinds  # noqa: UP007  # of a tuple there is no other spelling
