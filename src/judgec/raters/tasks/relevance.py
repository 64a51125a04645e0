"""The relevance judge: does a document answer a query (RAGElo's retrieval evaluator)."""

import dspy


class GradeDocument(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Evaluate, as an impartial annotator for a search engine, how relevant the document is to the query.

    First give the reason in one sentence, then the one grade whose meaning fits best, then how sure you are.
    """

    query: str = dspy.InputField(desc="what the user asked")
    document: str = dspy.InputField(desc="the document that was retrieved")
    reason: str = dspy.OutputField(desc="why the document is relevant or not, in one sentence")
    grade: str = dspy.OutputField(desc="the grade alone")
    confidence: int = dspy.OutputField(desc="how sure you are of the grade, 0 (not at all) to 100 (certain)")
