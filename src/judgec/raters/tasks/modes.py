"""The judge of failure modes: which of them an answer shows."""

import dspy


class FindModes(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Find out which failures the answer to the query shows, judging it against {standard}.

    1. Understand the intent: say in your own words what the user wants.
    2. Look for each failure by itself; an answer may show none, one or several. One failure is no sign of another.
    3. Give each failure 1 only where you can point at the words that show it, or at what is missing; else 0.
    """

    dialogue: str = dspy.InputField(
        desc="how long it is: the answer is this whole dialogue, turn by turn; look at what the assistant says in it"
    )
    conversation: str = dspy.InputField(desc="the turns before the query, numbered, each with its role")
    query: str = dspy.InputField(desc="what the user asked")
    contexts: str = dspy.InputField(desc="the retrieved documents, numbered")
    reference: str = dspy.InputField(desc="a correct answer; alternatives are separated by ' | '")
    answer: str = dspy.InputField(desc="the answer to look at")
    reason: str = dspy.OutputField(desc="for each failure that is there, its name and the words that show it")
    grade: str = dspy.OutputField(desc="1 or 0 alone")
    confidence: int = dspy.OutputField(desc="how sure you are of all of it, 0 (not at all) to 100 (certain)")
