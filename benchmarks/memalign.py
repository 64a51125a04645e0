"""MLflow's MemAlign in the simulated grader's world: the optimizer as it is, on traces, with its own judge and prompts.

MemAlign has no DSPy program to hand another judge to: it distils guidelines, embeds the traces and shows each item its
nearest ones. So here MLflow's judge is asked in MLflow's own words, and ``endpoint`` understands them: the grader of
``tests/service/ranking_world.py`` goes by the guidelines, or by the desk of the first example, as it does elsewhere.
"""

import json
import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tests.service.ranking_world import REWRITES, graded_as, grader, style
from tests.service.replies import Call, Outcome, Text, digest

from judgec.compile.dataset import Dataset, Part
from judgec.lm.saved_engine import Demonstration, PromptParts
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale

NAME = "worth"
MODEL, EMBEDDER = "openai:/fake", "openai:/text-embedding-3-small"  # a name that MLflow's client lets through
INSTRUCTIONS = "How good is {{ outputs }} as an answer to {{ inputs }}? Grade it 1 to 5."
FIRST_EXAMPLE = re.compile(r"Example 1: .*")


def endpoint(call: Call) -> Outcome:
    """The simulated grader, asked in judgec's, DSPy's or MLflow's words."""
    asked = call.body.get("response_format")
    shape = asked["json_schema"]["name"] if isinstance(asked, dict) and "json_schema" in asked else ""
    messages = call.body.get("messages")
    text = "\n".join(str(message["content"]) for message in messages) if isinstance(messages, list) else ""
    if shape == "Guidelines":
        rewritten = list(REWRITES.values())[digest("rewrite", text) % 3]
        return Text(json.dumps({"guidelines": [{"guideline_text": rewritten, "source_trace_ids": None}]}))
    if shape == "ResponseFormat":
        shown, item = str(messages[0]["content"]), str(messages[-1]["content"])  # type: ignore[index]  # a list, as above
        return Text(json.dumps({"result": graded_as(_style(shown), item), "rationale": "as the rules say"}))
    return grader(call)


def aligned_judgments(parts: Dataset, scale: Scale, base_url: str, folder: Path) -> Judgments:
    """What a judge that MemAlign aligned on train and dev says of the test items; embeddings are no LM calls.

    Args:
        parts: The labels, split.
        scale: Their grades.
        base_url: Of the endpoint, which also embeds.
        folder: For MLflow's store.
    """
    os.environ.update({"OPENAI_API_BASE": base_url, "OPENAI_API_KEY": "none", "MLFLOW_DISABLE_TELEMETRY": "true"})
    os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"  # a trace can be given feedback at once
    import mlflow
    from mlflow.genai.judges import make_judge
    from mlflow.genai.judges.optimizers import MemAlignOptimizer

    logging.getLogger("mlflow").setLevel(logging.ERROR)
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    mlflow.set_experiment("memalign")
    traces = [trace for part in (parts.train, parts.dev) for trace in _traces(part, scale)]
    judge = make_judge(name=NAME, instructions=INSTRUCTIONS, model=MODEL, feedback_value_type=int)
    aligned = judge.align(traces, MemAlignOptimizer(reflection_lm=MODEL, embedding_model=EMBEDDER))
    said = [aligned(inputs=_inputs(item), outputs=item.text("answer")).value for item in parts.test.items]
    positions = [scale.grades.index(value) if value in scale.grades else UNSCORED for value in said]
    return _judgments(parts.test.items, positions, scale)


def _traces(part: Part, scale: Scale) -> list[object]:
    """The items as MLflow traces with the experts' grades as human feedback."""
    import mlflow
    from mlflow.entities import AssessmentSource

    made = []
    for item, (position,) in zip(part.items, part.experts.grade, strict=True):
        with mlflow.start_span("answer") as span:
            span.set_inputs(_inputs(item))
            span.set_outputs(item.text("answer"))
        mlflow.log_feedback(
            trace_id=span.trace_id,
            name=NAME,
            value=scale.grades[position],
            source=AssessmentSource("HUMAN", "expert"),
        )
        made.append(mlflow.get_trace(span.trace_id))
    return made


def _inputs(item: Item) -> dict[str, str]:
    return {"query": item.text("query")}


def _style(instructions: str) -> str:
    """What the grader makes of MLflow's prompt; the desk is that of the first example, where no guideline tells it."""
    first = FIRST_EXAMPLE.search(instructions)
    examples = () if first is None else (Demonstration({"answer": first[0]}, {}),)
    return style(instructions, PromptParts({}, (), examples, wants_json=True))


def _judgments(items: Sequence[Item], positions: Sequence[int], scale: Scale) -> Judgments:
    given = np.array(positions)[:, None]
    spread = np.where(given[..., None] == UNSCORED, np.nan, np.eye(len(scale.grades))[given])
    return Judgments(
        item_ids=tuple(item.item_id for item in items),
        aspects=("grade",),
        probabilities=spread,
        grade=given,
        score=spread @ np.array(scale.values),
        accept=np.full_like(given, UNSCORED),
        confidence=np.full(given.shape, np.nan),
        rationale=("",) * len(items),
        unscored=tuple("unreadable" if position == UNSCORED else None for position in positions),
    )
