"""An exported judge at work: an item as a dict in, a row of ``judgec judge`` out."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from judgec.evidence.model import EvidenceModel
from judgec.labels.rows.conversations import judged_row
from judgec.labels.stream.pieces import Piece
from judgec.lm.logprobs import Span, _spread
from judgec.lm.saved_engine import _write, read_prompt  # the reply with its probabilities, before DSPy's types
from judgec.raters.calibrator import Calibrator
from judgec.raters.cascade import Cascade
from judgec.raters.columns import Columns
from judgec.raters.fencing import fence
from judgec.raters.judge import Binding, CompiledJudge
from judgec.raters.rater import BothOrders, Rater, Rating
from judgec.raters.replies.fields import read_form
from judgec.raters.replies.said import UnreadableReplyError
from judgec.records.claim import NUGGETS
from judgec.records.conversation import DIALOGUE, usual_turn
from judgec.records.label import FloatArray, Item, Text
from judgec.records.scale import Scale
from judgec.table.rows.cells import as_id, as_text, as_texts, is_missing
from judgec.table.rows.lists import as_list

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
    """What the judge checks piece by piece: the output that holds it, or empty."""
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


ALTERNATIVES = " | "  # joins several references into one text, as evidence splits them again


class StandaloneJudge:
    """The judge in a folder.

    Args:
        path: Its ``judge.json``.
    """

    def __init__(self, path: Path) -> None:
        self.state: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))  # as the export wrote it

    @cached_property
    def judge(self) -> CompiledJudge:
        """Prompt, evidence and calibration."""
        state, asked = self.state, self.state["prompt"]
        forms = tuple((one["placeholders"], one["messages"]) for one in asked["forms"])
        fields = tuple(asked["inputs"]), tuple(asked["outputs"])
        module = PromptModule(asked["pairs"], asked["embedded"], *fields, forms, asked.get("checks", ""))
        evidence = None if state["evidence"] is None else EvidenceModel.from_json(state["evidence"])
        calibrators = {name: Calibrator.model_validate(one) for name, one in state["calibrators"].items()}
        cascade = None if state["cascade"] is None else Cascade.model_validate(state["cascade"])
        scale = Scale.model_validate(state["scale"])
        return CompiledJudge(
            module=module,
            scale=scale,
            aspects=tuple(state["aspects"]),
            evidence=evidence,
            calibrators=calibrators,
            cascade=cascade,
        )

    def grade(self, item: Mapping[str, object], complete: Complete | None = None) -> dict[str, object]:
        """Judge one item.

        Args:
            item: Its fields, such as query, answer, reference, contexts.
            complete: Asks a language model; None for a judge that asks none.

        Raises:
            ValueError: No query, or nobody to ask.
        """
        item = judged_row(dict(item), usual_turn(self.state["prompt"]["inputs"]))
        if is_missing(item.get("query")):
            raise ValueError("grade: no query; every item needs one. Fill it in.")
        asked = self._item(item)
        rating = self._bound(complete).rate(Piece((asked.item_id,), (b"",), lambda: [asked]))
        while True:  # whoever is asked here answers at once
            try:
                next(rating)
            except StopIteration as done:
                return next(iter(done.value.rows(self.judge.scale)))

    def _bound(self, complete: Complete | None) -> Rater:
        judge = self.judge
        alone = AskedPrompt(judge.module, complete, judge.scale, judge.aspects)
        leaf: Rater = BothOrders(alone, judge.scale) if judge.pairs else alone
        return judge.bound(Binding(lambda _: leaf))

    def _item(self, item: Mapping[str, object]) -> Item:
        inputs: dict[str, Text] = {}
        fields = self.state["fields"]
        for name in (name for name in fields["inputs"] if name in item):
            value = item[name]
            if is_missing(value):
                if name in fields["graded"]:
                    inputs[name] = ""
            elif name in fields["lists"]:
                if texts := as_list(name, value)[0]:
                    inputs[name] = texts
            elif name in fields["graded"] and isinstance(value, list | tuple) and DIALOGUE in item:
                inputs[name] = as_texts(value)[0]  # the turns of a whole dialogue
            elif name in fields["joined"] and isinstance(value, list):
                inputs[name] = ALTERNATIVES.join(as_texts(value)[0])
            else:
                inputs[name] = as_text(value)
        given = item.get("item_id")
        return Item("" if is_missing(given) else as_id(given), "", inputs)
