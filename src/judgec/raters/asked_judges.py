"""Judges with their models, ready to judge: one alone, or several with a vote each.

Nobody compiled such a jury, so nobody measured it: what its members say is pooled as ``judge --jury`` pools it, and
each member's own judgment is kept beside the joint one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from judgec.errors import UserError
from judgec.lm.executor import Ask
from judgec.raters.agreement import agreement
from judgec.raters.judge import JudgeTree
from judgec.raters.pool import pool
from judgec.raters.predictors import rewritten
from judgec.raters.tasks.preference import without_contexts
from judgec.raters.vote import require_alike
from judgec.records.card import ProgramCard
from judgec.records.judgment import Judgments, concatenate
from judgec.records.label import InputCounts, IntArray, Item


@dataclass(frozen=True)
class AskedJudge:
    """One judge, and the way to its model.

    Args:
        name: For reports.
        judge: Compiled or not.
        ask: Sends requests.
        card: What is known of it; None of a prompt that nobody compiled.
    """

    name: str
    judge: JudgeTree
    ask: Ask
    card: ProgramCard | None = None

    @property
    def reads_contexts(self) -> bool:
        """True if it was made to see passages."""
        return any("contexts" in one.inputs for one in self.judge.prompts)

    def judged(self, items: Sequence[Item], *, one_order: bool = False) -> Judgments:
        """Its judgments; items of whose pool nothing is shown are judged by a prompt that does not speak of contexts.

        Args:
            items: Any number.
            one_order: Of a judge that compares two answers: ask one order only; one made of others asks both.
        """
        bare = [i for i, item in enumerate(items) if item.pool is not None and "contexts" not in item.inputs]
        if not bare or not self.reads_contexts:
            return self.judge.judge(items, self.ask, one_order=one_order)
        shown = sorted({*range(len(items))} - {*bare})
        said = [_without_contexts(self.judge).judge([items[i] for i in bare], self.ask, one_order=one_order)]
        if shown:
            said.append(self.judge.judge([items[i] for i in shown], self.ask, one_order=one_order))
        places = {row: place for place, row in enumerate([*bare, *shown])}
        return concatenate(said).subset([places[row] for row in range(len(items))])


@dataclass(frozen=True)
class AskedJudges:
    """The judges of a run.

    Args:
        members: One at least; several are of one task, with the same aspects and scale.

    Attributes:
        inputs: What the items had that they judged so far.

    Raises:
        UserError: When they are not, or one sits there twice.
    """

    members: tuple[AskedJudge, ...]
    inputs: InputCounts = field(default_factory=InputCounts, init=False)
    _grades: list[IntArray] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        names = [one.name for one in self.members]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UserError(
                f"--judge: {', '.join(twice)} more than once, which would agree with itself; different judges are "
                "valid. Name each once."
            )
        require_alike([(one.name, one.judge) for one in self.members], "--judge")

    @classmethod
    def alone(cls, judge: JudgeTree, ask: Ask) -> Self:
        """One judge, whose name nobody asks for."""
        return cls((AskedJudge("", judge, ask),))

    @property
    def judge(self) -> JudgeTree:
        """The first of them: task, scale and aspects are those of all."""
        return self.members[0].judge

    @property
    def names(self) -> tuple[str, ...]:
        """Of the judges, in order."""
        return tuple(one.name for one in self.members)

    @property
    def reads_contexts(self) -> bool:
        """True if one of them was made to see passages."""
        return any(one.reads_contexts for one in self.members)

    def judged(self, items: Sequence[Item], *, one_order: bool = False) -> tuple[Judgments, dict[str, Judgments]]:
        """The joint judgments, and by name those of each; the second is empty of a judge alone.

        Args:
            items: Any number.
            one_order: As for ``AskedJudge.judged``.
        """
        self.inputs.add(items)
        said = {one.name: one.judged(items, one_order=one_order) for one in self.members}
        voters = list(said.values())
        if len(voters) == 1:
            return voters[0], {}
        self._grades.append(np.array([one.grade.astype(np.int8).ravel() for one in voters]))
        return pool(voters, self.judge.scale, [one.judge.rater.thresholds for one in self.members]), said

    def agreement(self) -> dict[str, object] | None:
        """Agreement of the members on what was judged so far; None of a judge alone."""
        found = agreement(self.names, self._grades, self.judge.scale)
        return None if found is None else {"members": list(self.names), **found}


def _without_contexts(judge: JudgeTree) -> JudgeTree:
    """The judge with prompts for answers of which no document is shown."""
    return judge.with_prompts(lambda one: rewritten(one, judge.scale, without_contexts))
