"""``gepa``: instructions rewritten by a reflection model that reads where the judge and the experts part.

``gepa.optimize`` drives; the adapter below judges by ``raters.prompt`` and scores by the exact shares of the objective.
GEPA accepts a rewrite by the sum of the shares on a minibatch of train, ranks it by their mean on dev and keeps whoever
is best on some item: all three are then the corpus statistic.

Source: Agrawal et al. (2025), "GEPA: reflective prompt evolution can outperform reinforcement learning",
arXiv:2507.19457.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judgec.compile.dataset import Part
from judgec.compile.gepa_driver import FEEDBACK, ProgramTrial, ReflectiveAdapter, Texts, reply_fields
from judgec.compile.search.candidates import UNCOMPILED, Candidate, first_predictor, split_rubric
from judgec.compile.search.race import FINALISTS
from judgec.compile.search.task import Effort, Sizes, Task, orders_of
from judgec.raters.pairwise import EXCHANGED
from judgec.raters.signatures import fenced_inputs, grade_fields, reason_field
from judgec.records.consensus import settled
from judgec.records.counts import plural
from judgec.records.judgment import Judgments
from judgec.records.label import IntArray

ROUNDS, IDLE = 24, 8  # most rewrites tried; so many in a row without a better one on dev are the last
MINIBATCH = 16  # train items a rewrite is written from: a rank correlation of fewer is noise
KEPT = 4  # rewrites handed over, the best on dev
MAX_INVERSIONS = 3  # pairs in the wrong order that are named for one item
MAX_REASONS = 3  # of experts, for one item

Inputs = tuple[Part, int]
"""What GEPA calls a data instance: a part and the position of an item in it."""


@dataclass(frozen=True, slots=True)
class Gepa:
    """The optimizer ``gepa``."""

    needs_reflection: bool = True

    def effort(self, sizes: Sizes) -> Effort:
        """Each round judges a minibatch twice and, when it was accepted, the valued part of dev."""
        return Effort(sizes.valued + ROUNDS * _round(sizes), ROUNDS, KEPT, demonstrates=False)

    def search(self, task: Task) -> Sequence[Candidate]:
        """Rewritten instructions for the uncompiled judge."""
        return self.improve(task, Candidate(UNCOMPILED, task.module))

    def improve(self, task: Task, start: Candidate, beside: int = 0) -> Sequence[Candidate]:
        """Rewritten instructions for a prompt, which keeps its demonstrations, in what the caps leave.

        Args:
            task: The search.
            start: The prompt.
            beside: Candidates that the last race holds besides.

        Raises:
            ServiceError: When the LM cannot be reached. A cap only ends the search.
        """
        sizes, pool, valued = task.sizes(), task.pool(), task.valued()
        last = sizes.slices[-1]
        kept_back = (FINALISTS + 1) * (last - sizes.valued) + beside * (last - sizes.slices[0])
        needed = _round(sizes) + 1 + kept_back
        first = needed + (0 if start.name == UNCOMPILED else sizes.valued)
        if not len(pool):
            return []
        if task.left() < first:
            task.watch.note(
                f"gepa: no reflection, because the caps leave {task.left():.0f} judgments and a rewrite takes {first}"
            )
            return []
        adapter = ShareAdapter(task, start)
        best = adapter.best_rewrites(
            {name: split_rubric(p.signature.instructions)[0] for name, p in start.module.named_predictors()},
            [(pool, i) for i in range(len(pool))],
            [(valued, i) for i in range(len(valued))],
            minibatch=MINIBATCH,
            rounds=ROUNDS,
            idle=IDLE,
            fits=lambda: task.left() >= needed,
            keep=KEPT,
            watch=task.watch,
        )
        if task.left() < needed and adapter.left:
            task.watch.note(
                f"gepa: the caps ended the search after {plural(ROUNDS - adapter.left, 'rewrite')}; "
                f"{adapter.left * (orders_of(task.module) * _round(sizes) + 1):,} more calls would be for up to "
                f"{adapter.left} more"
            )
        settings = {**start.settings, "instructions": "gepa", "start": start.name, "valued": len(valued)}
        reflected = tuple(sorted({item.query_id for item in pool.items}))
        return [
            replace(
                start,
                name=f"gepa-{number}",
                module=adapter.build_program(texts),
                reflected=reflected,
                settings=settings,
            )
            for number, texts in enumerate(best, 1)
        ]


def _round(sizes: Sizes) -> int:
    """The most judgments of a rewrite: a minibatch before and after it, and the valued part of dev."""
    return 2 * min(MINIBATCH, sizes.pool) + sizes.valued


class ShareAdapter(ReflectiveAdapter[Inputs, Mapping[str, object]]):
    """GEPA's view of a judge: scores are the shares of the objective, feedback is what the experts said.

    Args:
        task: The search.
        start: The prompt whose instructions are rewritten; its rubric is no part of the texts.
    """

    experts = True

    def __init__(self, task: Task, start: Candidate) -> None:
        super().__init__(start.module, task.reflection, task.seed)
        self._task = task
        self._rubric = {name: split_rubric(p.signature.instructions)[1] for name, p in start.module.named_predictors()}

    def build_program(self, candidate: Texts) -> Any:  # DSPy's modules are untyped
        """The judge with these instructions above its rubric."""
        return super().build_program({name: text + self._rubric[name] for name, text in candidate.items()})

    def trial(
        self, program: Any, batch: Sequence[Inputs]
    ) -> ProgramTrial[Mapping[str, object]]:  # DSPy's modules are untyped
        """Judge a batch; the mean of its scores is the objective on it, whatever could not be scored."""
        part = batch[0][0].rows([i for _, i in batch])
        judgments = self._task.judge(program, part)
        return ProgramTrial(
            judgments.rationale,
            [float(share) for share in self._task.item_shares(part, judgments)],
            self._task.value(part, judgments) if part.name == self._task.dev.name else None,
            lambda: lessons(self._task, part, judgments),
        )

    def fixed(self, name: str) -> str:
        """The fields of the judge's reply, and its rubric."""
        return reply_fields(first_predictor(self._task.module)) + self._rubric[name]

    def kept(self, name: str, text: str) -> str:  # noqa: ARG002 - the same for all
        """The rewrite without a rubric of its own: the judge's is put back under it."""
        return split_rubric(text)[0]

    def lesson(self, name: str, trace: Mapping[str, object]) -> Mapping[str, object]:  # noqa: ARG002 - the same for all
        """Inputs as fenced in the judge's prompt, verdict, feedback: one of ``lessons``."""
        return trace


