"""The reliability judge: may a generated question and its answer be trusted (RAGProbe's reliability study)."""

import dspy


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
