"""Finds messages, documents and calls of tools in spans, under the names that each instrumentation gives them.

Sources: OpenTelemetry's semantic conventions for generative AI (attributes since 1.37; events before), OpenLLMetry
(numbered attributes), OpenInference (``llm.input_messages``, ``retrieval.documents``), MLflow (``mlflow.spanType``).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from judgec.records.conversation import ASSISTANT, ROLES, SPEAKERS, USER
from judgec.table.rows.cells import as_text, is_missing
from judgec.table.traces.spans import SpanEvent, TracedSpan
from judgec.table.traces.texts import documents_in, parsed

ALIASES = {**SPEAKERS, "model": ASSISTANT}
DETAILS = "gen_ai.client.inference.operation.details"
CHOICES = ("gen_ai.choice", "gen_ai.content.completion")
ASKED = "gen_ai.content.prompt"
_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
_NUMBERED = re.compile(r"(?P<at>\d+)\.(?:message\.)?(?P<rest>.+)")


@dataclass(frozen=True, slots=True)
class TracedCall:
    """A call of a tool that a message asks for.

    Args:
        name: Of the tool.
        arguments: As text.
    """

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class TracedTurn:
    """A message.

    Args:
        role: One of ``ROLES``.
        content: Its text.
        name: Who speaks, or empty.
        tool_calls: What it asks for.
    """

    role: str
    content: str
    name: str = ""
    tool_calls: tuple[TracedCall, ...] = ()

    def row(self) -> dict[str, object]:
        """As a column of conversations has it."""
        calls = {"tool_calls": [asdict(call) for call in self.tool_calls]}
        return {name: value for name, value in (asdict(self) | calls).items() if value or name == "content"}


@dataclass(frozen=True, slots=True)
class Exchange:
    """Input and output of one call of a model.

    Args:
        dialect: How it was written.
        given: The messages before.
        said: Its own.
    """

    dialect: str
    given: tuple[TracedTurn, ...]
    said: tuple[TracedTurn, ...]


def exchange_of(span: TracedSpan) -> Exchange | None:
    """The messages of a span, or None where it has none."""
    for dialect, read in (
        ("GenAI attributes", _of_attributes),
        ("GenAI events", _of_events),
        ("OpenLLMetry", _of_numbers),
        ("OpenInference", _of_openinference),
        ("MLflow", _of_mlflow),
    ):
        given, said = read(span)
        if given or said:
            return Exchange(dialect, tuple(given), tuple(said))
    return None


def documents_of(span: TracedSpan) -> list[str]:
    """The texts that a span retrieved; a document without a text in the trace is none."""
    listed = span.attributes.get("gen_ai.retrieval.documents")
    if listed is not None:
        return documents_in(listed)
    numbered = _numbered(span.attributes, "retrieval.documents.")
    if _mlflow_kind(span) == "RETRIEVER":
        return documents_in(span.attributes.get("mlflow.spanOutputs"))
    found = [as_text(one["document.content"]) for one in numbered if not is_missing(one.get("document.content"))]
    return found or documents_in(span.attributes.get("ai.observability.retrieval.retrieved_contexts"))


def asked_of_retriever(span: TracedSpan) -> str:
    """The text that was searched for."""
    given = parsed(_first(span, "gen_ai.retrieval.query.text", "input.value", "mlflow.spanInputs"))
    if isinstance(given, Mapping) and len(given) == 1:
        (given,) = given.values()
    return "" if is_missing(given) else as_text(given)


def is_tool(span: TracedSpan) -> bool:
    """True if the span is the call of a tool."""
    kind = as_text(span.attributes.get("openinference.span.kind", span.attributes.get("traceloop.span.kind", "")))
    executed = span.attributes.get("gen_ai.operation.name") == "execute_tool" or kind.lower() == "tool"
    return executed or _mlflow_kind(span) == "TOOL"


def tool_of(span: TracedSpan) -> dict[str, object]:
    """Name, arguments, result and error of a tool's call, those that the span has."""
    values = {
        "name": _first(span, "gen_ai.tool.name", "tool.name", "traceloop.entity.name") or span.name,
        "arguments": parsed(
            _first(
                span,
                "gen_ai.tool.call.arguments",
                "tool.parameters",
                "input.value",
                "traceloop.entity.input",
                "mlflow.spanInputs",
            )
        ),
        "result": parsed(
            _first(span, "gen_ai.tool.call.result", "output.value", "traceloop.entity.output", "mlflow.spanOutputs")
        ),
        "error": span.error or None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _first(span: TracedSpan, *names: str) -> object:
    return next((span.attributes[name] for name in names if not is_missing(span.attributes.get(name))), None)


def _of_attributes(span: TracedSpan) -> tuple[list[TracedTurn], list[TracedTurn]]:
    """``gen_ai.input.messages`` and its like, on the span or on the event that has them in its place."""
    holders: list[Mapping[str, object]] = [span.attributes]
    holders += [event.attributes for event in span.events if event.name == DETAILS]
    given: list[TracedTurn] = []
    said: list[TracedTurn] = []
    for held in holders:
        system = _text(parsed(held.get("gen_ai.system_instructions")))
        before = _messages(held.get("gen_ai.input.messages"))
        if system and before and before[0].role != "system":
            before = [TracedTurn("system", system), *before]
        given, said = given or before, said or _messages(held.get("gen_ai.output.messages"))
    return given, said


def _of_events(span: TracedSpan) -> tuple[list[TracedTurn], list[TracedTurn]]:
    given: list[TracedTurn] = []
    said: list[TracedTurn] = []
    for event in span.events:
        if found := _EVENT.fullmatch(event.name):
            given += _messages([{"role": found[1], **_body(event)}])
        elif event.name == ASKED:
            given += _messages(event.attributes.get("gen_ai.prompt"))
        elif event.name in CHOICES and not said:  # the first of several answers is the one that was shown
            body = _body(event)
            held = parsed(body.get("message", body.get("gen_ai.completion", body)))
            said += _messages(held if isinstance(held, list) else [held])
    return given, [replace(one, role=ASSISTANT) for one in said]


def _body(event: SpanEvent) -> dict[str, object]:
    return {name.removeprefix("gen_ai.event."): parsed(value) for name, value in event.attributes.items()}


def _of_numbers(span: TracedSpan) -> tuple[list[TracedTurn], list[TracedTurn]]:
    given = _messages(_numbered(span.attributes, "gen_ai.prompt."))
    return given, _messages([{"role": ASSISTANT, **one} for one in _numbered(span.attributes, "gen_ai.completion.")])


def _of_openinference(span: TracedSpan) -> tuple[list[TracedTurn], list[TracedTurn]]:
    given = _messages(_numbered(span.attributes, "llm.input_messages."))
    return given, _messages(_numbered(span.attributes, "llm.output_messages."))


def _mlflow_kind(span: TracedSpan) -> str:
    return as_text(parsed(span.attributes.get("mlflow.spanType", "")))


def _of_mlflow(span: TracedSpan) -> tuple[list[TracedTurn], list[TracedTurn]]:
    """Inputs and outputs of a model's span: messages, an object that holds them, OpenAI's or Anthropic's."""
    if _mlflow_kind(span) not in {"CHAT_MODEL", "LLM"}:
        return [], []
    given, said = (parsed(span.attributes.get(name)) for name in ("mlflow.spanInputs", "mlflow.spanOutputs"))
    before = _messages(_held(given, "messages", "input", "prompt", "contents"))
    system = _text(_held(given, "system")) if isinstance(given, Mapping) and "system" in given else ""
    if system and before and before[0].role != "system":
        before = [TracedTurn("system", system), *before]
    after = _held(said, "choices", "messages", "output", "generations", "candidates")
    if isinstance(after, Mapping):  # one message, as Anthropic gives it
        after = [after]
    answered = [replace(turn, role=ASSISTANT) for turn in _messages(after)]
    return before, answered


def _held(value: object, *names: str) -> object:
    """The value of an object under the first of these names; the value itself where there is none."""
    if not isinstance(value, Mapping):
        return value
    return next((parsed(value[name]) for name in names if not is_missing(value.get(name))), value)


def _numbered(attributes: Mapping[str, object], prefix: str) -> list[dict[str, object]]:
    """``PREFIX0.role``, ``PREFIX0.content``, ``PREFIX1.role`` and so on, as one object each."""
    whole = parsed(attributes.get(prefix.rstrip(".")))
    if isinstance(whole, list):
        return [dict(one) for one in whole if isinstance(one, Mapping)]
    found: dict[int, dict[str, object]] = {}
    for name, value in attributes.items():
        if name.startswith(prefix) and (part := _NUMBERED.fullmatch(name, len(prefix))):
            found.setdefault(int(part["at"]), {})[part["rest"]] = value
    return [found[at] for at in sorted(found)]


def _messages(value: object) -> list[TracedTurn]:
    """Messages as each dialect has them; what has neither text nor call is left out."""
    value = parsed(value)
    if isinstance(value, str):
        return [TracedTurn(USER, value)] if value else []
    return [found for one in value if (found := _message(one)) is not None] if isinstance(value, list) else []


def _message(value: object) -> TracedTurn | None:
    value = parsed(value)
    if not isinstance(value, Mapping):
        return None
    inner = value.get("message")
    if isinstance(inner, Mapping):
        value = {**value, **inner}
    role = as_text(value.get("role", USER)).lower()
    role = ALIASES.get(role, role)
    parts = value.get("parts", value.get("content"))
    text, calls = _text(parts), [*_calls(value), *_part_calls(parts)]
    if not text and not calls:
        return None
    name = "" if is_missing(value.get("name")) else as_text(value["name"])
    return TracedTurn(role if role in ROLES else USER, text, name, tuple(calls))


def _text(parts: object) -> str:
    """The text of a content: a text, or parts of which some are text or what a tool returned."""
    parts = parsed(parts)
    if isinstance(parts, str):
        return parts
    if isinstance(parts, Mapping):
        if parts.get("type") in {"tool_call", "tool_use", "reasoning", "thinking"}:
            return ""
        names = ("content", "text", "response", "result")
        held = next((parts[name] for name in names if not is_missing(parts.get(name))), None)
        if held is None:
            return ""
        return held if isinstance(held, str) else _text(held) if isinstance(held, list) else as_text(held)
    if isinstance(parts, Sequence):
        return "\n".join(text for part in parts if (text := _text(part)))
    return ""


def _calls(value: Mapping[str, object]) -> Iterator[TracedCall]:
    """The tools that a message calls."""
    calls = parsed(value.get("tool_calls"))
    for call in calls if isinstance(calls, list) else ():
        held = call.get("function", call) if isinstance(call, Mapping) else None
        if isinstance(held, Mapping):
            yield _call(held)
    numbered = {name.removeprefix("message."): cell for name, cell in value.items()}
    for call in _numbered(numbered, "tool_calls."):
        plain = {name.rpartition(".")[2]: cell for name, cell in call.items()}
        if "name" in plain:
            yield _call(plain)


def _part_calls(parts: object) -> Iterator[TracedCall]:
    parts = parsed(parts)
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping) and part.get("type") in {"tool_call", "tool_use"}:
            yield _call(part)


def _call(call: Mapping[str, object]) -> TracedCall:
    arguments = parsed(call.get("arguments", call.get("input", "")))
    return TracedCall(as_text(call.get("name", "tool")), as_text(arguments))
