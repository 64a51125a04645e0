"""The answer judge: a grade for each of several aspects of an answer (RAGElo's pointwise evaluator)."""

from collections.abc import Collection

import dspy

from judgec.judges.signatures import build
from judgec.records.scale import Scale

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
DESCRIBED = {**RAGPROBE_ASPECTS, **RAGELO_ASPECTS}
RAGELO_MEANINGS = ("not at all", "in part", "fully")  # of grades 0-2, when the scale gives none


class GradeAspects(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Evaluate the answer to the query in each aspect, judging it against {standard}.

    1. Understand the intent: say in your own words what the user wants.
    2. Check correctness: does the answer answer the question, and is each statement right?
    3. Evaluate the quality in each aspect by itself; a weakness in one must not lower another.
    4. Score: give each aspect the one grade whose meaning fits best, then say how sure you are.
    """

    query: str = dspy.InputField(desc="what the user asked")
    answer: str = dspy.InputField(desc="the answer to evaluate")
    contexts: str = dspy.InputField(desc="the retrieved documents, numbered")
    reference: str = dspy.InputField(desc="a correct answer; alternatives are separated by ' | '")
    reason: str = dspy.OutputField(desc="steps 1 to 3, in a few sentences")
    grade: str = dspy.OutputField(desc="the grade alone")
    confidence: int = dspy.OutputField(desc="how sure you are of the grades, 0 (not at all) to 100 (certain)")


def answer_judge(scale: Scale, aspects: tuple[str, ...], fields: Collection[str]) -> dspy.Predict:
    """The module; see ``registry.JudgeBuilder``."""
    meanings = RAGELO_MEANINGS if scale.grades == (0, 1, 2) else ()
    described = {
        aspect: f"{aspect}: {DESCRIBED.get(aspect.casefold(), 'judged by itself')}; the grade alone"
        for aspect in aspects
    }
    return build(GradeAspects, scale, described, fields, meanings=meanings)
