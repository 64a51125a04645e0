"""The preference judge: which of two answers is better (RAGElo's pairwise evaluator)."""

import re

import dspy

FACTORS = re.compile(  # with what is said of the first
    r"comprehensiveness,\s+correctness,\s+helpfulness,\s+completeness,\s+accuracy,\s+depth,?\s+and\s+level\s+of\s+detail"
    r"(?:\s+of\s+their\s+responses)?"
    r"(?:\.\s+An(?:\s+answer\s+is|swers\s+are)\s+comprehensive[^.]*)?"
)
CITATIONS = (
    "The answers cite the documents in brackets. A citation that does not support its statement is an error, and "
    "a statement that needs a source and has none is weaker."
)
BOTH_STANDARDS = re.compile(r"\bthe\s+reference\s+and\s+the\s+contexts\b")
STANDARD = re.compile(r"\bthe\s+contexts\b")
DOCUMENTS = re.compile(r"\b(?:contexts?(?! is missing)|documents?|passages?)\b", re.IGNORECASE)  # not of vRAG-Eval's 2
NO_DOCUMENTS = "Here no documents are shown: leave out whatever is said of them above."


class CompareAnswers(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Compare two answers to the query, judging them against {standard}, and choose the better one.

    Weigh comprehensiveness, correctness, helpfulness, completeness, accuracy, depth and level of detail. An
    answer is comprehensive if it shows the user several perspectives in addition to the query's, but still
    relevant to its intent. Details count only where they answer the query; an answer with irrelevant details is
    not better for them. Neither the order nor the length of the answers may matter. First explain what each
    answer gets right and how they differ, then choose: a, b, or tie when neither is better, then say how sure
    you are.
    """

    # What both orders of a game share comes first: a provider's cache serves a prompt's beginning.
    dialogue: str = dspy.InputField(
        desc="how long it is: each answer is a whole dialogue, turn by turn; compare what the assistants say in them"
    )
    conversation: str = dspy.InputField(desc="the turns before the query, numbered, each with its role")
    query: str = dspy.InputField(desc="what the user asked")
    contexts: str = dspy.InputField(desc="the retrieved documents, numbered")
    reference: str = dspy.InputField(desc="a correct answer; alternatives are separated by ' | '")
    conversation_a: str = dspy.InputField(desc="the turns before the first answer, numbered, each with its role")
    answer_a: str = dspy.InputField(desc="the first answer")
    conversation_b: str = dspy.InputField(desc="the turns before the second answer, numbered, each with its role")
    answer_b: str = dspy.InputField(desc="the second answer")
    reason: str = dspy.OutputField(desc="what each answer gets right and how they differ, in a few sentences")
    preference: str = dspy.OutputField(desc="the better answer: a, b or tie")
    confidence: int = dspy.OutputField(desc="how sure you are of the choice, 0 (not at all) to 100 (certain)")


def weighing(module: dspy.Module, *, factors: str = "", citations: bool = False) -> dspy.Module:
    """A copy of a preference judge, compiled or not, that weighs other factors, or citations too.

    The factors of the published prompt are replaced; instructions that no longer hold them, because an optimizer
    rewrote them, get a sentence more. What was measured of the judge was measured without this.

    Args:
        module: The judge; it is not changed.
        factors: What to weigh, as it goes on after "Weigh"; empty keeps the judge's own.
        citations: Say that answers cite the documents and that wrong citations are errors.
    """
    copy: dspy.Module = module.deepcopy()
    for predict in copy.predictors():
        text = str(predict.signature.instructions)
        if factors:
            replaced = FACTORS.sub(factors.replace("\\", r"\\"), text)
            text = replaced if replaced != text else f"{text}\n\nWeigh {factors}."
        if citations:
            text = f"{text}\n\n{CITATIONS}"
        predict.signature = predict.signature.with_instructions(text)
    return copy


def without_contexts(module: dspy.Module) -> dspy.Module:
    """A copy of a judge of answers, compiled or not, for those of which no document is shown.

    It neither has the field nor judges against it: what is left to judge against is the reference, or what the model
    knows. Instructions of an optimizer that speak of documents in other words get a sentence more.

    Args:
        module: The judge; it is not changed.
    """
    copy: dspy.Module = module.deepcopy()
    for predict in copy.predictors():
        if "contexts" not in predict.signature.input_fields:
            continue
        text = str(predict.signature.instructions)
        text = text.replace(CITATIONS, "")
        instead = "the reference" if "reference" in predict.signature.input_fields else "what you know"
        text = STANDARD.sub(instead, BOTH_STANDARDS.sub("the reference", text)).strip()
        text = f"{text}\n\n{NO_DOCUMENTS}" if DOCUMENTS.search(text) else text
        bare = predict.signature.delete("contexts").with_instructions(text)
        for name, output in bare.output_fields.items():
            said = str(output.json_schema_extra["desc"])
            told = STANDARD.sub(instead, BOTH_STANDARDS.sub("the reference", said))
            bare = bare if told == said else bare.with_updated_fields(name, desc=told)
        predict.signature = bare
    return copy
