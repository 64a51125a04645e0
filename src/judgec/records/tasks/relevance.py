"""The task of grading how relevant a document is to a query (RAGElo's retrieval evaluator)."""

from judgec.records.scale import Scale
from judgec.records.tasks.spec import TaskSpec

RAGELO_RELEVANCE = (  # Rackauckas, Câmara, Zavrel (2024), appendix A.1
    "not relevant: the document is not on topic",
    "somewhat relevant: the document is on topic but does not fully answer the query",
    "very relevant: the document is on topic and answers the query",
)

TASK = TaskSpec(
    name="relevance",
    required=("query", "document"),
    labels=("grade", "accept"),
    scale=Scale(name="relevance", grades=(0, 1, 2)),
    meanings=RAGELO_RELEVANCE,
    signature="judgec.raters.tasks.relevance:GradeDocument",
    graded=("document",),
    told_by=("document",),
)
