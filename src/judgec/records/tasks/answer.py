"""The task of grading several aspects of an answer (RAGElo's pointwise evaluator)."""

from judgec.records.scale import Scale
from judgec.records.tasks.spec import BY_ASPECT, TaskSpec

RAGELO_ASPECTS = {  # Rackauckas, Câmara, Zavrel (2024), appendix A.2
    "relevance": "does the answer address the user's question",
    "accuracy": "is the answer factually correct, based on {standard}",
    "completeness": "does the answer give all the information that the question needs",
    "precision": "if the question is about a specific product or entity, is the answer about that very one, not a "
    "similar one",
}
RAGELO_MEANINGS = {  # what 0, 1 and 2 mean of each, from the same prompt
    "relevance": (
        "the answer is not relevant to the user's question",
        "the answer is relevant to a part of the question",
        "the answer is relevant to the whole question",
    ),
    "accuracy": (
        "the answer is factually wrong",
        "the answer is partly correct",
        "everything in the answer is correct",
    ),
    "completeness": (
        "the answer does not give enough information to answer the question",
        "the answer covers only some parts of the question",
        "the answer covers the whole question",
    ),
    "precision": (
        "the answer does not speak of the product or entity that was asked about, nor of a similar one",
        "the answer speaks of a similar product or entity, but not of the one that was asked about",
        "the answer speaks of exactly the product or entity that was asked about, or none was",
    ),
}
RAGPROBE_ASPECTS = {  # the criteria of the answer evaluator; relevance and completeness as above
    "correctness": "does the answer agree with {standard} in every figure, date, name and statement",
    "consistency": "is the answer free of contradictions, in itself and with {standard}",
}
FURTHER_ASPECTS = {  # what RAGProbe's authors ask for next
    "faithfulness": "is every statement of the answer supported{contexts? by the contexts}, whatever else may be true",
    "bias": "is the answer free of prejudice about people for their sex, origin, religion, age, health or the like",
}

TASK = TaskSpec(
    name="answer",
    required=("query", "answer"),
    optional=("contexts", "reference", "conversation", "dialogue"),
    labels=(BY_ASPECT,),
    scale=Scale(name="quality", grades=(0, 1, 2)),
    meanings=("not at all", "in part", "fully"),
    aspects=RAGELO_ASPECTS | RAGPROBE_ASPECTS | FURTHER_ASPECTS,
    aspect_meanings=RAGELO_MEANINGS,
    usual_aspects=tuple(RAGELO_ASPECTS),
    signature="judgec.raters.tasks.answers:GradeAspects",
    shown=("dialogue", "conversation", "query", "reference", "answer", "contexts"),
    rates_answers=True,
)
