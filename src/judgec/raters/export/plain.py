"""Records without pydantic: what judgec's own records need of it, for a judge that runs where only numpy is."""

from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

F = TypeVar("F")
MISSING: Any = object()  # of a field without default


def ConfigDict(**_: object) -> dict[str, object]:  # noqa: N802  # pydantic's name
    """Ignores what pydantic would check; the exported data was checked when it was written."""
    return {}


class Default:
    """The default of a field, which may be made anew for each record."""

    def __init__(self, make: Callable[[], object] | None, value: object) -> None:
        self.make, self.value = make, value


def Field(  # noqa: N802  # pydantic's name
    *, default: object = MISSING, default_factory: Callable[[], object] | None = None, **_: object
) -> Any:
    """The default of a field; its bounds were checked when the data was written."""
    return Default(default_factory, default)


def model_validator(*, mode: str) -> Callable[[F], F]:
    """Leave a check as a plain method."""
    assert mode == "after"

    def keep(check: F) -> F:
        return check

    return keep


def PlainValidator(_: object) -> None:  # noqa: N802  # pydantic's name
    """Nothing: ``_as`` reads what has a ``from_json``."""


PlainSerializer = PlainValidator  # nothing is written here


class BaseModel:
    """A record: its annotated fields by keyword, its checks not run again."""

    model_config: Mapping[str, object] = {}

    def __init__(self, **given: Any) -> None:  # fields of any type, as the class annotates them
        for name in _hints(type(self)):
            value = given.get(name, getattr(type(self), name, MISSING))
            if isinstance(value, Default):
                value = value.value if value.make is None else value.make()
            if value is MISSING:
                raise ValueError(f"{type(self).__name__}: no {name}; the exported judge is damaged. Export it again.")
            self.__dict__[name] = value

    @classmethod
    def model_validate(cls, state: Mapping[str, Any]) -> Self:
        """The record from JSON."""
        hints = _hints(cls)
        return cls(**{name: _as(hints[name], value) for name, value in state.items() if name in hints})


def _hints(kind: type) -> dict[str, Any]:
    if "_read_hints" not in kind.__dict__:
        found = {name: hint for name, hint in get_type_hints(kind).items() if name != "model_config"}
        type.__setattr__(kind, "_read_hints", found)  # kept on the class: reading hints is slow
    hints: dict[str, Any] = kind.__dict__["_read_hints"]
    return hints


def _as(hint: Any, value: Any) -> Any:  # JSON by its type, at run time
    """A JSON value as a field has it: lists are tuples, objects are records."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        records = [one for one in inner if one is not NoneType]
        if isinstance(value, Mapping) and len(records) > 1:  # told apart by their kind
            return _as(next(one for one in records if getattr(one, "kind", None) == value.get("kind")), value)
        return value if value is None or len(records) != 1 else _as(records[0], value)
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else list(inner)
        return tuple(_as(one, each) for one, each in zip(kinds, value, strict=True))
    if origin in (dict, Mapping):
        return {name: _as(inner[1], each) for name, each in value.items()}
    if origin is Literal or not isinstance(hint, type):
        return value
    if issubclass(hint, BaseModel):
        return hint.model_validate(value)
    if hasattr(hint, "from_json"):
        return hint.from_json(value)
    return float(value) if hint is float else value
