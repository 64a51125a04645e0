"""``mipro``: DSPy's MIPROv2, which combines proposed instructions with sets of demonstrations by Bayesian search.

Its demonstrations are ours (stratified, fenced, of known queries, at no call) and each trial is valued by the
objective on the same items of dev; the race does the rest.

Source: Opsahl-Ong et al. (2024), "Optimizing instructions and demonstrations for multi-stage language model
programs", EMNLP; Akiba et al. (2019), KDD, for Optuna.
"""

import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

import dspy
from dspy.teleprompt.mipro_optimizer_v2 import MIPROv2

from judgec.compile.quotations import dropped, repeated
from judgec.compile.search.candidates import Candidate, first_predictor, split_rubric
from judgec.compile.search.demonstrations import BOOTSTRAPPED, LABELLED, demonstration_sets
from judgec.compile.search.race import FINALISTS
from judgec.compile.search.task import Effort, Sizes, Task
from judgec.compile.stopping import Stop
from judgec.raters.signatures import REASON, demonstration
from judgec.records.consensus import settled

TRIALS = 20  # prompts tried where the budget has room for them
INSTRUCTIONS = 5  # the judge's own and four proposed
SETS = 8  # of demonstrations to combine them with, and none
KEPT = 6  # prompts handed over, the best on the valued part of dev
VIEWED = 10  # train items that the data summary reads at once
SUMMARY_CALLS = 11  # at most nine looks after the first, and the summary


@dataclass(frozen=True, slots=True)
class Mipro:
    """The optimizer ``mipro``."""

    needs_reflection: bool = True

    def effort(self, sizes: Sizes) -> Effort:
        """Trials on the valued part of dev."""
        return Effort(TRIALS * sizes.valued, _asked(sizes), KEPT)

    def search(self, task: Task) -> Sequence[Candidate]:
        """The best prompts that MIPROv2 tried, as many as fit.

        Raises:
            ServiceError: When the LM cannot be reached. A cap only ends the search.
        """
        sizes = task.sizes()
        kept_back = (FINALISTS + 1) * (sizes.slices[-1] - sizes.valued)
        trials = int(min(TRIALS, (task.left() - _asked(sizes) - kept_back) / sizes.valued))
        if trials < 1:
            task.watch.note(f"mipro: no trial, because the caps leave {task.left():.0f} judgments")
            return []
        search = CorpusMIPRO(task)
        with search.stop.ending("mipro", task.watch), _quiet(), dspy.context(lm=task.lm):
            search.compile(
                task.module,
                trainset=search.shown(),
                valset=[dspy.Example()],  # who is valued is known to the evaluation
                num_trials=trials,
                seed=task.seed + 1,  # 0 would mean DSPy's own
                minibatch=False,
                program_aware_proposer=False,
                view_data_batch_size=VIEWED,
            )
        return search.candidates()


