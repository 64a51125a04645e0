"""An exported judge at work: an item as a dict in, a row of ``judgec judge`` out."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from judgec.labels.rows.conversations import judged_row
from judgec.raters.export.asking import AskedPrompt, Complete, PromptModule
from judgec.raters.piece import Piece
from judgec.raters.rater import BothOrders, Rater
from judgec.raters.run import Bound, Run
from judgec.raters.tree import Leaf, Node, SavedTree
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
    def tree(self) -> Node:
        """The judge."""
        return SavedTree.model_validate({"tree": self.state["tree"]}).tree

    @cached_property
    def scale(self) -> Scale:
        """Its grades."""
        return Scale.model_validate(self.state["scale"])

    def grade(self, item: Mapping[str, object], complete: Complete | None = None) -> dict[str, object]:
        """Judge one item.

        Args:
            item: Its fields, such as query, answer, reference, contexts.
            complete: Asks a language model; None for a judge that asks none.

        Raises:
            ValueError: No query, or nobody to ask.
        """
        item = judged_row(dict(item), usual_turn(self.state["reads"]))
        if is_missing(item.get("query")):
            raise ValueError("grade: no query; every item needs one. Fill it in.")
        asked = self._item(item)
        rating = self._bound(complete).rate(Piece((asked.item_id,), (b"",), [asked]))
        while True:  # whoever is asked here answers at once
            try:
                next(rating)
            except StopIteration as done:
                return next(iter(done.value.rows(self.scale)))

    def _bound(self, complete: Complete | None) -> Rater:
        state, aspects = self.state, tuple(self.state["aspects"])

        def opened(_: Leaf) -> Rater:
            asked = state["prompt"]
            forms = tuple((one["placeholders"], one["messages"]) for one in asked["forms"])
            fields = tuple(asked["inputs"]), tuple(asked["outputs"])
            module = PromptModule(*fields, forms, asked.get("verdict"))
            alone = AskedPrompt(module, complete, self.scale, aspects)
            return BothOrders(alone, self.scale) if state["pairs"] else alone

        return Bound(self.tree, Run(self.scale, aspects, opened, state["pairs"], state["checks"]))

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
