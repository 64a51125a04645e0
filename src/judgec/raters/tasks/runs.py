"""Prompts that grade the run of an agent: what it did and answered, and the failures that it shows."""

import dspy


class GradeRun(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Grade the whole run of an agent: the steps that it took for the query, and the answer that it gave.

    1. Understand the goal: say in your own words what the user wants.
    2. Go through the steps in order: was the call needed, were its arguments right, did it fail, was its result used?
    3. Compare the answer with what the steps returned: what no step found is not known, however sure it sounds.
    Steps earn nothing by themselves: few that reach the goal are better than many.
    {reference?The reference is the definitive answer: compare with it, not with what you know.} First give the reason,
    naming steps by their numbers, then the one grade whose meaning fits best, then how sure you are of it.
    """

    dialogue: str = dspy.InputField(
        desc="how long it is: the answer is this whole dialogue, turn by turn; grade what the assistant says in it"
    )
    conversation: str = dspy.InputField(desc="the turns before the query, numbered, each with its role")
    query: str = dspy.InputField(desc="what the user asked")
    contexts: str = dspy.InputField(desc="the documents that were found, numbered")
    reference: str = dspy.InputField(desc="a correct answer; alternatives are separated by ' | '")
    steps: str = dspy.InputField(
        desc="what the agent did, numbered in order: each tool, its arguments, what it returned or how it failed"
    )
    answer: str = dspy.InputField(desc="what the user got at last")
    reason: str = dspy.OutputField(desc="why the run gets this grade, in one or two sentences that name steps")
    grade: str = dspy.OutputField(desc="the grade alone")
    confidence: int = dspy.OutputField(desc="how sure you are of the grade, 0 (not at all) to 100 (certain)")


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
