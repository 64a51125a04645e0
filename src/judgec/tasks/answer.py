"""The task of grading several aspects of an answer (RAGElo's pointwise evaluator)."""

from judgec.records.scale import Scale
from judgec.tasks.spec import BY_ASPECT, TaskSpec

RAGELO_ASPECTS = {  # Rackauckas, Câmara, Zavrel (2024), appendix A.2
    "relevance": "does the answer address the user's question",
    "accuracy": "is the answer factually correct, based on {standard}",
    "completeness": "does the answer give all the information that the question needs",
    "precision": "is the answer about the very product or entity that was asked about, not a similar one",
}
RAGPROBE_ASPECTS = {  # the criteria of the answer evaluator; relevance and completeness as above
    "correctness": "does the answer agree with {standard} in every figure, date, name and statement",
    "consistency": "is the answer free of contradictions, in itself and with {standard}",
}

TASK = TaskSpec(
    name="answer",
    required=("query", "answer"),
    optional=("contexts", "reference"),
    labels=(BY_ASPECT,),
    scale=Scale(name="quality", grades=(0, 1, 2)),
    meanings=("not at all", "in part", "fully"),
    aspects=RAGELO_ASPECTS | RAGPROBE_ASPECTS,
    usual_aspects=tuple(RAGELO_ASPECTS),
    signature="judgec.judges.tasks.answer:GradeAspects",
    shown=("query", "reference", "answer", "contexts"),
    rates_answers=True,
)
