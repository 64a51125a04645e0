"""What must be there, of a kind that may lack it."""

from typing import Protocol, TypeVar

Value = TypeVar("Value")


class Bounded(Protocol):
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def known(value: Value | None) -> Value:
    assert value is not None
    return value


def bounds(found: Bounded) -> tuple[float, float]:
    """Both ends of an interval."""
    return known(found.low), known(found.high)
