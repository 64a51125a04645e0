"""Labels as chat: the judge's prompt for an item, and the reply that the experts' grade and reason make."""

import re
from collections.abc import Mapping, Sequence

import dspy
import numpy as np

from judgec.lm.adapters import adapter_of
from judgec.raters.fencing import spoken
from judgec.raters.signatures import CONFIDENCE, fenced_inputs, grade_fields, reason_field
from judgec.records.label import Item
from judgec.records.scale import Scale

Turn = Mapping[str, str]
SURE = re.compile(r",\s+then\s+(?:say\s+)?how\s+sure\s+you\s+are(?:\s+of\s+(?:it|them))?(?=\.)")


class TaughtPrompt:
    """The prompt of a judge as it is learned from labels: without demonstrations, and without a confidence, which no
    expert states.

    Args:
        module: Of the judge.
        scale: Its scale.
    """

    def __init__(self, module: dspy.Module, scale: Scale) -> None:
        (predict,) = module.predictors()
        said = SURE.sub("", str(predict.signature.instructions))
        signature = predict.signature.with_instructions(said).delete(CONFIDENCE)
        self._names, self._reason, self._scale = grade_fields(predict), reason_field(predict), scale
        self._asking = {True: dspy.Predict(signature), False: dspy.Predict(signature.delete(self._reason))}
        self._adapter = adapter_of(predict)

    def asked(self, item: Item, *, reasoned: bool) -> list[Turn]:
        """Messages that are sent for an item: the instructions, then its texts.

        Args:
            item: What is graded.
            reasoned: A reason is asked for.
        """
        predict = self._asking[reasoned]
        turns: list[Turn] = self._adapter.format(predict.signature, [], fenced_inputs(predict, item))
        return turns

    def reply(self, positions: Sequence[int], reason: str) -> Turn:
        """Answer of a model that grades so; of an empty reason the grades alone.

        Args:
            positions: The grade of each aspect, as positions on the scale.
            reason: Why.
        """
        reason = spoken(reason)
        said: dict[str, object] = {self._reason: reason} if reason else {}
        said |= {name: self._scale.grades[at] for name, at in zip(self._names, positions, strict=True)}
        signature = self._asking[bool(reason)].signature
        return {"role": "assistant", "content": self._adapter.format_assistant_message_content(signature, said)}

    def other(self, positions: Sequence[int], rng: np.random.Generator) -> tuple[int, ...]:
        """Grades that are wrong by one aspect: by one step where grades have an order, else by any.

        Args:
            positions: The right ones.
            rng: Draws the aspect and the grade.
        """
        wrong, n = list(positions), len(self._scale.grades)
        at = int(rng.integers(len(wrong)))
        steps = range(n) if self._scale.level == "nominal" else (wrong[at] - 1, wrong[at] + 1)
        wrong[at] = int(rng.choice([one for one in steps if 0 <= one < n and one != wrong[at]]))
        return tuple(wrong)