def _asked(sizes: Sizes) -> int:
    """Calls that propose instructions."""
    return min(SUMMARY_CALLS, -(-sizes.pool // VIEWED) + 1) + INSTRUCTIONS


class CorpusMIPRO(MIPROv2):  # type: ignore[misc]  # DSPy's classes are untyped
    """MIPROv2 with judgec's demonstrations and a corpus statistic; nothing of DSPy is patched.

    Args:
        task: The search.

    Attributes:
        stop: Why nothing more is asked.
    """

    def __init__(self, task: Task) -> None:
        super().__init__(
            metric=_unused,
            prompt_model=task.reflection,
            task_model=task.lm,
            auto=None,
            num_candidates=INSTRUCTIONS,
            track_stats=False,
        )
        self.stop = Stop()
        self._task = task
        self._pool = task.pool()
        self._valued = task.valued()
        self._sets = list(demonstration_sets(task, (LABELLED, BOOTSTRAPPED), SETS))
        self._tried: list[tuple[float, dspy.Module]] = []

    def shown(self) -> list[dspy.Example]:
        """The train items that instructions are proposed from, with the experts' grades."""
        predict, pool = first_predictor(self._task.module), self._pool
        expert = settled(self._task.expert(pool))
        return [
            demonstration(
                predict, pool.items[i], [int(p) for p in expert[i]], self._task.scale, reason=pool.rationale(i)
            )
            for i in range(len(pool))
            if (expert[i] >= 0).all()
        ]

    def _bootstrap_fewshot_examples(self, *_: object, **__: object) -> dict[int, list[list[dspy.Example]]]:
        """No demonstrations, and each of our sets."""
        return {0: [[], *(list(first_predictor(found.module).demos) for found in self._sets)]}

    def _propose_instructions(
        self,
        program: dspy.Module,
        trainset: list[dspy.Example],
        _demos: object,
        *arguments: Any,  # DSPy's to know
        **options: Any,
    ) -> dict[int, list[str]]:
        """DSPy's proposals, each above the rubric, from demonstrations of the pool: others' labels stay unseen.

        Those that repeat an item are left out.
        """
        demos = {0: [[], *map(self._looked_at, self._sets)]}
        (own, *proposed) = super()._propose_instructions(program, trainset, demos, *arguments, **options)[0]
        rubric, shown = split_rubric(own)[1], self.shown()
        items, free = [one.inputs().toDict() for one in shown], [own, *(str(one.get(REASON)) for one in shown)]
        repeats = [repeated(text, items, free) for text in proposed]
        if dropping := [*filter(None, repeats)]:
            self._task.watch.note(dropped("mipro", dropping))
        kept = [text for text, again in zip(proposed, repeats, strict=True) if not again]
        return {0: [own, *(split_rubric(text)[0] + rubric for text in kept)]}

    def _looked_at(self, found: Candidate) -> list[dspy.Example]:
        """Demonstrations of a set as DSPy's proposer takes them: marked ``augmented``."""
        pool = {item.query_id for item in self._pool.items}
        demos = zip(first_predictor(found.module).demos, found.queries, strict=True)
        return [demo.copy(augmented=True) for demo, query in demos if query in pool]

    def _optimize_prompt_parameters(
        self,
        program: dspy.Module,
        instructions: dict[int, list[str]],
        demos: dict[int, list[list[dspy.Example]]],
        evaluate: object,  # noqa: ARG002 - replaced by ours
        *rest: object,
    ) -> object:
        """DSPy's search with the objective as its evaluation."""
        return super()._optimize_prompt_parameters(program, instructions, demos, self._evaluate, *rest)

    def _evaluate(self, program: dspy.Module, **_: object) -> dspy.Prediction:
        """The objective as a score in (0, 100): DSPy gives 0 to whatever raises, which must not win."""
        if self.stop.error is not None:
            raise self.stop.error
        with self.stop.noting():
            judgments = self._task.judge(program, self._valued)
        value = self._task.value(self._valued, judgments)
        self._tried.append((value, program))
        return dspy.Prediction(score=positive_score(value), results=[])

    def candidates(self) -> list[Candidate]:
        """The best distinct prompts tried, best first; the uncompiled judge is not among them."""
        own = _key(self._task.module)
        distinct = {_key(program): (value, program) for value, program in reversed(self._tried)}
        distinct.pop(own, None)
        best = sorted(distinct.values(), key=lambda found: -found[0])[:KEPT]
        return [self._candidate(number, program) for number, (_, program) in enumerate(best, 1)]

    def _candidate(self, number: int, program: dspy.Module) -> Candidate:
        predict = first_predictor(program)
        shown = {_key(found.module)[1]: found for found in self._sets}.get(_key(program)[1])
        rewritten = predict.signature.instructions != first_predictor(self._task.module).signature.instructions
        return Candidate(
            name=f"mipro-{number}",
            module=program,
            queries=shown.queries if shown else (),
            settings={"demonstrations": len(predict.demos), "instructions": "mipro" if rewritten else "own"},
            reflected=tuple(sorted({item.query_id for item in self._pool.items})) if rewritten else (),
        )


def positive_score(value: float) -> float:
    """A strictly rising map of all numbers into (0, 100)."""
    return 50.0 * (1.0 + value / (1.0 + abs(value)))


def _key(program: dspy.Module) -> tuple[str, str]:
    predict = first_predictor(program)
    return predict.signature.instructions, repr([demo.toDict() for demo in predict.demos])


def _unused(*_: object) -> float:
    raise AssertionError("judges are scored as a set, by CorpusMIPRO._evaluate")


@contextmanager
def _quiet() -> Iterator[None]:
    """MIPROv2 prints, logs the exceptions it swallows and uses what Optuna calls experimental."""
    log = logging.getLogger("dspy")
    level = log.level
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        log.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            log.setLevel(level)
