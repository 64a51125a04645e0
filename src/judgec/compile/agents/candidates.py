"""Agents whose prompts show demonstrations of good answers."""

from collections.abc import Mapping, Sequence

import dspy

from judgec.compile.agents.metric import AnswerTrace
from judgec.compile.search.candidates import Candidate
from judgec.rag.agents.rag import FEEDBACK, RAG
from judgec.raters.fencing import disarmed, escape_markers, fence

SET_SIZES = (2, 4)  # demonstrations a set: each carries all passages of its answer
DEMO_CHARACTERS = 24_000  # of all demonstrations of a set
LEAST_VALUE = 0.5  # an answer worth less is no example


def demonstrated(module: RAG, traces: Sequence[AnswerTrace], accepted: Mapping[str, Sequence[str]]) -> list[Candidate]:
    """The agent with examples from train: its own best answers, or the answers that experts accepted.

    Args:
        module: The agent.
        traces: Its answers to train queries.
        accepted: Answers that experts accepted, by query id; where there are any they are shown, not the agent's own.
    """
    examples = []
    for trace in sorted(traces, key=lambda one: (-one[2].counted, one[0].query_id)):
        query, answer, score = trace
        known = accepted.get(query.query_id, ())
        text = known[0] if known else answer.text
        if text and answer.contexts and (known if accepted else score.counted >= LEAST_VALUE):
            examples.append((trace, text))
    kind = "labelled" if accepted else "bootstrapped"
    found: list[Candidate] = []
    for size in SET_SIZES:
        chosen = _within(examples, size)
        n = len(chosen)
        if n == size or (chosen and not found):
            found.append(Candidate(f"{kind}-{n}", _shown(module, chosen), settings={"kind": kind, "demonstrations": n}))
    return found


def _within(examples: Sequence[tuple[AnswerTrace, str]], size: int) -> list[tuple[AnswerTrace, str]]:
    chosen: list[tuple[AnswerTrace, str]] = []
    room = DEMO_CHARACTERS
    for example in examples:
        length = sum(len(context.text) for context in example[0][1].contexts)
        if len(chosen) < size and length <= room:
            chosen.append(example)
            room -= length
    return chosen


def _shown(module: RAG, chosen: Sequence[tuple[AnswerTrace, str]]) -> RAG:
    """A copy of the agent whose predictors show these examples."""
    copy: RAG = module.deepcopy()
    copy.answer.demos, varied = [], []
    for (query, answer, _), text in chosen:
        asked = {"query": fence("query", query.text)}
        texts = tuple(context.text for context in answer.contexts)
        copy.answer.demos.append(_example({**asked, "passages": fence("passages", texts)}, answer=text))
        if answer.searched:
            seen = {"passages": fence("passages", texts[:FEEDBACK])} if module.settings.feedback else {}
            varied.append(_example({**asked, **seen}, queries="\n".join(answer.searched)))
    if hasattr(copy, "vary"):
        copy.vary.demos = varied
    return copy


def _example(inputs: Mapping[str, str], **output: str) -> dspy.Example:
    said = {name: escape_markers(disarmed(text)) for name, text in output.items()}
    return dspy.Example(**inputs, **said).with_inputs(*inputs)
