"""The reliability judge: may a generated question and its answer be trusted (RAGProbe's reliability study)."""

from collections.abc import Collection

import dspy

from judgec.judges.signatures import build
from judgec.records.scale import Scale

ASPECTS = {
    "question_in_passage": "question_in_passage: is what the question asks about in the passage",
    "answer_in_passage": "answer_in_passage: does the passage state the answer, all of it",
    "self_contained": "self_contained: can the question be understood by somebody who does not see the passage",
}
MEANINGS = ("no", "yes")  # of grades 0 and 1, when the scale gives none


class CheckPair(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Check a question and its answer, which were generated from the passage, before a system is tested with them.

    Judge by the passage alone, not by what you know. Judge each aspect by itself. First give the reason, then the
    grade of each aspect, then how sure you are of them.
    """

    query: str = dspy.InputField(desc="the generated question")
    passage: str = dspy.InputField(desc="the passage that it was generated from")
    answer: str = dspy.InputField(desc="the generated answer")
    reason: str = dspy.OutputField(desc="what the passage says of question and answer, in one or two sentences")
    grade: str = dspy.OutputField(desc="the grade alone")
    confidence: int = dspy.OutputField(desc="how sure you are of the grades, 0 (not at all) to 100 (certain)")


def reliability_judge(scale: Scale, aspects: tuple[str, ...], fields: Collection[str]) -> dspy.Predict:
    """The module; see ``registry.JudgeBuilder``."""
    meanings = MEANINGS if scale.grades == (0, 1) else ()
    described = {aspect: f"{ASPECTS.get(aspect, aspect)}; the grade alone" for aspect in aspects}
    return build(CheckPair, scale, described, fields, meanings=meanings)
