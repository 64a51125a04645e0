"""Prompts that check an answer piece by piece: its claims, its citations, or as the answer of a generated question
(RAGProbe's reliability study).
"""

import dspy


class CheckClaims(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Check the answer to the query claim by claim against {standard}, then grade it.

    1. Cut the answer into claims: each says one thing that is right or wrong. Greetings, refusals and citations are
       no claims.
    2. Of each claim say whether it is supported, contradicted, or not found in {standard}{contexts|reference?, and copy
       the one sentence that decides. What you know beside that does not count}.
       {nuggets?Where nuggets are given, say then of each whether the answer gives it, or meets it. It should give the
       vital ones and those that weigh most; one whose weight is below 0 it should not give.}
    3. Give the one grade whose meaning fits best, then say how sure you are of it.
    """

    query: str = dspy.InputField(desc="what the user asked")
    contexts: str = dspy.InputField(desc="the passages that the answer should rest on, numbered")
    reference: str = dspy.InputField(desc="a correct answer; alternatives are separated by ' | '")
    nuggets: str = dspy.InputField(
        desc="facts or criteria of a good answer, numbered, each vital, okay or with a weight"
    )
    answer: str = dspy.InputField(desc="the answer to check")
    checked_claims: str = dspy.OutputField(
        desc="a line a claim, its parts separated by '|': supported, contradicted or not found | the claim in the "
        "words of the answer | the sentence that decides, copied word for word, or nothing where there is none"
        "{nuggets?; then, where nuggets are given, a line a nugget: given, partly, missing or denied | its number | "
        "the sentence of the answer that decides}"
    )
    grade: str = dspy.OutputField(desc="the grade alone")
    confidence: int = dspy.OutputField(desc="how sure you are of the grade, 0 (not at all) to 100 (certain)")


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
