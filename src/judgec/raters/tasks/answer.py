"""The answer judge: a grade for each of several aspects of an answer (RAGElo's pointwise evaluator)."""

import dspy


class GradeAspects(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Evaluate the answer to the query in each aspect, judging it against {standard}.

    1. Understand the intent: say in your own words what the user wants.
    2. Check correctness: does the answer answer the question, and is each statement right?
    3. Evaluate the quality in each aspect by itself; a weakness in one must not lower another.
    4. Score: give each aspect the one grade whose meaning fits best, then say how sure you are.
    """

    dialogue: str = dspy.InputField(
        desc="how long it is: the answer is this whole dialogue, turn by turn; evaluate what the assistant says in it"
    )
    conversation: str = dspy.InputField(desc="the turns before the query, numbered, each with its role")
    query: str = dspy.InputField(desc="what the user asked")
    contexts: str = dspy.InputField(desc="the retrieved documents, numbered")
    reference: str = dspy.InputField(desc="a correct answer; alternatives are separated by ' | '")
    answer: str = dspy.InputField(desc="the answer to evaluate")
    reason: str = dspy.OutputField(desc="steps 1 to 3, in a few sentences")
    grade: str = dspy.OutputField(desc="the grade alone")
    confidence: int = dspy.OutputField(desc="how sure you are of the grades, 0 (not at all) to 100 (certain)")
