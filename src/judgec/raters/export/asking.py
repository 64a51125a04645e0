"""Asks an exported judge's prompt: filled, read strictly, asked once more as JSON where the reply cannot be read."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from judgec.raters.columns import Columns
from judgec.raters.fencing import fence
from judgec.raters.piece import Piece
from judgec.raters.rater import Rating
from judgec.raters.replies.fields import Verdict, read_form
from judgec.raters.replies.said import UnreadableReplyError
from judgec.records.claim import NUGGETS
from judgec.records.label import Item
from judgec.records.scale import Scale

Messages = list[dict[str, str]]
Complete = Callable[[Messages], str]
"""Sends the turns to a language model and gives its reply."""
Ask = Complete | None


@dataclass(frozen=True)
class PromptModule:
    """The prompt of an exported judge.

    Args:
        inputs: The fields that it reads.
        outputs: The field of each aspect's grade.
        forms: Placeholders and turns of the first attempt and of the second.
        verdict: The form of a verdict that the first prompt asks for by itself, or None.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    forms: tuple[tuple[Mapping[str, str], Sequence[Mapping[str, str]]], ...]
    verdict: str | None = None

    def messages(self, item: Item, attempt: int) -> Messages:
        """The turns for an item."""
        placeholders, turns = self.forms[min(attempt, len(self.forms) - 1)]
        texts = {
            placeholders[name]: fence(
                name, item.texts(name) if name in {"contexts", NUGGETS} else item.inputs.get(name, "")
            )
            for name in self.inputs
        }
        places = re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True))))
        return [
            {"role": turn["role"], "content": places.sub(lambda found: texts[found[0]], turn["content"])}
            for turn in turns
        ]


@dataclass(frozen=True)
class AskedPrompt:
    """A prompt as a rater; one without a readable reply in two attempts leaves an item unscored, with the reason.

    Args:
        module: The prompt.
        ask: Sends the turns.
        scale: The grades.
        aspects: What is graded.
    """

    module: PromptModule
    ask: Ask
    scale: Scale
    aspects: tuple[str, ...]

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        yield from ()
        columns = Columns.empty(len(piece.item_ids), len(self.aspects), len(self.scale.grades))
        if self.ask is None:
            raise ValueError(
                "grade: complete is missing; this judge asks a language model. Give a function from the list of "
                "messages to the text of the reply."
            )
        for row, item in enumerate(piece.items):
            for attempt in range(2):
                try:
                    text = self.ask(self.module.messages(item, attempt))
                    verdict = self._read(text, item, attempt)
                except UnreadableReplyError as fault:
                    columns.faults[row] = str(fault)
                    if fault.final:
                        break
                    continue
                columns.put(row, verdict)
                break
        return columns.judgments(self.scale, self.aspects, piece.item_ids)

    def _read(self, text: str, item: Item, attempt: int) -> Verdict:
        form = None if attempt else self.module.verdict
        return read_form(text, self.module.outputs, self.scale, {}, texts=item.everything, form=form)
