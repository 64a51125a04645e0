"""Python functions in the place of models: called once an item, through the same journal, caps and window as a model.

A function is named ``function/NAME`` where a model is named; what is called under that name is said by whoever runs
it, never by a file. It is given the fields of an item and returns a value, which is read by ``raters.values``.
"""

import asyncio
import hashlib
import inspect
import json
import secrets
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dspy import lm15
from dspy.lm15 import Request

from judgec.errors import UserError
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.redaction import clean_error
from judgec.lm.spec import FUNCTION, LMSpec
from judgec.records.label import REASON_NAMES

VALUE = "value"  # why the reply of a function ended: it is a value in JSON, not a model's words
LONGEST = 200  # characters of an error that are kept
DIGITS = 16  # of a version
ITEM = "item"  # a parameter that is given all fields of an item
GRADES = ("probabilities", "grade", "score", "value", "verdict", "rating", "label")  # keys and attributes, best first


@dataclass(frozen=True)
class Function:
    """A Python function that grades items: another vendor's judge, a metric, a rule.

    It is called with the fields of an item that it has parameters for (``query``, ``answer``, ``reference``,
    ``contexts``, ...); a parameter ``item`` gets them all as a dict. It may be async. It returns a grade, a number
    within the scale (or ``range``), a dict of probabilities by grade, of several aspects a dict by aspect; or one of
    these with a reason: a pair, a dict of ``grade`` or ``score`` and ``reason``, or an object with such attributes, as
    MLflow's ``Feedback``. An exception, or None, leaves the item unscored.

    Args:
        name: What it is called among judges.
        call: The function.
        range: Its worst and its best number, where its numbers are not grades of the scale: ``(0, 1)``.
        version: Of what it computes; under another one every item is asked again. By default a digest of its source
            file. A function without source, or with values of its own (a closure, an object), is asked anew in each
            run unless it says its version.

    Raises:
        UserError: A name that cannot stand in a list of judges, or a range of one number.
    """

    name: str
    call: Callable[..., object]
    range: tuple[float, float] | None = None
    version: str | None = None

    def __post_init__(self) -> None:
        if not self.name or any(mark in self.name for mark in " ,=/\n"):
            raise UserError(f"Function {self.name!r}: a name without spaces, commas, = and / is valid. Rename it.")
        if not callable(self.call):
            raise UserError(f"Function {self.name}: {type(self.call).__name__} cannot be called; pass a function.")
        if self.range is not None and self.range[0] == self.range[1]:
            raise UserError(f"Function {self.name}: range {self.range}; two different numbers, the worst first.")

    @cached_property
    def digest(self) -> str | None:
        """Digest that tells it from another function of its name; None where it is not known."""
        return self.version or _digest_of(self.call)

    @property
    def spec(self) -> LMSpec:
        """It as a model."""
        facts = {"version": self.digest, "range": None if self.range is None else f"{self.range[0]}..{self.range[1]}"}
        return LMSpec(model=f"{FUNCTION}/{self.name}", extra={key: fact for key, fact in facts.items() if fact})


def _digest_of(call: Callable[..., object]) -> str | None:
    """A digest of the file that a function stands in, or of its own source in a notebook; None of what holds values."""
    if not inspect.isfunction(call) or call.__closure__:
        return None
    given = inspect.signature(call).parameters.values()
    defaults = {one.name: one.default for one in given if one.default is not one.empty}
    if not all(isinstance(one, str | int | float | None) for one in defaults.values()):
        return None
    try:
        file = Path(inspect.getsourcefile(call) or "")
        source = file.read_bytes() if file.is_file() else inspect.getsource(call).encode()
    except (OSError, TypeError):
        return None
    stands = list(call.__code__.co_positions())  # two lambdas of a file have one name
    known = f"{call.__module__}:{call.__qualname__} {defaults} {stands}\n"
    return hashlib.sha256(known.encode() + source).hexdigest()[:DIGITS]


class NoValueError(lm15.InvalidRequestError):  # type: ignore[misc]  # DSPy is untyped
    """A function failed on an item: others may go, and nothing of this one is journaled."""


