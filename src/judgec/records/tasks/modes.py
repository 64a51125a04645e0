"""The task of saying which failure modes an answer shows: each is there or not, and an answer may show several."""

from judgec.records.scale import PRESENCE_SCALE
from judgec.records.tasks.spec import BY_MODE, TaskSpec

PRESENT = ("true", "yes", "y", "present", "t")
ABSENT = ("false", "no", "n", "absent", "f")
USUAL_MODES = {  # what is asked where nobody defined a mode of this name
    "hallucination": "does the answer state something that is not supported by {standard}",
    "ignored_context": "does the answer omit or contradict what {contexts?the contexts say that }bears on the question",
    "incomplete": "does the answer leave a part of the question unanswered",
    "off_topic": "does the answer speak of something else than what was asked",
    "false_refusal": "does the answer refuse or evade a question that could be answered",
}

TASK = TaskSpec(
    name="modes",
    required=("query", "answer"),
    optional=("contexts", "reference", "conversation", "dialogue"),
    labels=(BY_MODE,),
    scale=PRESENCE_SCALE,
    settled=True,
    meanings=PRESENCE_SCALE.meanings,
    aspects=USUAL_MODES,
    other_aspects="is this failure in the answer",
    signature="judgec.raters.tasks.answers:FindModes",
    shown=("dialogue", "conversation", "query", "reference", "answer", "contexts"),
    spellings=dict.fromkeys(PRESENT, "1") | dict.fromkeys(ABSENT, "0"),
)
