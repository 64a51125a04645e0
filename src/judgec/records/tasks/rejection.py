"""The task of naming what a system did with a question that its documents do not answer (RAGProbe, S6)."""

from judgec.records.scale import Scale
from judgec.records.tasks.spec import TaskSpec

OUTCOME_SCALE = Scale(
    name="outcome",
    level="nominal",
    grades=("error", "answered", "refused_then_answered", "described_then_answered", "described", "refused"),
    meanings=(
        "the system failed",
        "it answered a question that its documents cannot answer",
        "it refused and then answered anyway",
        "it described its documents and answered",
        "it described its documents without an answer",
        "it refused to answer",
    ),
    accept_at="described",
)
"""What a system can do with a question its corpus does not answer; it passes from ``described`` on."""

TASK = TaskSpec(
    name="rejection",
    required=("query", "answer"),
    optional=("contexts",),
    labels=("outcome",),
    scale=OUTCOME_SCALE,
    settled=True,
    signature="judgec.raters.tasks.answers:NameOutcome",
    evidence={"answer": ("answer",), "contexts": ("contexts",)},
)
