"""Instructions rewritten by a reflection model that reads where an agent's answers fall short, for all its predictors.

Source: Agrawal et al. (2025), GEPA, arXiv:2507.19457.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import gepa
from dspy.teleprompt.gepa.gepa_utils import DspyAdapter
from gepa import EvaluationBatch

from judgec.agents.answer import REFUSAL, Answer
from judgec.agents.rag import RAG
from judgec.agents.signatures import CITING
from judgec.compiler.agents.candidates import AgentCandidate, AgentTask
from judgec.compiler.agents.metric import Scored
from judgec.errors import BudgetError, ServiceError
from judgec.store.tournament.queries import Query

ROUNDS = 6
MINIBATCH = 8
KEPT = 3
PERFECT = 1e9  # no score is perfect: more may always be asked for

Texts = dict[str, str]


def rewritten(task: AgentTask) -> list[AgentCandidate]:
    """Agents with rewritten instructions, the best on dev first.

    Raises:
        ServiceError: When the LM cannot be reached. A cap only ends the search.
    """
    adapter = AgentAdapter(task)
    seed = {name: predict.signature.instructions for name, predict in task.module.named_predictors()}
    try:
        gepa.optimize(
            seed_candidate=seed,
            trainset=list(task.train),
            valset=list(task.dev),
            adapter=adapter,
            reflection_minibatch_size=min(MINIBATCH, len(task.train)),
            skip_perfect_score=False,
            perfect_score=PERFECT,
            max_metric_calls=len(task.dev) * (ROUNDS + 1) + 2 * ROUNDS * MINIBATCH,
            stop_callbacks=[lambda _: adapter.stopped is not None or adapter.rounds >= ROUNDS],
            logger=_Quiet(),
            seed=task.seed,
        )
    except BudgetError as error:
        adapter.stopped = error
    if isinstance(adapter.stopped, BudgetError):
        task.watch.note(f"gepa stopped early: {adapter.stopped}")
    elif adapter.stopped is not None:
        raise adapter.stopped
    return adapter.candidates(seed)


class AgentAdapter(DspyAdapter):  # type: ignore[misc]  # DSPy's classes are untyped
    """GEPA's view of an agent: scores are the metric's, feedback is its reason.

    Args:
        task: The search.

    Attributes:
        stopped: Why nothing more is asked, or None.
        rounds: Rewrites asked for so far.
    """

    def __init__(self, task: AgentTask) -> None:
        super().__init__(
            student_module=task.module,
            metric_fn=_unused,
            feedback_map={},
            rng=random.Random(task.seed),
            reflection_lm=task.reflection,
        )
        self.stopped: ServiceError | None = None
        self.rounds = 0
        self._task = task
        self._dev = {query.query_id for query in task.dev}
        self._valued: list[tuple[float, Texts]] = []

    def evaluate(
        self,
        batch: Sequence[Query],
        candidate: Texts,
        capture_traces: bool = False,
        num_threads: int | None = None,  # noqa: ARG002 - the executor runs many calls at once
    ) -> EvaluationBatch:
        """Answer a batch and score it."""
        try:
            answers, scores = self._task.trial(self.build_program(candidate), batch)
        except ServiceError as error:
            self.stopped = error
            raise
        values = [score.counted for score in scores]
        if {query.query_id for query in batch} == self._dev:
            self._valued.append((sum(values) / len(values), dict(candidate)))
        notes = list(zip(batch, answers, scores, strict=True)) if capture_traces else None
        return EvaluationBatch(outputs=[answer.text for answer in answers], scores=values, trajectories=notes)

    def batch_evaluate(
        self, items: Sequence[tuple[Texts, Sequence[Query]]], *, capture_traces: bool = True
    ) -> list[EvaluationBatch]:
        """One after the other: the order of calls is then the same in every run."""
        return [self.evaluate(batch, candidate, capture_traces) for candidate, batch in items]

    def make_reflective_dataset(
        self,
        candidate: Texts,  # noqa: ARG002 - GEPA's signature
        eval_batch: EvaluationBatch,
        components_to_update: list[str],
    ) -> dict[str, list[Mapping[str, object]]]:
        """What the reflection model reads of each query: what the predictor saw and wrote, and what that was worth."""
        return {name: [_lesson(name, *trace) for trace in eval_batch.trajectories] for name in components_to_update}

    def propose_new_texts(
        self,
        candidate: Texts,
        reflective_dataset: dict[str, list[dict[str, Any]]],  # as DSPy types it
        components_to_update: list[str],
    ) -> Texts:
        """Ask the reflection model; what an answer must do in any case is put back under its rewrite."""
        self.rounds += 1
        try:
            texts: Texts = super().propose_new_texts(candidate, reflective_dataset, components_to_update)
        except ServiceError as error:
            self.stopped = error
            raise
        return {name: self._kept(name, text) for name, text in texts.items()}

    def _kept(self, name: str, text: str) -> str:
        if name != "answer":
            return text
        wanted = [CITING] if self._task.module.settings.citations and CITING not in text else []
        if REFUSAL not in text:
            wanted.append(
                f"Where the passages do not hold the answer, reply with this sentence and nothing else: {REFUSAL}"
            )
        return "\n\n".join([text.strip(), *wanted])

    def candidates(self, seed: Texts) -> list[AgentCandidate]:
        """The best rewrites, best first; the start is not among them."""
        unique = {tuple(sorted(texts.items())): (value, texts) for value, texts in self._valued if texts != seed}
        best = sorted(unique.values(), key=lambda found: -found[0])[:KEPT]
        return [
            AgentCandidate(f"gepa-{number}", self.build_program(texts), {"instructions": "gepa"})
            for number, (_, texts) in enumerate(best, 1)
        ]

    def build_program(self, candidate: Texts) -> RAG:
        """The agent with these instructions."""
        built: RAG = super().build_program(candidate)
        return built


def _lesson(name: str, query: Query, answer: Answer, score: Scored) -> dict[str, object]:
    inputs: dict[str, object] = {"query": query.text}
    if name == "vary":
        written = "\n".join(answer.searched)
        inputs["what the queries then found"] = "\n\n".join(context.text[:300] for context in answer.contexts)
    else:
        written = answer.text or f"(no answer: {answer.error})"
        inputs["passages"] = "\n\n".join(f"[{n}] {context.text}" for n, context in enumerate(answer.contexts, 1))
    worth = "could not be scored" if score.value is None else f"is worth {score.value:.2f} of 1"
    return {
        "Inputs": inputs,
        "Generated Outputs": {name: written},
        "Feedback": f"The answer '{answer.text or ''}' {worth}. {score.reason}".strip(),
    }


def _unused(*_: object) -> float:
    raise AssertionError("agents are scored by AgentAdapter.evaluate")


class _Quiet:
    """GEPA's log."""

    def log(self, message: str) -> None:
        """Nothing is shown: the watch says what matters."""
