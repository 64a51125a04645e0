"""Finds the question, the answer and the contexts in what traces call input and output."""

import json
from collections.abc import Callable, Iterator, Mapping

from judgec.records.tasks.registry import SYNONYMS, folded
from judgec.table.rows.cells import as_text, is_missing
from judgec.table.table import Row

DEEP = 8  # objects in objects that are looked into
CONTENTS = ("content", "text", "page_content", "pageContent", "document.content", "message.content", "chunk", "body")
ROLES = ("role", "message.role")


def parsed(value: object) -> object:
    """JSON inside a text as what it says; any other value as it is."""
    for _ in range(3):  # a plain string is quoted twice by some tools
        if not isinstance(value, str) or value[:1] not in {"{", "[", '"'}:
            return value
        try:
            value = json.loads(value)
        except (json.JSONDecodeError, RecursionError):
            return value
    return value


def question_in(value: object) -> str:
    """The last user turn, the field that is called like a question, the only text; else all of it as JSON."""
    return _found(value, "query", ("user", "human"), DEEP)


def answer_in(value: object) -> str:
    """The last turn of the assistant, the field that is called like an answer, the only text; else all as JSON."""
    return _found(value, "answer", ("assistant", "ai", "model"), DEEP)


def documents_in(value: object) -> list[str]:
    """The texts of retrieved documents: a list of texts, of objects with content, or an object that holds one."""
    value = parsed(value)
    if isinstance(value, Mapping):
        inner = next((value[name] for name in ("documents", "output", "results", "chunks") if name in value), None)
        return documents_in(inner) if inner is not None else [text for text in [_content(value)] if text]
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, list):
        return [text for part in value for text in documents_in(part)]
    return []


def turns_in(value: object) -> list[Mapping[str, object]]:
    """The messages of a chat, where the value is or holds one; else nothing."""
    value = parsed(value)
    if isinstance(value, Mapping):
        value = next((parsed(value[name]) for name in ("messages", "input_messages") if name in value), None)
    if not isinstance(value, list):
        return []
    return [turn for turn in value if isinstance(turn, Mapping) and _role(turn)]


def flat(value: object, name: str = "") -> Row:
    """Objects in objects as columns with dots in their names; lists stay whole."""
    if not isinstance(value, Mapping):
        return {} if is_missing(value) else {name: value}
    return {
        key: cell
        for part, inner in value.items()
        for key, cell in flat(inner, f"{name}.{part}" if name else str(part)).items()
    }


def guessed(fields: Mapping[str, object], column: str) -> str | None:
    """The field that is called like one of our columns, the most usual name first."""
    last = {folded(name.rpartition(".")[2]): name for name in reversed(list(fields))}
    return next((last[key] for key in map(folded, (column, *SYNONYMS.get(column, ()))) if key in last), None)


def inputs_of(fields: Mapping[str, object]) -> Row:
    """Query, answer, reference and contexts among the fields, where their names tell."""
    found: Row = {}
    taken: set[str] = set()
    readers: Mapping[str, Callable[[object], object]] = {
        "query": question_in,
        "answer": answer_in,
        "reference": _text,
        "contexts": documents_in,
    }
    for column, read in readers.items():
        name = guessed({name: value for name, value in fields.items() if name not in taken}, column)
        if name is not None and not is_missing(fields[name]):
            taken.add(name)
            found[column] = read(fields[name])
    return found


def _found(value: object, column: str, roles: tuple[str, ...], depth: int) -> str:
    value = parsed(value)
    if isinstance(value, str) or value is None or depth == 0:
        return _text(value)
    if turns := turns_in(value):
        own = [turn for turn in turns if _role(turn) in roles]
        return _content((own or turns)[-1])
    if isinstance(value, list):
        texts = list(_texts_of(value))
        if not texts and len(value) == 1:
            return _found(value[0], column, roles, depth - 1)
        return "\n".join(texts) or _text(value)
    if not isinstance(value, Mapping):
        return _text(value)
    if choices := value.get("choices", value.get("generations")):
        return _found(choices[0] if isinstance(choices, list) else choices, column, roles, depth - 1)
    if "message" in value:
        return _found([value["message"]], column, roles, depth - 1)
    name = guessed({str(key): inner for key, inner in value.items() if not is_missing(inner)}, column)
    if name is not None and name in value:
        return _found(value[name], column, roles, depth - 1)
    if content := _content(value):
        return content
    if len(value) == 1:
        return _found(next(iter(value.values())), column, roles, depth - 1)
    return _text(value)


def _texts_of(parts: list[object]) -> Iterator[str]:
    """Parts of a reply that hold text: ``{"type": "message", "content": [{"type": "output_text", "text": ...}]}``."""
    for part in parts:
        if isinstance(part, Mapping) and (content := _content(part)):
            yield content


def _role(turn: Mapping[str, object]) -> str:
    return next((str(turn[name]) for name in ROLES if turn.get(name)), "")


def _content(turn: Mapping[str, object]) -> str:
    value = next((turn[name] for name in CONTENTS if not is_missing(turn.get(name))), None)
    if isinstance(value, list):
        return "\n".join(_texts_of([part if isinstance(part, Mapping) else {"text": part} for part in value]))
    if isinstance(value, Mapping):
        return _content(value)
    return _text(value)


def _text(value: object) -> str:
    return "" if value is None else as_text(value)
