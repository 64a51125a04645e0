"""Better instructions for a query generator, written by a language model from what was rejected."""

from collections.abc import Sequence

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
    rejected: str = dspy.InputField(desc=f"questions that it wrote and why they were rejected, numbered ({QUOTED})")
    accepted: str = dspy.InputField(desc=f"questions that were accepted, numbered ({QUOTED})")
    experts: str = dspy.InputField(desc=f"questions of the experts, numbered ({QUOTED})")
    better_instructions: str = dspy.OutputField(desc="the new instructions alone")


def improved(
    instructions: str,
    rejected: Sequence[str],
    accepted: Sequence[str],
    experts: Sequence[str],
    ask: Ask,
    *,
    rollout: int,
) -> str:
    """New instructions, or an empty text where the model gave none."""
    inputs = {
        "told": instructions,
        "rejected": fence("rejected", tuple(rejected)),
        "accepted": fence("accepted", tuple(accepted)),
        "experts": fence("experts", tuple(experts)),
    }
    (reply,) = ask_fields(dspy.Predict(ImproveInstructions), [inputs], ask, rollout=rollout)
    return "" if isinstance(reply, str) else reply["better_instructions"].strip()
