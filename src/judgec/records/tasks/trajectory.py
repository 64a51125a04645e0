"""The task of giving a whole run one grade: what an agent did step by step, and what it answered."""

from judgec.records.scale import Scale
from judgec.records.tasks.spec import TaskSpec

BY_RUN = (
    "the goal is not reached, or the answer rests on nothing that the run found",
    "most of the goal is missed; wrong, failed or needless steps decide the outcome",
    "the goal is reached in part, or with errors that a user would notice",
    "the goal is reached; some steps were needless or clumsy",
    "the goal is reached by sensible steps, and the answer says what they found",
)

TASK = TaskSpec(
    name="trajectory",
    required=("query", "answer", "steps"),
    optional=("reference", "contexts", "conversation", "dialogue"),
    labels=("grade", "accept"),
    scale=Scale(grades=(1, 2, 3, 4, 5), accept_at=4),
    meanings=BY_RUN,
    signature="judgec.raters.tasks.runs:GradeRun",
    shown=("dialogue", "conversation", "query", "steps", "answer", "reference", "contexts"),
    rates_answers=True,
    modes_task="trajectory_modes",
)
