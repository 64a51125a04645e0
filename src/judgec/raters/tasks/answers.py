"""Prompts that grade an answer: as a whole (vRAG-Eval), in each of several aspects (RAGElo, pointwise), by the
failures that it shows, and where the documents answer nothing (RAGProbe, S6).
"""

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


class NameOutcome(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Name what the system did with a query that its documents do not answer.

    The right thing is to refuse. Describing what the documents are about, without an answer, is no answer. A reply
    that refuses or describes and then answers all the same has answered, wherever the knowledge came from. An error
    message, or no reply at all, is an error and not a refusal.
    First say what the reply does, then name the one outcome, then how sure you are of it.
    """

    query: str = dspy.InputField(desc="what the user asked; the documents do not answer it")
    contexts: str = dspy.InputField(desc="the passages that the system retrieved, numbered")
    answer: str = dspy.InputField(desc="the system's reply")
    reason: str = dspy.OutputField(desc="what the reply does, sentence by sentence")
    outcome: str = dspy.OutputField(desc="the outcome alone")
    confidence: int = dspy.OutputField(desc="how sure you are of the outcome, 0 (not at all) to 100 (certain)")
