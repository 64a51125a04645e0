"""The judge of a run's failure modes: which of them its steps and its answer show."""

import dspy


class FindModesOfRun(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Find out which failures the whole run of an agent shows: its steps, and the answer that it gave for the query.

    1. Understand the goal: say in your own words what the user wants.
    2. Go through the steps in order, then compare the answer with what they returned.
    3. Look for each failure by itself; a run may show none, one or several. One failure is no sign of another.
    4. Give each failure 1 only where you can point at the step or words that show it, or at what is missing; else 0.
    """

    dialogue: str = dspy.InputField(
        desc="how long it is: the answer is this whole dialogue, turn by turn; look at what the assistant says in it"
    )
    conversation: str = dspy.InputField(desc="the turns before the query, numbered, each with its role")
    query: str = dspy.InputField(desc="what the user asked")
    contexts: str = dspy.InputField(desc="the documents that were found, numbered")
    reference: str = dspy.InputField(desc="a correct answer; alternatives are separated by ' | '")
    steps: str = dspy.InputField(
        desc="what the agent did, numbered in order: each tool, its arguments, what it returned or how it failed"
    )
    answer: str = dspy.InputField(desc="what the user got at last")
    reason: str = dspy.OutputField(desc="for each failure that is there, its name and the steps or words that show it")
    grade: str = dspy.OutputField(desc="1 or 0 alone")
    confidence: int = dspy.OutputField(desc="how sure you are of all of it, 0 (not at all) to 100 (certain)")
