"""``gepa``: instructions rewritten by a reflection model that reads where the judge and the experts part.

``gepa.optimize`` drives; the adapter below judges by ``judges.bulk`` and scores by the exact shares of the objective.
GEPA accepts a rewrite by the sum of the shares on a minibatch of train, ranks it by their mean on dev and keeps whoever
is best on some item: all three are then the corpus statistic.

Source: Agrawal et al. (2025), "GEPA: reflective prompt evolution can outperform reinforcement learning",
arXiv:2507.19457.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gepa
import numpy as np
from dspy.teleprompt.gepa.gepa_utils import DspyAdapter
from gepa import EvaluationBatch

from judgec.compiler.dataset import Part
from judgec.compiler.search.candidates import UNCOMPILED, Candidate, first_predictor, split_rubric
from judgec.compiler.search.task import Effort, Sizes, Task
from judgec.errors import BudgetError, ServiceError
from judgec.judges.signatures import REASON, fenced_inputs, grade_fields
from judgec.records.judgment import Judgments
from judgec.records.label import IntArray

ROUNDS = 10  # rewrites tried where the budget has room for them
MINIBATCH = 16  # train items a rewrite is written from: a rank correlation of fewer is noise
KEPT = 4  # rewrites handed over, the best on dev
MAX_INVERSIONS = 3  # pairs in the wrong order that are named for one item
PERFECT = 1e9  # no score is perfect: a share may exceed 1

Inputs = tuple[Part, int]
"""What GEPA calls a data instance: a part and the position of an item in it."""
Texts = dict[str, str]
"""What GEPA calls a candidate: the instructions of each predictor, here without the rubric."""


@dataclass(frozen=True, slots=True)
class Gepa:
    """The optimizer ``gepa``."""

    needs_reflection: bool = True

    def effort(self, sizes: Sizes) -> Effort:
        """As many rounds as fit: each judges a minibatch twice and, when it was accepted, the valued part of dev."""
        most = [self._effort(sizes, rounds) for rounds in range(ROUNDS, 0, -1)]
        return next((effort for effort in most if sizes.fits(effort)), Effort(0, 0, 0))

    def search(self, task: Task) -> Sequence[Candidate]:
        """Rewritten instructions for the uncompiled judge."""
        return self.improve(task, Candidate(UNCOMPILED, task.module))

    def improve(self, task: Task, start: Candidate) -> Sequence[Candidate]:
        """Rewritten instructions for a prompt, which keeps its demonstrations.

        Raises:
            ServiceError: When the LM cannot be reached. A cap only ends the search.
        """
        effort = self.effort(task.sizes())
        pool, valued = task.pool(), task.valued()
        if not effort.candidates or not len(pool):
            return []
        adapter = ShareAdapter(task, start)
        seed_texts = {name: split_rubric(p.signature.instructions)[0] for name, p in start.module.named_predictors()}
        try:
            gepa.optimize(
                seed_candidate=seed_texts,
                trainset=[(pool, i) for i in range(len(pool))],
                valset=[(valued, i) for i in range(len(valued))],
                adapter=adapter,
                reflection_minibatch_size=min(MINIBATCH, len(pool)),
                skip_perfect_score=False,
                perfect_score=PERFECT,
                max_metric_calls=effort.judgments,
                stop_callbacks=[lambda _: adapter.stopped is not None or adapter.rounds >= effort.reflections],
                logger=_Quiet(),
                seed=task.seed,
            )
        except BudgetError as error:
            adapter.stopped = error
        if isinstance(adapter.stopped, BudgetError):
            task.watch.note(f"gepa stopped early: {adapter.stopped}")
        elif adapter.stopped is not None:
            raise adapter.stopped
        return adapter.candidates(valued)

    @staticmethod
    def _effort(sizes: Sizes, rounds: int) -> Effort:
        per_round = 2 * min(MINIBATCH, sizes.pool) + sizes.valued
        return Effort(sizes.valued + rounds * per_round, rounds, min(KEPT, rounds))


class ShareAdapter(DspyAdapter):  # type: ignore[misc]  # DSPy's classes are untyped
    """GEPA's view of a judge: scores are the shares of the objective, feedback is what the experts said.

    Args:
        task: The search.
        start: The prompt whose instructions are rewritten.

    Attributes:
        stopped: Why nothing more is asked, or None.
        rounds: Rewrites asked for so far.
    """

    def __init__(self, task: Task, start: Candidate) -> None:
        super().__init__(
            student_module=start.module,
            metric_fn=_unused,
            feedback_map={},
            rng=random.Random(task.seed),
            reflection_lm=task.reflection,
        )
        self.stopped: ServiceError | None = None
        self.rounds = 0
        self._task = task
        self._start = start
        self._rubric = {name: split_rubric(p.signature.instructions)[1] for name, p in start.module.named_predictors()}
        self._valued: list[tuple[float, Texts]] = []  # the prompts valued on dev, the start first

    def build_program(self, candidate: Texts) -> Any:  # DSPy's modules are untyped
        """The judge with these instructions above its rubric."""
        return super().build_program({name: text + self._rubric[name] for name, text in candidate.items()})

    def evaluate(
        self,
        batch: Sequence[Inputs],
        candidate: Texts,
        capture_traces: bool = False,
        num_threads: int | None = None,  # noqa: ARG002 - the executor runs many calls at once
    ) -> EvaluationBatch:
        """Judge a batch; the mean of its scores is the objective on it, whatever could not be scored."""
        part = batch[0][0].rows([i for _, i in batch])
        try:
            judgments = self._task.judge(self.build_program(candidate), part)
        except ServiceError as error:
            self.stopped = error
            raise
        if part.name == self._task.dev.name:
            self._valued.append((self._task.value(part, judgments), dict(candidate)))
            capture_traces = False  # GEPA may ask for them, but nothing is written from dev
        notes = lessons(self._task, part, judgments) if capture_traces else None
        scores = [float(share) for share in self._task.item_shares(part, judgments)]
        return EvaluationBatch(outputs=list(judgments.rationale), scores=scores, trajectories=notes)

    def batch_evaluate(
        self, items: Sequence[tuple[Texts, Sequence[Inputs]]], *, capture_traces: bool = True
    ) -> list[EvaluationBatch]:
        """One after the other: the order of calls is then the same in every run."""
        return [self.evaluate(batch, candidate, capture_traces) for candidate, batch in items]

    def make_reflective_dataset(
        self,
        candidate: Texts,  # noqa: ARG002 - GEPA's signature
        eval_batch: EvaluationBatch,
        components_to_update: list[str],
    ) -> dict[str, list[Mapping[str, object]]]:
        """What the reflection model reads: inputs as fenced in the judge's prompt, verdict, feedback."""
        return {name: list(eval_batch.trajectories) for name in components_to_update}

    def propose_new_texts(
        self,
        candidate: Texts,
        reflective_dataset: dict[str, list[dict[str, Any]]],  # as DSPy types it
        components_to_update: list[str],
    ) -> Texts:
        """Ask the reflection model; GEPA goes on to the next minibatch when its reply cannot be read."""
        self.rounds += 1
        try:
            texts: Texts = super().propose_new_texts(candidate, reflective_dataset, components_to_update)
        except ServiceError as error:
            self.stopped = error
            raise
        return {name: split_rubric(text)[0] for name, text in texts.items()}

    def candidates(self, valued: Part) -> list[Candidate]:
        """The best rewrites that were valued on all of ``valued``, best first; the start is not among them."""
        base, *rewritten = self._valued or [(0.0, {})]
        reflected = tuple(sorted({item.query_id for item in self._task.pool().items}))
        unique = {tuple(sorted(texts.items())): (value, texts) for value, texts in rewritten if texts != base[1]}
        best = sorted(unique.values(), key=lambda found: -found[0])[:KEPT]
        return [
            replace(
                self._start,
                name=f"gepa-{number}",
                module=self.build_program(texts),
                reflected=reflected,
                settings={
                    **self._start.settings,
                    "instructions": "gepa",
                    "start": self._start.name,
                    "valued": len(valued),
                },
            )
            for number, (_, texts) in enumerate(best, 1)
        ]


