"""Better instructions for a query generator, written by a language model from what was rejected."""

from collections.abc import Mapping

import dspy

from judgec.lm.executor import Ask
from judgec.rag.queries.asking import ask_fields
from judgec.raters.fencing import fence
from judgec.raters.signatures import QUOTED


class ImproveInstructions(dspy.Signature):  # type: ignore[misc]  # dspy ships no types
    """Rewrite the instructions of a question writer so that fewer of its questions are rejected.

    Say what it must do and avoid in general; name no question, passage or product of the examples. Keep that it asks
    as the experts do, that questions are understood without the passage, and that the passage answers them.
    """

    told: str = dspy.InputField(desc="what the writer is told now")
    rejected: str = dspy.InputField(
        desc=f"passages, numbered, each with the questions that it wrote of it and why they were rejected ({QUOTED})"
    )
    accepted: str = dspy.InputField(desc=f"questions that were accepted, numbered ({QUOTED})")
    experts: str = dspy.InputField(desc=f"questions of the experts, numbered ({QUOTED})")
    repeated: str = dspy.InputField(
        desc=f"words of an example that an earlier rewrite repeated: say in general what they stand for ({QUOTED})"
    )
    better_instructions: str = dspy.OutputField(desc="the new instructions alone")


def improved(given: Mapping[str, str], ask: Ask, rollout: int, repeated: str) -> str:
    """New instructions, or an empty text where the model gave none.

    Args:
        given: What the prompt reads, but for ``repeated``.
        ask: The way to the model.
        rollout: Tells one rewrite from another.
        repeated: What an attempt before repeats of an example, or an empty text.
    """
    predict = dspy.Predict(ImproveInstructions if repeated else ImproveInstructions.delete("repeated"))
    (reply,) = ask_fields(predict, [{**given, "repeated": fence("repeated", repeated)}], ask, rollout=rollout)
    return "" if isinstance(reply, str) else reply["better_instructions"].strip()
