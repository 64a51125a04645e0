"""Makes a row of each trace: the question, the answer, what was retrieved, what tools did, and what it took."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from judgec.errors import InputError
from judgec.records.conversation import ASSISTANT, RESULTS, USER
from judgec.records.counts import plural
from judgec.records.trajectory import MODEL, RETRIEVER, STEP, STEPS, TOOL, Step, written_step
from judgec.table.rows.cells import as_id, as_text, is_missing
from judgec.table.table import Row, Table
from judgec.table.traces.dialects import (
    Exchange,
    TracedTurn,
    asked_of_retriever,
    documents_of,
    exchange_of,
    is_tool,
    tool_of,
)
from judgec.table.traces.spans import TracedSpan, read_spans
from judgec.table.traces.texts import answer_in, question_in

SESSION = ("gen_ai.conversation.id", "session.id", "langfuse.session.id", "traceloop.association.properties.session_id")
AGENT = ("gen_ai.agent.name", "resource.service.name")
MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "mlflow.llm.model")
ASKED = ("input.value", "traceloop.entity.input", "ai.observability.record_root.input", "mlflow.spanInputs")
ANSWERED = ("output.value", "traceloop.entity.output", "ai.observability.record_root.output", "mlflow.spanOutputs")
EXPECTED = "judgec.expected"  # what people said that the answer should be, of a trace of MLflow
TOKENS: Mapping[str, tuple[str, ...]] = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
    "cost_usd": ("gen_ai.usage.cost", "llm.cost.total"),
}
CAPTURE = (
    "Record them again with the texts: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true "
    "(OpenLLMetry: TRACELOOP_TRACE_CONTENT=true; OpenInference: OPENINFERENCE_HIDE_INPUTS and _OUTPUTS not set)."
)
COLUMNS = ("item_id", "query", "answer", "reference", "contexts", "conversation", "query_id", "agent", "model")


def read_traces(path: str, exports: Sequence[tuple[int, Mapping[str, object]]]) -> Table:
    """Traces as a table, a row each, in the order in which they began.

    Columns: ``item_id`` (of the trace), ``query``, ``answer``, ``reference`` (what people expected),
    ``contexts`` (documents that were retrieved), ``conversation`` (where there was more than a question and an answer:
    earlier traces of the session, tool calls and their results), ``query_id`` (of the session), ``agent``, ``model``,
    ``latency_seconds``, ``input_tokens``, ``output_tokens``, ``cost_usd``, ``tool_calls``, ``errors``, ``started``,
    ``steps`` (what happened before the answer, in order); a column that no trace fills is absent, apart from ``steps``.

    Args:
        path: For messages.
        exports: Of the file, each with the line where it begins.

    Raises:
        InputError: No span, a broken one, or no trace with the texts of question and answer.
    """
    spans = read_spans(path, exports)
    if not spans:
        raise InputError([f"{path}:1: an export without spans; spans are needed. Export the traces again."])
    traces: dict[str, list[TracedSpan]] = {}
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        traces.setdefault(span.trace, []).append(span)
    dialects: Counter[str] = Counter()
    rows: list[Row] = []
    lines: list[int] = []
    sessions: dict[str, list[TracedTurn]] = {}
    for trace, own in traces.items():
        row = _row(trace, own, sessions, dialects)
        if row is not None:
            rows.append(row)
            lines.append(own[0].line)
    silent = len(traces) - len(rows)
    if not rows:
        both = f"{plural(len(traces), 'trace')} of {plural(len(spans), 'span')}"
        seen = f"{path}:1: {both}, none with the texts of question and answer"
        raise InputError([f"{seen}; both are needed. {CAPTURE}"])
    columns = dict.fromkeys(name for name in COLUMNS if any(name in row for row in rows))
    columns |= dict.fromkeys(name for row in rows for name in row) | {STEPS: None}
    wrote = ", ".join(f"{dialect} in {n}" for dialect, n in dialects.most_common()) or "texts of the whole run alone"
    notes = [f"{plural(len(traces), 'trace')} of {plural(len(spans), 'span')}; messages: {wrote}."]
    if silent:
        notes.append(f"{silent} of them are left out: no text of question or answer. {CAPTURE}")
    return Table(path, tuple(columns), tuple(rows), tuple(lines), notes=tuple(notes))


def _row(
    trace: str, spans: Sequence[TracedSpan], sessions: dict[str, list[TracedTurn]], dialects: Counter[str]
) -> Row | None:
    """The trace as a row, or None where it has no question or no answer."""
    read = [(span, exchange_of(span)) for span in spans]
    exchanges = [(span, one) for span, one in read if one is not None]
    turns: list[TracedTurn] = []
    for _, one in exchanges:
        turns = _joined(turns, (*one.given, *one.said))
    root = _root(spans)
    query = _last(turns, USER) or question_in(_first(root.attributes, ASKED))
    answer = answer_in(_first(root.attributes, ANSWERED)) or _last(turns, ASSISTANT)
    if not query or not answer:
        return None
    dialects.update({one.dialect for _, one in exchanges})
    session = as_id(next(filter(None, (_first(span.attributes, SESSION) for span in spans)), ""))
    if session:
        turns = _after(sessions.get(session, []), turns or [TracedTurn(USER, query)])
    if turns and (turns[-1].content != answer or turns[-1].role != ASSISTANT):
        turns = [*turns, TracedTurn(ASSISTANT, answer)]
    if session:
        sessions[session] = turns
    row: Row = {"item_id": trace, "query": query, "answer": answer}
    if expected := as_text(root.attributes.get(EXPECTED, "")):
        row["reference"] = expected
    if steps := _steps_of(spans, exchanges, answer):
        row[STEPS] = steps
    if documents := list(dict.fromkeys(text for span in spans for text in documents_of(span))):
        row["contexts"] = documents
    if len(turns) > len((query, answer)):
        row["conversation"] = [turn.row() for turn in turns]
    return row | _named(spans, session) | _took(root, spans, {id(span) for span, _ in exchanges})


def _named(spans: Sequence[TracedSpan], session: str) -> Row:
    found: Row = {"query_id": session} if session else {}
    for column, names in (("agent", AGENT), ("model", MODELS)):
        values = (value for name in names for span in spans if not is_missing(value := span.attributes.get(name)))
        if (value := next(values, None)) is not None:
            found[column] = as_text(value)
    return found


def _took(root: TracedSpan, spans: Sequence[TracedSpan], models: set[int]) -> Row:
    """Time, tokens, dollars, tools and errors."""
    row: Row = {"latency_seconds": round(max(span.end for span in spans) - root.start, 6)}
    for column, names in TOKENS.items():
        given = [_first(span.attributes, names) for span in spans if id(span) in models]
        known = [float(value) for value in given if isinstance(value, int | float) and not isinstance(value, bool)]
        if known:
            row[column] = sum(known) if column == "cost_usd" else int(sum(known))
    if tools := [tool_of(span) for span in spans if is_tool(span)]:
        row["tool_calls"] = tools
    if errors := [f"{span.name}: {span.error}" for span in spans if span.error]:
        row["errors"] = errors
    row["started"] = datetime.fromtimestamp(root.start, UTC).isoformat()
    return row


def _root(spans: Sequence[TracedSpan]) -> TracedSpan:
    """The first step that is part of none in the file."""
    known = {span.span for span in spans}
    return next((span for span in spans if span.parent not in known), spans[0])


def _joined(before: Sequence[TracedTurn], turns: Sequence[TracedTurn]) -> list[TracedTurn]:
    """A conversation with the messages of a further call: those that it repeats stand there once.

    Most instrumentations write the whole history of each call, some only what is new.
    """
    kept = [turn for turn in turns if turn.role != "system"] if before else list(turns)
    have = [turn for turn in before if turn.role != "system"]
    most = min(len(have), len(kept))
    if have and kept[: len(have)] == have:
        return [*before, *kept[len(have) :]]
    overlap = next((n for n in range(most, 0, -1) if have[-n:] == kept[:n]), 0)
    return [*before, *kept[overlap:]]


def _after(earlier: Sequence[TracedTurn], turns: Sequence[TracedTurn]) -> list[TracedTurn]:
    """Turns that a trace adds to its session; a trace that begins with the session's history has it already."""
    said = [turn for turn in turns if turn.role != "system"]
    begun = [turn for turn in earlier if turn.role != "system"]
    if said[:1] == begun[:1] and len(said) > len(begun) > 1:
        return list(turns)
    return _joined(earlier, turns)


