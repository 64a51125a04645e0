"""The grade judge: one grade for an answer, against a reference, contexts or both (vRAG-Eval)."""

import dspy


class GradeAnswer(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Grade the answer to the query, judging it against {standard}.

    Judge what the answer says, not how it says it: length, style and confidence earn nothing.
    {reference?The reference is the definitive answer: compare with it, not with what you know.} First
    give the reason, then the one grade whose meaning fits best, then how sure you are of it.
    """

    dialogue: str = dspy.InputField(
        desc="how long it is: the answer is this whole dialogue, turn by turn; grade what the assistant says in it"
    )
    conversation: str = dspy.InputField(desc="the turns before the query, numbered, each with its role")
    query: str = dspy.InputField(desc="what the user asked")
    contexts: str = dspy.InputField(desc="the passages that the answer should rest on, numbered")
    reference: str = dspy.InputField(desc="a correct answer; alternatives are separated by ' | '")
    answer: str = dspy.InputField(desc="the answer to grade")
    reason: str = dspy.OutputField(desc="why the answer gets this grade, in one or two sentences")
    grade: str = dspy.OutputField(desc="the grade alone")
    confidence: int = dspy.OutputField(desc="how sure you are of the grade, 0 (not at all) to 100 (certain)")
