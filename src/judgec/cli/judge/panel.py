"""The judges of one ``judgec judge``: each with its model; journal, caps and meter are theirs together."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from judgec.cli.judge.judge import Request
from judgec.errors import UserError
from judgec.judges.judge import load_judge
from judgec.judges.pairwise import is_pairwise
from judgec.judges.stream.jury import Juror, Jury
from judgec.judges.stream.recall import Recall
from judgec.lm.cluster import ray
from judgec.lm.cluster.ray import Cluster
from judgec.lm.door import door_of, open_lm, preflight
from judgec.lm.executor import IN_FLIGHT, Executor, OnDone, Progress
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Spent, Usage
from judgec.records.card import ProgramCard
from judgec.store.journal.journal import Journal
from judgec.store.programs import Program

SHOWN_SECONDS = 0.1  # between two steps of the progress bar
SAMPLING_TEMPERATURE = 0.7  # of several samples, where the judge's own is 0: they would all be the same


class Panel:
    """Opens the journal and the models.

    Args:
        request: Which model, how it is asked, and how much at most.
        on_done: Told of progress.
        spread: Whether calls are made by workers on a Ray cluster.
    """

    def __init__(self, request: Request, on_done: OnDone, *, spread: bool = False) -> None:
        self._request = request
        self._in_flight = request.in_flight or (ray.IN_FLIGHT if spread else IN_FLIGHT)
        self._on_done = on_done
        self._journal = Journal(request.home / ".judgec" / "journal.db")
        # What is free does not count against the caps: the same command goes on where the last one stopped.
        self._caps = Budget(calls=request.budget, usd=request.max_cost, count_journaled=False)
        self._usage = Usage()
        self._cluster = Cluster(request.ray_address) if spread else None
        self._executors: dict[str, Executor] = {}
        self._unscored = 0
        self._shown = 0.0
        self.done = self.total = 0

    def jury(self, loaded: Sequence[Program], items: int) -> Jury:
        """The judges, ready to judge.

        Args:
            loaded: The programs.
            items: How many items there will be.

        Raises:
            ServiceError: When a model cannot be reached.
        """
        return Jury([self._juror(program, items) for program in loaded])

    @property
    def spent(self) -> Spent:
        """What this run has used."""
        return self._usage.spent

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._cluster is not None:
            self._cluster.close()
        self._journal.close()

    def _juror(self, program: Program, items: int) -> Juror:
        judge, name = load_judge(program), f"{program.card.name}@{program.card.version}"
        if not judge.asks_lm:
            return Juror(name, judge, None, Recall(self._journal, None, name))
        self.total += items * self._request.samples * (1 + is_pairwise(judge.module))
        executor = self._executor(self._spec(program.card))
        recall = Recall(self._journal, door_of(executor.lm), name)
        interview = judge.interview(
            executor.run,
            samples=self._request.samples,
            structured=self._request.structured,
            recall=recall,
            on_verdict=self._count,
        )
        return Juror(name, judge, interview, recall)

    def _executor(self, spec: LMSpec) -> Executor:
        """Jurors share a model, so that equal calls are one call."""
        key = spec.model_dump_json()
        if key not in self._executors:
            workers = None if self._cluster is None else self._cluster.workers(spec, self._in_flight)
            lm = open_lm(spec, journal=self._journal, budget=self._caps, usage=self._usage, backend=workers)
            preflight(lm, keep=True)
            self._executors[key] = Executor(lm, in_flight=self._in_flight)
        return self._executors[key]

    def _spec(self, card: ProgramCard) -> LMSpec:
        """The card's model, or the one asked for; several samples need a temperature.

        Raises:
            UserError: When the model would give the same sample again and again.
        """
        spec = LMSpec.from_card(card.lm, model=self._request.lm, api_base=self._request.api_base)
        if self._request.samples > 1 and spec.embedded:
            raise UserError(
                "--samples: the embedded engine says the same every time; a language model gives several samples. "
                "Leave --samples out, or name a model with --lm."
            )
        temperature = self._request.temperature
        if temperature is None and self._request.samples > 1 and not spec.reasoning:
            temperature = spec.temperature or SAMPLING_TEMPERATURE
        if temperature is None:
            return spec
        return LMSpec.parse(
            spec.model,
            api_base=spec.api_base,
            temperature=temperature,
            max_tokens=spec.max_tokens,
            timeout=spec.timeout,
            top_logprobs=spec.top_logprobs,
            extra=spec.extra,
        )

    def _count(self, done: int, unscored: int) -> None:
        self.done += done
        self._unscored += unscored
        if time.monotonic() - self._shown > SHOWN_SECONDS:
            self._on_done(Progress(self.done, self.total, self._unscored, self._usage.spent))
            self._shown = time.monotonic()
