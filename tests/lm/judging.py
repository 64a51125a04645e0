"""A judge's signature and prompts for the tests of the LM layer."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import dspy

from judgec.lm.backend import Retries
from judgec.lm.client import open_lm
from judgec.lm.executor import Request
from judgec.lm.frozen import freeze
from judgec.lm.journal.journal import Journal
from judgec.lm.max_wait import MaxWait
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage


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


KEYS = MappingProxyType({"OPENAI_API_KEY": "sk-1"})
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


def connected(
    url: str,
    *,
    model: str = "openai/x",
    timeout: float = 60.0,
    journal: Journal | None = None,
    budget: Budget | None = None,
    usage: Usage | None = None,
    retries: Retries | None = None,
    max_wait: MaxWait | None = None,
    environ: Mapping[str, str] = KEYS,
) -> dspy.LM:
    """An LM at this address."""
    retries = retries or Retries(first_seconds=0.01, attempts=8)
    spec, budget, usage = LMSpec.parse(model, api_base=url, timeout=timeout), budget or Budget(), usage or Usage()
    return open_lm(
        spec, journal=journal, budget=budget, usage=usage, retries=retries, max_wait=max_wait, environ=environ
    )
