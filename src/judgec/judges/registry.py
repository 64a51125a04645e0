"""Registers the judges: one visible dict, and plugins of the entry point group ``judgec.judges``."""

from collections.abc import Collection
from importlib.metadata import entry_points
from typing import Protocol

import dspy

from judgec.errors import UserError
from judgec.judges.tasks.answer import answer_judge
from judgec.judges.tasks.grade import grade_judge
from judgec.judges.tasks.preference import preference_judge
from judgec.judges.tasks.rejection import rejection_judge
from judgec.judges.tasks.relevance import relevance_judge
from judgec.judges.tasks.reliability import reliability_judge
from judgec.records.scale import Scale

ENTRY_POINTS = "judgec.judges"


class JudgeBuilder(Protocol):
    """Makes the module of a task.

    The module must have one predictor. Its outputs are ``reason``, a grade per aspect in the order of the
    aspects, and ``confidence``; reason and confidence may be missing.
    """

    def __call__(self, scale: Scale, aspects: tuple[str, ...], fields: Collection[str]) -> dspy.Module:
        """Build it for a scale, the aspects that are graded and the input fields that the items have."""
        ...


JUDGES: dict[str, JudgeBuilder] = {
    "answer": answer_judge,
    "grade": grade_judge,
    "preference": preference_judge,
    "rejection": rejection_judge,
    "relevance": relevance_judge,
    "reliability": reliability_judge,
}


def judge_module(task: str, scale: Scale, aspects: tuple[str, ...], fields: Collection[str]) -> dspy.Module:
    """An uncompiled judge for a task.

    Args:
        task: A key of ``JUDGES`` or the name of a plugin; a plugin cannot replace a built-in judge.
        scale: The grades and what they mean.
        aspects: ``("grade",)`` for tasks with one grade.
        fields: The input fields that at least one item has.

    Raises:
        UserError: When no judge has this name.
    """
    builder = JUDGES.get(task)
    if builder is None:
        plugins = {plugin.name: plugin for plugin in entry_points(group=ENTRY_POINTS)}
        if task not in plugins:
            known = ", ".join(sorted({*JUDGES, *plugins}))
            raise UserError(f"--task: there is no judge for {task!r}; there are {known}. Name one of these.")
        builder = plugins[task].load()
    return builder(scale, aspects, fields)
