"""The relevance judge: does a document answer a query (RAGElo's retrieval evaluator)."""

from collections.abc import Collection

import dspy

from judgec.judges.signatures import build
from judgec.records.scale import Scale

RAGELO_RELEVANCE = (  # of grades 0-2, when the scale gives none; appendix A.1
    "not relevant: the document is not on topic",
    "somewhat relevant: the document is on topic but does not fully answer the query",
    "very relevant: the document is on topic and answers the query",
)


class GradeDocument(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Evaluate, as an impartial annotator for a search engine, how relevant the document is to the query.

    First give the reason in one sentence, then the one grade whose meaning fits best, then how sure you are.
    """

    query: str = dspy.InputField(desc="what the user asked")
    document: str = dspy.InputField(desc="the document that was retrieved")
    reason: str = dspy.OutputField(desc="why the document is relevant or not, in one sentence")
    grade: str = dspy.OutputField(desc="the grade alone")
    confidence: int = dspy.OutputField(desc="how sure you are of the grade, 0 (not at all) to 100 (certain)")


def relevance_judge(scale: Scale, aspects: tuple[str, ...], fields: Collection[str]) -> dspy.Predict:
    """The module; see ``registry.JudgeBuilder``."""
    meanings = RAGELO_RELEVANCE if scale.grades == (0, 1, 2) else ()
    return build(GradeDocument, scale, dict.fromkeys(aspects, "the grade alone"), fields, meanings=meanings)