def _last(turns: Sequence[TracedTurn], role: str) -> str:
    """The last text of a role, apart from calls of tools."""
    said = (turn.content for turn in reversed(turns) if turn.role == role and not turn.tool_calls)
    return next((text for text in said if text.strip()), "")


def _first(attributes: Mapping[str, object], names: Iterable[str]) -> object:
    return next((attributes[name] for name in names if not is_missing(attributes.get(name))), None)


def _steps_of(spans: Sequence[TracedSpan], exchanges: Sequence[tuple[TracedSpan, Exchange]], answer: str) -> list[str]:
    """The steps as texts; of tools without spans what the messages tell.

    Args:
        spans: Of one trace, in the order in which they began.
        exchanges: The calls of models among them, with their messages.
        answer: What the run ended in, which is no step.
    """
    said = {id(span): one for span, one in exchanges}
    tools = any(is_tool(span) for span in spans)
    steps: list[Step] = []
    told: list[TracedTurn] = []
    for span in spans:
        if is_tool(span):
            steps.append(_step_of(span))
        elif documents := documents_of(span):
            text = "\n\n".join(documents)
            steps.append(Step(RETRIEVER, span.name, asked_of_retriever(span), text, span.error))
        elif (one := said.get(id(span))) is not None:
            if not tools:
                steps += _results(one.given, steps, told)
            steps += _words(one.said, answer, calls=not tools)
            told += one.said
            if span.error:
                steps.append(Step(MODEL, span.name, error=span.error))
        elif span.error and not any(other.parent == span.span and other.error for other in spans):
            steps.append(Step(STEP, span.name, error=span.error))
    return [written_step(step) for step in steps]


