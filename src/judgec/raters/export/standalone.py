"""An exported judge at work: an item as a dict in, a row of ``judgec judge`` out."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from judgec.evidence.model import EvidenceModel
from judgec.labels.rows.conversations import judged_row
from judgec.raters.calibrator import Calibrator
from judgec.raters.cascade import Cascade
from judgec.raters.export.asking import AskedPrompt, Complete, PromptModule
from judgec.raters.judge import Binding, CompiledJudge
from judgec.raters.piece import Piece
from judgec.raters.rater import BothOrders, Rater
from judgec.records.conversation import DIALOGUE, usual_turn
from judgec.records.label import Item, Text
from judgec.records.scale import Scale
from judgec.table.rows.cells import as_id, as_text, as_texts, is_missing
from judgec.table.rows.lists import as_list

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
        module = PromptModule(asked["pairs"], *fields, forms, asked.get("checks", ""), asked.get("verdict"))
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
        rating = self._bound(complete).rate(Piece((asked.item_id,), (b"",), [asked]))
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
