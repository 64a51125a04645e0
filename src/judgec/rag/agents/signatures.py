"""The prompts of RAG agents."""

import dspy

from judgec.rag.agents.answer import REFUSAL
from judgec.raters.signatures import QUOTED
from judgec.records.counts import plural

CITING = "End each sentence with the numbers of the passages that support it, like [1] or [1][3]."


class WriteVariations(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Write {count} further search queries that find what the query needs.

    Say the need in other words, in the words that a document would use, and in its parts. Each query stands alone:
    keep names, models and figures, and answer nothing.
    """

    query: str = dspy.InputField(desc=f"what the user asked ({QUOTED})")
    passages: str = dspy.InputField(desc=f"what a first search found, for its vocabulary ({QUOTED})")
    queries: str = dspy.OutputField(desc="{count} search queries, one a line, without numbers or quotes")


class GradePassages(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Grade each passage by whether it helps to answer the query.

    2: it holds the answer, or a part of it. 1: it is about the matter and lacks the answer. 0: it is about another.
    """

    query: str = dspy.InputField(desc=f"what the user asked ({QUOTED})")
    passages: str = dspy.InputField(desc=f"what was found, numbered, best first ({QUOTED})")
    grades: str = dspy.OutputField(desc="0, 1 or 2 for each passage, in their order, one a line, and nothing else")


class AnswerFromPassages(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Answer the query from the passages alone.

    Give what was asked, with its conditions and units, and nothing else. {citing}Where the passages do not hold the
    answer, reply with this sentence and nothing else: {refusal}
    """

    query: str = dspy.InputField(desc=f"what the user asked ({QUOTED})")
    passages: str = dspy.InputField(desc=f"what was found, numbered, best first ({QUOTED})")
    answer: str = dspy.OutputField(desc="the answer alone")


def variations_predictor(count: int, persona: str, *, feedback: bool) -> dspy.Predict:
    """Writes ``count`` queries.

    Args:
        count: How many.
        persona: Who the agent is to be, as an instruction; empty for nobody.
        feedback: Whether it is shown what a first search found.
    """
    signature = WriteVariations if feedback else WriteVariations.delete("passages")
    instructions = _instructions(WriteVariations, persona).replace("{count}", str(count))
    desc = f"{plural(count, 'search query')}, one a line, without numbers or quotes"
    return dspy.Predict(signature.with_instructions(instructions).with_updated_fields("queries", desc=desc))


def passage_grader(persona: str) -> dspy.Predict:
    """Grades passages 0, 1 or 2.

    Args:
        persona: Who the agent is to be, as an instruction; empty for nobody.
    """
    return dspy.Predict(GradePassages.with_instructions(_instructions(GradePassages, persona)))


def answer_predictor(persona: str, *, citations: bool) -> dspy.Predict:
    """Answers from passages.

    Args:
        persona: As above.
        citations: Whether sentences name the passages that support them.
    """
    instructions = _instructions(AnswerFromPassages, persona)
    instructions = instructions.replace("{citing}", f"{CITING} " if citations else "").replace("{refusal}", REFUSAL)
    return dspy.Predict(AnswerFromPassages.with_instructions(instructions))


def _instructions(signature: type[dspy.Signature], persona: str) -> str:
    said = persona.strip().rstrip(".")
    lead = f"{said[0].upper()}{said[1:]}.\n\n" if said else ""
    return f"{lead}{signature.instructions}"
