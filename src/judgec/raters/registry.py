"""Builds the judge of a task: from the task's Signature, or as the function of a plugin builds it."""

from collections.abc import Callable, Collection
from importlib import import_module
from typing import Protocol

import dspy

from judgec.errors import UserError
from judgec.raters.signatures import CONFIDENCE, REASON, REASONS, build, description
from judgec.raters.tasks.papers import PAPERS
from judgec.records.language import ENGLISH
from judgec.records.scale import Scale
from judgec.records.tasks.registry import TASKS, loaded, plugin_names
from judgec.records.tasks.spec import TaskSpec
from judgec.records.tasks.translations import translated

WORDING, PAPER = "wording", "paper"  # of a card's settings


class JudgeBuilder(Protocol):
    """Makes the module of a task that needs more than a Signature.

    The module must have one predictor. Its outputs are ``reason``, a grade per aspect in the order of the
    aspects, and ``confidence``; reason and confidence may be missing.
    """

    def __call__(self, scale: Scale, aspects: tuple[str, ...], fields: Collection[str]) -> dspy.Module:
        """Build it for a scale, the aspects that are graded and the input fields that the items have."""
        ...


def judge_module(
    task: str,
    scale: Scale,
    aspects: tuple[str, ...],
    fields: Collection[str],
    languages: tuple[str, ...] = (ENGLISH,),
    *,
    wording: object = None,
) -> dspy.Module:
    """An uncompiled judge for a task.

    Args:
        task: A task of ``judgec.records.tasks.registry``, or a plugin that builds a judge and nothing else; a plugin
            cannot replace a task of the package.
        scale: The grades and what they mean.
        aspects: ``("grade",)`` for tasks with one grade.
        fields: The input fields that at least one item has.
        languages: Of the labels: reasons are asked for in it, and what the package says of grades is translated. A
            plugin that builds its judge is not told.
        wording: ``PAPER`` for the prompt of the task's paper in its own words, whose rubric is part of it.

    Raises:
        UserError: When no judge has this name, or its Signature cannot be imported.
    """
    spec = TASKS.get(task)
    if spec is None:
        builder = loaded(task)
        if not callable(builder):
            known = ", ".join(sorted({*TASKS, *plugin_names()}))
            raise UserError(f"--task: there is no judge for {task!r}; there are {known}. Name one of these.")
        return builder(scale, aspects, fields)
    found = PAPERS[task] if wording == PAPER else _imported(spec)
    if not isinstance(found, type):
        return found(scale, aspects, fields)
    meanings = {aspect: spec.meanings_of(scale, aspect) for aspect in aspects}
    if len(languages) == 1:
        meanings = {aspect: translated(said, languages[0]) for aspect, said in meanings.items()}
    asked = _asked(spec, found, aspects, scale)
    return build(found, scale, asked, fields, meanings=meanings, languages=languages, whole=wording == PAPER)


def _imported(spec: TaskSpec) -> Callable[..., dspy.Module]:
    """The Signature of a task, or the function that builds its module."""
    module, _, name = spec.signature.partition(":")
    try:
        found: object = getattr(import_module(module), name)
    except (ImportError, AttributeError) as fault:
        found = fault
    if not callable(found):
        raise UserError(
            f"task {spec.name}: signature {spec.signature!r} is not there ({found}); module:name of a "
            "dspy.Signature, or of a function that builds the judge, is valid. Correct the task's declaration."
        )
    return found


def _asked(spec: TaskSpec, signature: type[dspy.Signature], aspects: tuple[str, ...], scale: Scale) -> dict[str, str]:
    """Description of the grade of each aspect."""
    grades = [field for name, field in signature.output_fields.items() if name not in {*REASONS, CONFIDENCE}]
    if len(grades) != 1:
        raise UserError(
            f"task {spec.name}: signature {spec.signature!r} has {len(grades)} outputs besides {REASON} and "
            f"{CONFIDENCE}; one is needed, which stands for all grades. Correct the Signature."
        )
    said = description(grades[0])
    if not spec.by_aspect:
        return dict.fromkeys(aspects, said)
    asked = {aspect: spec.question(aspect, scale) for aspect in aspects}
    return {aspect: f"{aspect}: {text}; {said}" if text else f"{aspect}; {said}" for aspect, text in asked.items()}