def lessons(task: Task, part: Part, judgments: Judgments) -> list[dict[str, object]]:
    """For each item what the judge was shown, what it said and what the experts say to that."""
    predict = first_predictor(task.module)
    expert, judge = task.expert(part), task.said(judgments)
    told = []
    for i, item in enumerate(part.items):
        given: dict[str, object] = {REASON: judgments.rationale[i]}
        given |= {name: _shown(task, judge[i, j]) for j, name in enumerate(grade_fields(predict))}
        told.append(
            {
                "Example": i + 1,
                "Inputs": fenced_inputs(predict, item),
                "Generated Outputs": given,
                "Feedback": _feedback(task, part, judgments, expert, judge, i),
            }
        )
    return told


def _feedback(task: Task, part: Part, judgments: Judgments, expert: IntArray, judge: IntArray, i: int) -> str:
    said = []
    for j, name in enumerate(grade_fields(first_predictor(task.module))):
        e, y = int(expert[i, j]), int(judge[i, j])
        if e < 0:
            continue
        if y < 0:
            said.append(
                f"{name}: the experts gave {_shown(task, e)}; no grade could be read ({judgments.unscored[i]})."
            )
            continue
        said.append(f"{name}: the experts gave {_shown(task, e)}, the judge {_shown(task, y)}{_error(task, e, y)}.")
        if task.scale.level == "ordinal":
            said += [f"{name}: {wrong}" for wrong in _inversions(task, expert[:, j], judge[:, j], i)]
    if part.rationale(i):
        said.append(f"An expert's reason: {part.rationale(i)}")
    return "\n".join(said) or "Nobody graded this one."


def _error(task: Task, e: int, y: int) -> str:
    """How far the judge is off, with its sign, in grades of the scale."""
    if e == y:
        return ": the same"
    if task.scale.level == "nominal":
        return ": wrong"
    step = abs(task.scale.values[y] - task.scale.values[e])
    return f": {step:g} too {'high' if y > e else 'low'}"


def _inversions(task: Task, expert: IntArray, judge: IntArray, i: int) -> list[str]:
    """The neighbours of item ``i`` that the judge puts on the wrong side of it, the plainest first."""
    ours, theirs = np.sign(expert[i] - expert), np.sign(judge[i] - judge)
    wrong = np.flatnonzero((expert >= 0) & (judge >= 0) & (ours * theirs < 0))
    worst = sorted(wrong, key=lambda k: (-abs(int(expert[i] - expert[k])), k))[:MAX_INVERSIONS]
    return [
        f"the judge puts this {'below' if theirs[k] < 0 else 'above'} example {k + 1}; the experts, who gave that one "
        f"{_shown(task, int(expert[k]))}, put it {'above' if ours[k] > 0 else 'below'}."
        for k in worst
    ]


def _shown(task: Task, position: int) -> str:
    return "nothing" if position < 0 else str(task.scale.grades[position])


def _unused(*_: object) -> float:
    raise AssertionError("judges are scored as a set, by ShareAdapter.evaluate")


class _Quiet:
    """GEPA's log."""

    def log(self, message: str) -> None:
        """Nothing is shown: the watch says what matters."""
