"""The rejection judge: what a system did with a question that its documents do not answer (RAGProbe, S6)."""

import dspy


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
