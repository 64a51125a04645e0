"""The task of saying which of two answers is better."""

from judgec.records.scale import Scale
from judgec.tasks.spec import PAIR, PAIR_GRADES, TaskSpec

PREFERENCE_SCALE = Scale(
    name="preference",
    level="nominal",
    grades=PAIR_GRADES,
    meanings=("answer A is better", "answer B is better", "they are equally good"),
)

TASK = TaskSpec(
    name="preference",
    required=("query", *PAIR),
    optional=("contexts", "reference", "agent_a", "agent_b"),
    labels=("preference",),
    scale=PREFERENCE_SCALE,
    settled=True,
    signature="judgec.judges.tasks.preference:CompareAnswers",
    graded=PAIR,
    hidden=("agent_a", "agent_b"),
    shown=("query", "reference", *PAIR, "contexts"),
    told_by=PAIR,
    evidence={"answer": PAIR, "reference": ("reference",), "contexts": ("contexts",)},
    rates_answers=True,
    also_called={
        "answer_a": ("response_a", "response1", "output_1", "model_a_response", "answer1", "chosen"),
        "answer_b": ("response_b", "response2", "output_2", "model_b_response", "answer2", "rejected"),
        "preference": ("winner", "label", "choice", "verdict"),
    },
)
