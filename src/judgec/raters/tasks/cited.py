"""The judge of citations: whether the cited documents support the sentences that cite them."""

import dspy


class CheckCitations(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Check whether the documents that the answer cites support the sentences that cite them.

    1. Go through the sentences of the answer that cite: [2] cites the second document. Where the answer has no mark,
       it cites all documents.
    2. Of each citation say whether the cited document supports the whole sentence, contradicts it, or does not say it,
       and copy the one sentence of the document that decides. What you know, and what other documents say, does not
       count. A document that is about the same thing and does not say it supports nothing.
    3. Give the one grade whose meaning fits best, then say how sure you are of it.
    """

    query: str = dspy.InputField(desc="what the user asked")
    contexts: str = dspy.InputField(desc="the documents, numbered")
    answer: str = dspy.InputField(desc="the answer, or one sentence of it, with its citations")
    checked_citations: str = dspy.OutputField(
        desc="a line a citation, its parts separated by '|': supported, contradicted or not found | the sentence of "
        "the answer | the sentence of the document that decides, copied word for word, or nothing where there is none"
    )
    supported: str = dspy.OutputField(desc="the grade alone")
    confidence: int = dspy.OutputField(desc="how sure you are of the grade, 0 (not at all) to 100 (certain)")
