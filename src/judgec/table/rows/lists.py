"""Cells that hold a list of texts: contexts, nuggets, steps."""

import json
from collections.abc import Mapping

from judgec.records.claim import NUGGETS
from judgec.records.trajectory import ERROR, KINDS, RETRIEVER, STEP, STEPS, TOOL, Step, written_step
from judgec.table.rows.cells import as_nuggets, as_text, as_texts, is_missing

_KIND = ("type", "kind", "step_type")
_NAME = ("name", "tool", "tool_name")
_ARGUMENTS = ("arguments", "args", "input", "tool_input", "parameters")
_RESULT = ("result", "output", "observation", "response", "content", "text")
_ALIASES = {"retrieval": RETRIEVER, "search": RETRIEVER, "llm": "model", "chat_model": "model", "function": TOOL}


def step_texts(value: object) -> tuple[tuple[str, ...], int]:
    """The steps in a cell as texts, and how many were neither a step nor a text.

    A step is a text, or an object with ``name`` (``tool``), ``arguments`` (``args``, ``input``), ``result``
    (``output``, ``observation``) and ``error``, and perhaps a ``type`` of tool, retriever, model, step;
    ``{"function": {...}}`` as OpenAI writes calls. The cell is a list, a list as JSON, or one text.
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            return as_texts(value)
    if not isinstance(value, list | tuple):
        value = [value]
    texts, other = [], 0
    for one in value:
        if is_missing(one):
            continue
        other += not isinstance(one, str | Mapping)
        texts.append(written_step(_step(one)) if isinstance(one, Mapping) else as_text(one))
    return tuple(texts), other


def _step(given: Mapping[str, object]) -> Step:
    inner = given.get("function")
    if isinstance(inner, Mapping):
        given = {**given, **inner}
    named = as_text(_first(given, _NAME) or "")
    kind = as_text(_first(given, _KIND) or "").lower()
    kind = _ALIASES.get(kind, kind)
    if kind not in KINDS:
        kind = TOOL if named else STEP
    failed = given.get("error")
    error = "" if is_missing(failed) or failed is False else as_text(failed)
    result = _first(given, _RESULT)
    text = "" if result is None else as_text(result)
    if not named and not error and not text and _first(given, _ARGUMENTS) is None:
        text = as_text(dict(given))  # an object of its own kind: nothing is lost
    return Step(kind, named, as_text(_first(given, _ARGUMENTS) or ""), text, error.removeprefix(ERROR))


def _first(given: Mapping[str, object], names: tuple[str, ...]) -> object:
    return next((given[name] for name in names if not is_missing(given.get(name))), None)


_READERS = {NUGGETS: as_nuggets, STEPS: step_texts}


def as_list(name: str, value: object) -> tuple[tuple[str, ...], int]:
    """The texts in a cell of an input that is a list, and how many had to be made texts.

    Args:
        name: The input.
        value: Its cell.

    Raises:
        ValueError: A nugget that is none.
    """
    return _READERS.get(name, as_texts)(value)
