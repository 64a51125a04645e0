"""A judge's signature and prompts for the tests of the LM layer."""

from typing import Literal

import dspy

from judgec.lm.executor import Request
from judgec.lm.frozen import freeze


class GradeAnswer(dspy.Signature):  # type: ignore[misc]  # DSPy's classes are untyped
    """Grade the answer to the query.

    Grades: 1 is the worst and 5 the best.
    """

    query: str = dspy.InputField()
    answer: str = dspy.InputField(desc="the answer to grade")
    contexts: str = dspy.InputField(desc="what it should rest on")
    reason: str = dspy.OutputField(desc="one sentence")
    grade: Literal[1, 2, 3, 4, 5] = dspy.OutputField()
    confidence: int = dspy.OutputField(desc="0 (not at all) to 100 (certain)")


REPLY = """[[ ## reason ## ]]
Because.

[[ ## grade ## ]]
4

[[ ## confidence ## ]]
80

[[ ## completed ## ]]
"""


def item(number: int) -> dict[str, object]:
    return {
        "query": f"How tall is tower {number}?",
        "answer": f"It is {number} metres tall.",
        "contexts": f"Tower {number} is {number + number % 2} metres tall.",
    }


def requests(count: int, *, rollout: int | None = None) -> list[Request]:
    frozen = freeze(dspy.Predict(GradeAnswer), [item(0)])
    return [Request(number, frozen.messages(item(number)), rollout) for number in range(count)]