def _step_of(span: TracedSpan) -> Step:
    found = tool_of(span)
    texts = {name: "" if is_missing(value) else as_text(value) for name, value in found.items()}
    get = texts.get
    return Step(TOOL, get("name", ""), get("arguments", ""), get("result", ""), get("error", ""))


def _words(turns: Sequence[TracedTurn], answer: str, *, calls: bool) -> list[Step]:
    """Texts that a model said on the way, and, where tools have no spans of their own, its calls."""
    found = []
    for turn in turns:
        if turn.content.strip() and turn.content.strip() != answer.strip():
            found.append(Step(MODEL, result=turn.content))
        found += [Step(TOOL, call.name, call.arguments) for call in turn.tool_calls if calls]
    return found


def _results(given: Sequence[TracedTurn], steps: list[Step], told: Sequence[TracedTurn]) -> list[Step]:
    """Fills what tools returned into the calls that wait for it; a result without a call is a step."""
    last = max((at for at, turn in enumerate(given) if turn.role == ASSISTANT), default=-1)
    if not told:
        return []
    waiting = [at for at, step in enumerate(steps) if step.kind == TOOL and not step.result and not step.error]
    alone = []
    for turn in (turn for turn in given[last + 1 :] if turn.role in RESULTS):
        fits = [at for at in waiting if not turn.name or steps[at].name == turn.name] or waiting
        if fits:
            step = steps[fits[0]]
            steps[fits[0]] = Step(step.kind, step.name, step.arguments, turn.content)
            waiting.remove(fits[0])
        else:
            alone.append(Step(TOOL, turn.name, result=turn.content))
    return alone