def lessons(task: Task, part: Part, judgments: Judgments) -> list[Mapping[str, object]]:
    """For each item what the judge was shown, what it said and what the experts say to that."""
    predict = first_predictor(task.module)
    expert, judge = task.expert(part), task.said(judgments)
    told: list[Mapping[str, object]] = []
    for i, item in enumerate(part.items):
        reason, _, exchanged = judgments.rationale[i].partition(EXCHANGED)
        given: dict[str, object] = {reason_field(predict): reason}
        given |= {f"{reason_field(predict)}, with the answers exchanged": exchanged} if exchanged else {}
        given |= {name: _shown(task, judge[i, j]) for j, name in enumerate(grade_fields(predict))}
        told.append(
            {
                "Example": i + 1,
                "Inputs": fenced_inputs(predict, item),
                "Generated Outputs": given,
                FEEDBACK: _feedback(task, part, judgments, expert, judge, i),
            }
        )
    return told


def _feedback(task: Task, part: Part, judgments: Judgments, expert: IntArray, judge: IntArray, i: int) -> str:
    said = []
    for j, name in enumerate(grade_fields(first_predictor(task.module))):
        tied, y = expert[i, j][expert[i, j] >= 0].tolist(), int(judge[i, j])
        if not tied:
            continue
        gave = " or ".join(_shown(task, e) for e in tied)
        if y < 0:
            said.append(f"{name}: the experts gave {gave}; no grade could be read ({judgments.unscored[i]}).")
            continue
        said.append(f"{name}: the experts gave {gave}, the assistant {_shown(task, y)}{_error(task, tied, y)}.")
        if task.scale.level == "ordinal" and len(tied) == 1:
            said += [f"{name}: {wrong}" for wrong in _inversions(task, settled(expert[:, j]), judge[:, j], i)]
    if judgments.flipped is not None and judgments.flipped[i]:
        said.append("With the answers exchanged the assistant chose otherwise, which counts as a tie.")
    for label in part.reasoned(i)[:MAX_REASONS]:
        gave = ", ".join(f"{name} {_shown(task, grade)}" for name, grade in label.grades.items())
        whose = "An expert's reason" if part.agrees(label, i) else f"The reason of an expert who gave {gave}"
        said.append(f"{whose}: {label.rationale}")
    return "\n".join(said) or "Nobody graded this one."


def _error(task: Task, tied: Sequence[int], y: int) -> str:
    """Signed error of the judge, in grades of the scale, from the nearest grade of the experts."""
    if y in tied:
        return ": the same" if len(tied) == 1 else ": one of these"
    if task.scale.level == "nominal":
        return ": wrong"
    e = min(tied, key=lambda one: abs(one - y))
    step = abs(task.scale.values[y] - task.scale.values[e])
    return f": {step:g} too {'high' if y > e else 'low'}"


def _inversions(task: Task, expert: IntArray, judge: IntArray, i: int) -> list[str]:
    """The neighbours of item ``i`` that the judge puts on the wrong side of it, the plainest first."""
    ours, theirs = np.sign(expert[i] - expert), np.sign(judge[i] - judge)
    wrong = np.flatnonzero((expert >= 0) & (judge >= 0) & (ours * theirs < 0))
    worst = sorted(wrong, key=lambda k: (-abs(int(expert[i] - expert[k])), k))[:MAX_INVERSIONS]
    return [
        f"the assistant puts this {'below' if theirs[k] < 0 else 'above'} example {k + 1}; the experts, who gave "
        f"that one {_shown(task, int(expert[k]))}, put it {'above' if ours[k] > 0 else 'below'}."
        for k in worst
    ]


def _shown(task: Task, position: int) -> str:
    return "nothing" if position < 0 else str(task.scale.grades[position])
