"""Asks an exported judge's prompt: filled, read strictly, asked once more as JSON where the reply cannot be read."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.labels.stream.pieces import Piece
from judgec.lm.logprobs import Span, _spread
from judgec.lm.saved_engine import _write, read_prompt  # the reply with its probabilities, before DSPy's types
from judgec.raters.columns import Columns
from judgec.raters.fencing import fence
from judgec.raters.rater import Rating
from judgec.raters.replies.fields import read_form
from judgec.raters.replies.said import UnreadableReplyError
from judgec.records.claim import NUGGETS
from judgec.records.label import FloatArray, Item
from judgec.records.scale import Scale

Messages = list[dict[str, str]]
Complete = Callable[[Messages], str]
"""Sends the turns to a language model and gives its reply."""
Ask = Complete | None
NoPrompt = object
Given = dict[str, FloatArray]


@dataclass(frozen=True)
class PromptModule:
    """The prompt of an exported judge.

    Args:
        pairs: It compares two answers.
        embedded: The judge was saved with the evidence engine, which answers where nobody is given who does.
        inputs: The fields that it reads.
        outputs: The field of each aspect's grade.
        forms: Placeholders and turns of the first attempt and of the second.
        checks: The output that holds what is checked piece by piece, or empty.
    """

    pairs: bool
    embedded: bool
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    forms: tuple[tuple[Mapping[str, str], Sequence[Mapping[str, str]]], ...]
    checks: str = ""

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

    def reply(self, messages: Messages, ask: Ask, scale: Scale) -> tuple[str, Given]:
        """The text of the reply, and the probabilities of each grade where they are known.

        Raises:
            ValueError: There is nobody to ask.
        """
        if ask is not None:
            return ask(messages), {}
        if not self.embedded:
            raise ValueError(
                "grade: complete is missing; this judge asks a language model. Give a function from the list of "
                "messages to the text of the reply."
            )
        system = "".join(turn["content"] for turn in messages if turn["role"] == "system")
        prompt = read_prompt(system, [(one["role"], one["content"]) for one in messages if one["role"] != "system"])
        pieces, given = list(_write(prompt)), Given()
        labels = [str(grade) for grade in scale.grades]
        spreads = [spread for _, spread in pieces if spread]
        for name, spread in zip(self.outputs, spreads, strict=True):
            top = tuple((label, math.log(chance)) for label, chance in spread.items())
            if (found := _spread(Span("", 0.0, top), labels)) is not None:
                given[name] = np.array(found)
        return "".join(text for text, _ in pieces), given


def is_pairwise(module: PromptModule) -> bool:
    """True when the judge compares two answers."""
    return module.pairs


def check_kind(module: PromptModule) -> str:
    """The output that holds what the judge checks piece by piece, or empty."""
    return module.checks


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
        for row, item in enumerate(piece.read()):
            for attempt in range(2):
                try:
                    text, given = self.module.reply(self.module.messages(item, attempt), self.ask, self.scale)
                    verdict = read_form(text, self.module.outputs, self.scale, given, texts=item.everything)
                except UnreadableReplyError as fault:
                    columns.faults[row] = str(fault)
                    if fault.final:
                        break
                    continue
                columns.put(row, verdict)
                break
        return columns.judgments(self.scale, self.aspects, piece.item_ids)
