"""The task of checking a generated question and its answer against their passage (RAGProbe's reliability study)."""

from judgec.records.scale import Scale
from judgec.records.tasks.spec import BY_ASPECT, TaskSpec

RELIABILITY_SCALE = Scale(name="reliability", grades=(0, 1), meanings=("no", "yes"), accept_at=1)
QUESTIONS = {
    "question_in_passage": "is what the question asks about in the passage",
    "answer_in_passage": "does the passage state the answer, all of it",
    "self_contained": "can the question be understood by somebody who does not see the passage",
}
RELIABLE = "reliable"  # the single verdict of people who were not asked aspect by aspect
FAULTS = {  # what it says of a question that it fails in one of them
    "question_in_passage": "What it asks about is not in the passage.",
    "answer_in_passage": "The passage does not state its answer, or not all of it.",
    "self_contained": "Somebody who does not see the passage does not understand it.",
    RELIABLE: "No system may be tested with it.",
}

TASK = TaskSpec(
    name="reliability",
    required=("query", "passage", "answer"),
    labels=(BY_ASPECT,),
    scale=RELIABILITY_SCALE,
    settled=True,
    meanings=("no", "yes"),
    aspects={**QUESTIONS, RELIABLE: "may a system be tested with this question and answer"},
    usual_aspects=tuple(QUESTIONS),
    other_aspects="",
    signature="judgec.raters.tasks.claims:CheckPair",
    told_by=("passage", "answer"),
    evidence={"document": ("passage",), "answer": ("answer",), "contexts": ("passage",)},
)
