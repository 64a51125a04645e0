"""Reads a judge prompt as a model does: its fields, the grades that are allowed, the item and the demonstrations."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

_SECTION = re.compile(r"Your (input|output) fields are:\n(.*?)(?=\nYour output|\nAll interactions|\Z)", re.DOTALL)
_FIELD = re.compile(r"^\d+\. `(\w+)` \((.+?)\):(.*)$", re.MULTILINE)
_HEADER = re.compile(r"^\[\[ ## (\w+) ## \]\][ \t]*", re.MULTILINE)
_RANGE = re.compile(r"(-?\d+)\s*(?:-|–|to|\.\.)\s*(\d+)")
_REQUIREMENTS = re.compile(r"\n\nRespond with (?:the corresponding output fields|a JSON object)[^\n]*\Z")
_QUOTE = "> "
MOST_GRADES = 25  # a wider range is no scale but a number (a confidence, a year)

Fields = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Output:
    """One field that the prompt asks for.

    Args:
        name: As written.
        labels: The values that it may have, worst first, as written; empty for free text and numbers.
        kind: The type as written: ``str``, ``int``, ``float``, ``Literal[...]``.
    """

    name: str
    labels: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A worked example in the prompt: input fields and output fields as texts."""

    inputs: Fields
    outputs: Fields


@dataclass(frozen=True, slots=True)
class PromptParts:
    """A judge prompt, read.

    Args:
        inputs: The item's fields.
        outputs: What is asked for, in order.
        demonstrations: In the prompt's order.
        wants_json: True when the reply must be a JSON object.
    """

    inputs: Fields
    outputs: tuple[Output, ...]
    demonstrations: tuple[Demonstration, ...]
    wants_json: bool


def read_prompt(system: str, turns: Sequence[tuple[str, str]]) -> PromptParts:
    """Read a prompt.

    Args:
        system: The system message.
        turns: Role and text of every other message; the last one is the item.
    """
    names, outputs = _read_fields(system)
    pairs = zip(turns[:-1:2], turns[1:-1:2], strict=False)
    shown = tuple(
        _demonstration(user, reply, names, tuple(output.name for output in outputs)) for (_, user), (_, reply) in pairs
    )
    last = turns[-1][1] if turns else ""
    wants_json = "Respond with a JSON object" in last.rpartition("\n\n")[2]
    return PromptParts(_fields(_REQUIREMENTS.sub("", last), names), outputs, shown, wants_json)


def unquote(block: str) -> tuple[str, ...]:
    """The text or texts in one field, whatever way they are written."""
    block = block.strip("\n")
    if block.startswith("[") and not block.startswith("[["):
        try:
            listed = json.loads(block)
        except ValueError:
            pass
        else:
            return tuple(map(str, listed)) if isinstance(listed, list) else (block,)
    lines = block.split("\n")
    if not any(line.startswith(_QUOTE) for line in lines):
        empty = not block or (block.startswith("(the ") and block.endswith(" empty)"))
        return () if empty else (block,)
    texts: list[list[str]] = []
    inside = False
    for line in lines:
        quoted = line.startswith(_QUOTE) or line == _QUOTE.rstrip()
        if quoted and not inside:
            texts.append([])
        if quoted:
            texts[-1].append(line[len(_QUOTE) :])
        inside = quoted  # what is not quoted is a number, a name, or said of the texts
    return tuple("\n".join(text) for text in texts)


@lru_cache(maxsize=256)
def _read_fields(system: str) -> tuple[tuple[str, ...], tuple[Output, ...]]:
    sections = {kind: _FIELD.findall(body) for kind, body in _SECTION.findall(system)}
    outputs = tuple(Output(name, _labels(kind, desc), kind) for name, kind, desc in sections.get("output", ()))
    return tuple(name for name, _, _ in sections.get("input", ())), outputs


def _labels(kind: str, desc: str) -> tuple[str, ...]:
    if kind.startswith("Literal["):
        try:
            values = ast.literal_eval(f"({kind.removeprefix('Literal[').removesuffix(']')},)")
        except (SyntaxError, ValueError):
            return ()
        return tuple(map(str, values))
    found = _RANGE.search(desc)
    if kind == "int" and found:
        low, high = map(int, found.groups())
        if 0 < high - low < MOST_GRADES:
            return tuple(map(str, range(low, high + 1)))
    return ()


@lru_cache(maxsize=4096)
def _demonstration(user: str, reply: str, names: tuple[str, ...], asked: tuple[str, ...]) -> Demonstration:
    return Demonstration(_fields(_REQUIREMENTS.sub("", user), names), _reply_fields(reply, asked))


def _reply_fields(reply: str, asked: tuple[str, ...]) -> Fields:
    if reply.lstrip().startswith("{"):
        try:
            given = json.loads(reply)
        except ValueError:
            return {}
        return {name: str(given[name]) for name in asked if name in given}
    return _fields(reply, (*asked, "completed"))


def _fields(text: str, names: Sequence[str]) -> Fields:
    """The text under each header; the first header of a name counts, as in DSPy's adapter."""
    found = [match for match in _HEADER.finditer(text) if match.group(1) in names]
    fields: dict[str, str] = {}
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=False):
        fields.setdefault(match.group(1), text[match.end() : end].strip())
    return fields