class FunctionBackend:
    """Calls a function in place of an endpoint; a sync one in a thread.

    Args:
        function: The function.
        spec: As a model; its range holds, since it was measured with it.
        seconds: After which a call is given up.
        in_flight: Threads, so that no call waits for one.
    """

    def __init__(self, function: Function, spec: LMSpec, seconds: float, in_flight: int) -> None:
        self._function, self._seconds = function, seconds
        self._threads = ThreadPoolExecutor(in_flight, thread_name_prefix=function.name)
        said = spec.extra.get("range")
        version = function.digest or f"unknown {secrets.token_hex(DIGITS)}"  # never found again
        self.identity = f"{version} {said or ''}"
        self._range = None if said is None else [float(end) for end in str(said).split("..")]

    def complete(self, request: Request) -> Completion:
        """Refuse words: a function is given items.

        Raises:
            lm15.InvalidRequestError: Always.
        """
        raise lm15.InvalidRequestError(f"{request.model} is a function: it grades items and writes no text")

    async def acomplete(self, request: Request) -> Completion:
        """As ``complete``."""
        return self.complete(request)

    async def say(self, plain: Plain) -> Completion:
        """Its value of one item.

        Raises:
            NoValueError: It failed; the item is unscored.
        """
        if plain.item is None:
            self.complete(plain.request())
        name = self._function.name
        try:
            async with asyncio.timeout(self._seconds):
                value, reason = _parts(await self._called(plain.item or {}))
                said = {"value": _plain(value), "reason": str(reason or ""), "range": self._range}
                text = json.dumps(said, ensure_ascii=False, allow_nan=False)
        except Exception as error:
            why = f"no value after {self._seconds:g} s" if isinstance(error, TimeoutError) else clean_error(str(error))
            kind = type(error).__name__
            raise NoValueError(f"{name}: {kind}: {why[:LONGEST]}") from error
        return Completion(text=text, finish=VALUE, served_by=plain.model, input_tokens=0, output_tokens=0)

    async def aclose(self) -> None:
        """Nothing belongs to an event loop."""

    def close(self) -> None:
        """End the threads; whatever still runs is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _called(self, item: Mapping[str, object]) -> object:
        call = self._function.call
        placed, named = _arguments(self._function, item)
        if inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(getattr(call, "__call__", None)):  # noqa: B004 - an object with an async call
            return await call(*placed, **named)  # type: ignore[misc]  # it is a coroutine
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._threads, _returned, call, placed, named)
        return await found if inspect.isawaitable(found) else found


def _returned(call: Callable[..., object], placed: list[object], named: dict[str, object]) -> object:
    """The value that a call returns.

    Raises:
        RuntimeError: It ended with what no future can hold, or what would end the whole run.
    """
    try:
        return call(*placed, **named)
    except (StopIteration, SystemExit) as error:
        raise RuntimeError(f"{type(error).__name__} {error}".strip()) from error


def _arguments(function: Function, item: Mapping[str, object]) -> tuple[list[object], dict[str, object]]:
    """The fields of an item for a function's parameters, by place and by name.

    Raises:
        ValueError: It needs one that the item lacks.
    """
    fields = {name: list(value) if isinstance(value, tuple) else value for name, value in item.items()}
    try:
        parameters = inspect.signature(function.call).parameters
    except (TypeError, ValueError):  # nobody knows what some functions in C take
        return [fields], {}
    placed: list[object] = []
    named: dict[str, object] = {}
    for name, one in parameters.items():
        if one.kind is one.VAR_KEYWORD:
            named = {**fields, **named}
        elif name in fields or name == ITEM:
            value = fields.get(name, fields)
            if one.kind is one.POSITIONAL_ONLY:
                placed.append(value)
            else:
                named[name] = value
        elif one.kind is one.POSITIONAL_ONLY and one.default is not one.empty:
            placed.append(one.default)  # those behind it keep their places
        elif one.default is one.empty and one.kind is not one.VAR_POSITIONAL:
            raise ValueError(f"it needs {name}; the item has {', '.join(fields)}, and {ITEM} is all of them")
    return placed, named


def _parts(found: object) -> tuple[object, object]:
    """Splits what a function returned into a value and a reason."""
    if isinstance(found, tuple) and len(found) == 2:
        return found[0], found[1]
    if isinstance(found, Mapping):
        key = next((name for name in GRADES if name in found), None)
        reason = next((found[name] for name in REASON_NAMES if name in found), "")
        if key is not None:
            return found[key], reason
        beside = {name: one for name, one in found.items() if name not in REASON_NAMES or not isinstance(one, str)}
        return (beside, reason) if isinstance(reason, str) and beside else (found, "")
    key = next((name for name in GRADES if hasattr(found, name)), None)
    if key is None or isinstance(found, str | int | float):
        return found, ""
    return getattr(found, key), next((getattr(found, name) for name in REASON_NAMES if hasattr(found, name)), "")


def _plain(value: object) -> object:
    """A value as JSON has it.

    Raises:
        ValueError: It is none.
    """
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if hasattr(value, "item") and not isinstance(value, str):  # a number of NumPy's
        value = value.item()
    if value is None:
        raise ValueError("it returned nothing")
    if isinstance(value, str | int | float):
        return value
    raise ValueError(f"it returned {type(value).__name__}; a grade, a number or probabilities by grade are valid")
