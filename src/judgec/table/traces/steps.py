"""The steps of a traced run: tools and searches in the order of their begin, and what the model said on the way."""

from collections.abc import Sequence

from judgec.records.conversation import ASSISTANT, RESULTS
from judgec.records.trajectory import MODEL, RETRIEVER, STEP, TOOL, Step, written_step
from judgec.table.rows.cells import as_text, is_missing
from judgec.table.traces.dialects import Exchange, TracedTurn, asked_of_retriever, documents_of, is_tool, tool_of
from judgec.table.traces.spans import TracedSpan


def steps_of(spans: Sequence[TracedSpan], exchanges: Sequence[tuple[TracedSpan, Exchange]], answer: str) -> list[str]:
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
            steps.append(_tool(span))
        elif documents := documents_of(span):
            text = "\n\n".join(documents)
            steps.append(Step(RETRIEVER, span.name, asked_of_retriever(span), text, span.error))
        elif (one := said.get(id(span))) is not None:
            if not tools:
                steps += _results(one.given, steps, told)
            steps += _said(one.said, answer, calls=not tools)
            told += one.said
            if span.error:
                steps.append(Step(MODEL, span.name, error=span.error))
        elif span.error and not any(other.parent == span.span and other.error for other in spans):
            steps.append(Step(STEP, span.name, error=span.error))
    return [written_step(step) for step in steps]


def _tool(span: TracedSpan) -> Step:
    found = tool_of(span)
    texts = {name: "" if is_missing(value) else as_text(value) for name, value in found.items()}
    get = texts.get
    return Step(TOOL, get("name", ""), get("arguments", ""), get("result", ""), get("error", ""))


def _said(turns: Sequence[TracedTurn], answer: str, *, calls: bool) -> list[Step]:
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
