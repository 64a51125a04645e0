"""The prompts of the papers in their own words, for those who want to compare with published figures.

DSPy's adapter asks for the fields of the reply in place of "[[3]]" or a line of JSON. RAGElo's sentence on the sensors
that its users asked about is left out.

Source: Rackauckas, Câmara and Zavrel (2024), appendix A (CC BY 4.0); Wang et al. (2024), vRAG-Eval, tables 2 and 3.
"""

from collections.abc import Mapping

import dspy


class PaperDocument(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """You are an expert document annotator. Your job is to evaluate whether a document contains relevant information
    to answer a user's question. Please act as an impartial relevance annotator for a search engine. Your goal is to
    evaluate the relevancy of the documents given a user question.

    You should write one sentence explaining why the document is relevant or not for the user question. A document can
    be:
    - Not relevant: The document is not on topic.
    - Somewhat relevant: The document is on topic but does not fully answer the user question.
    - Very relevant: The document is on topic and answers the user's question.
    """

    query: str = dspy.InputField(desc="user question")
    document: str = dspy.InputField(desc="document content")
    reason: str = dspy.OutputField(desc="one sentence explaining why the document is relevant or not")
    grade: str = dspy.OutputField(desc="0 (not relevant), 1 (somewhat relevant) or 2 (very relevant)")


class PaperAspects(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """You are an impartial judge for evaluating the quality of the responses provided by an AI assistant tasked to
    answer users' questions. You will be given the user's question and the answer produced by the assistant. The
    agent's answer was generated based on a set of documents retrieved by a search engine. You will be provided with
    the relevant documents retrieved by the search engine. Your task is to evaluate the answer's quality based on the
    response's relevance, accuracy, and completeness.

    ## Rules for evaluating an answer:
    - **Relevance**: Does the answer address the user's question?
    - **Accuracy**: Is the answer factually correct, based on the documents provided?
    - **Completeness**: Does the answer provide all the information needed to answer the user's question?
    - **Precision**: If the user's question is about a specific product, does the answer provide the answer for that
      specific product?

    ## Steps to evaluate an answer:
    1. **Understand the user's intent**: Explain in your own words what the user's intent is, given the question.
    2. **Check if the answer is correct**: Think step-by-step whether the answer correctly answers the user's question.
    3. **Evaluate the quality of the answer**: Evaluate the quality of the answer based on its relevance, accuracy, and
       completeness.
    4. **Assign a score**: each aspect gets a single score between 0 and 2, where 2 is the highest score on that aspect:
    - "relevance"
      - 0: The answer is not relevant to the user's question.
      - 1: The answer is partially relevant to the user's question.
      - 2: The answer is fully relevant to the user's question.
    - "accuracy"
      - 0: The answer is factually incorrect.
      - 1: The answer is partially correct.
      - 2: The answer is fully correct.
    - "completeness"
      - 0: The answer does not provide enough information to answer the user's question.
      - 1: The answer only answers some aspects of the user's question.
      - 2: The answer fully answers the user's question.
    - "precision"
      - 0: The answer does not mention the same product or product line as the user's question.
      - 1: The answer mentions a similar product or product line, but not the same as the user's question.
      - 2: The answer mentions the exact same product or product line as the user's question.
    """

    contexts: str = dspy.InputField(desc="documents retrieved")
    query: str = dspy.InputField(desc="user query")
    answer: str = dspy.InputField(desc="agent answer")
    reason: str = dspy.OutputField(desc="steps 1 to 3")
    grade: str = dspy.OutputField(desc="a single score between 0 and 2")


class PaperPair(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Please act as an impartial judge and evaluate the quality of the responses provided by two AI assistants tasked
    to answer the question below based on a set of documents retrieved by a search engine. You should choose the
    assistant that best answers the user question based on a set of reference documents that may or may not be
    relevant. For each reference document, you will be provided with the text of the document as well as reasons why
    the document is or is not relevant.

    Your evaluation should consider factors such as comprehensiveness, correctness, helpfulness, completeness,
    accuracy, depth, and level of detail of their responses. Answers are comprehensive if they show the user multiple
    perspectives in addition to but still relevant to the intent of the original question. Details are only useful if
    they answer the user's question. If an answer contains non-relevant details, it should not be preferred over one
    that only uses relevant information.

    Begin your evaluation by explaining why each answer correctly answers the user's question. Then, you should compare
    the two responses and provide a short explanation of their differences. Avoid any position biases and ensure that
    the order in which the responses were presented does not influence your decision. Do not allow the length of the
    responses to influence your evaluation. Be as objective as possible. After providing your explanation, output your
    final verdict: a if assistant A is better, b if assistant B is better, and tie for a tie.
    """

    query: str = dspy.InputField(desc="user question")
    contexts: str = dspy.InputField(desc="reference documents")
    answer_a: str = dspy.InputField(desc="assistant A's answer")
    answer_b: str = dspy.InputField(desc="assistant B's answer")
    reason: str = dspy.OutputField(desc="why each answer correctly answers the question, and how they differ")
    preference: str = dspy.OutputField(desc="the final verdict: a, b or tie")


class PaperGrade(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """You are an AI assistant. In the following task, you are given a Question, a RAG application's response, and a
    Ground-truth Answer referred to as 'Label'. Assess how well the RAG application's response aligns with the Label,
    using the grading rubric below:
    [Start of Grading Rubric]
    - 1: The response is not aligned with the Label or is off-topic; includes hallucination.
    - 2: The response admits it cannot provide an answer or lacks context; honest.
    - 3: The response is relevant but contains notable discrepancies or inaccuracies.
    - 4: The response is acceptable, sufficient but not exhaustive.
    - 5: The response is fully accurate and comprehensive, based on the Label.
    [End of Grading Rubric]
    Treat the Label as the definitive answer. Present your final score, followed by your justification.
    """

    query: str = dspy.InputField(desc="user question")
    reference: str = dspy.InputField(desc="label")
    answer: str = dspy.InputField(desc="RAG application's response")
    grade: str = dspy.OutputField(desc="the final score")
    reason: str = dspy.OutputField(desc="the justification")


PAPERS: Mapping[str, type[dspy.Signature]] = {
    "relevance": PaperDocument,
    "answer": PaperAspects,
    "preference": PaperPair,
    "grade": PaperGrade,
}
