"""The task of saying which failure modes a whole run shows: what ``trajectory`` is where labels are modes."""

from judgec.records.scale import PRESENCE_SCALE
from judgec.records.tasks.modes import ABSENT, PRESENT
from judgec.records.tasks.spec import BY_MODE, TaskSpec

USUAL_MODES = {  # what is asked where nobody defined a mode of this name
    "wrong_tool": "does a step call a tool, or with arguments, that cannot bring the goal nearer",
    "tool_error": "does a call fail without the run recovering from it",
    "repeated_call": "does the run make the same call again without a reason",
    "ignored_result": "does the answer leave out or contradict what a step found",
    "unsupported_answer": "does the answer state something that no step found",
    "goal_missed": "does the run end without what the user wanted",
}

SCALE = PRESENCE_SCALE.model_copy(
    update={"meanings": ("absent: the run does not show it", "present: the run shows it")}
)
TASK = TaskSpec(
    name="trajectory_modes",
    required=("query", "answer", "steps"),
    optional=("reference", "contexts", "conversation", "dialogue"),
    labels=(BY_MODE,),
    scale=SCALE,
    settled=True,
    meanings=SCALE.meanings,
    aspects=USUAL_MODES,
    other_aspects="is this failure in the run",
    signature="judgec.raters.tasks.runs:FindModesOfRun",
    shown=("dialogue", "conversation", "query", "steps", "answer", "reference", "contexts"),
    spellings=dict.fromkeys(PRESENT, "1") | dict.fromkeys(ABSENT, "0"),
)
