"""Opens journal, models, caps and meter for one run."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TypeVar

import dspy

from judgec.errors import BudgetError, ServiceError, UserError
from judgec.lm.backend import Backend, whole_seconds
from judgec.lm.batch.client import BatchClient
from judgec.lm.batch.executor import BatchExecutor, open_service
from judgec.lm.batch.rehearsal import rehearsed
from judgec.lm.client import client_of, open_lm, preflight
from judgec.lm.cluster import ray
from judgec.lm.cluster.ray import Cluster
from judgec.lm.executor import IN_FLIGHT, Ask, Executor, OnDone, Progress, Reply, Request
from judgec.lm.functions import Function, FunctionBackend
from judgec.lm.journal.journal import Journal
from judgec.lm.max_wait import MaxWait
from judgec.lm.router import routed
from judgec.lm.spec import FUNCTION, REFUSED, LMSpec
from judgec.lm.usage import Budget, Spent, Usage

T = TypeVar("T")
Batched = Literal["nothing", "passes", "everything"]
"""``passes``: those over whole sets of items that no search waits for (``Session.ask_whole``)."""


class Session:
    """Opens the journal and the models, which share the caps and the meter.

    Args:
        spec: The model that ``ask`` asks; None where each judge brings its own, see ``executor``.
        home: Folder that holds ``.judgec/journal.db``.
        reflection: The model that rewrites prompts, or None.
        budget: Most calls, or None.
        max_cost: Most US dollars, or None.
        caps: What several sessions may spend together, in place of ``budget`` and ``max_cost``.
        usage: The meter of several sessions together, in place of one of its own.
        journal: Another than that of ``home``; it is closed with the session.
        in_flight: Most calls at once; None means as many as suit this process, or the cluster.
        spread: Workers on a Ray cluster make the calls, in place of this process.
        ray_address: Of that cluster; None starts one here, which ends with the session.
        on_done: Told of progress.
        max_wait: How long a call waits for an endpoint that asks for time, and who is told of it.
        batch: Which calls go in batches, at half the price and up to a day later.
        environ: Where keys are looked up.
        functions: What is called where a model is ``function/NAME``, by name.

    Raises:
        UserError: There are no batches of the model.
    """

    def __init__(
        self,
        spec: LMSpec | None,
        home: Path,
        *,
        reflection: LMSpec | None = None,
        budget: int | None = None,
        max_cost: float | None = None,
        caps: Budget | None = None,
        usage: Usage | None = None,
        journal: Journal | None = None,
        in_flight: int | None = None,
        spread: bool = False,
        ray_address: str | None = None,
        on_done: OnDone | None = None,
        max_wait: MaxWait | None = None,
        batch: Batched = "nothing",
        environ: Mapping[str, str] | None = None,
        functions: Mapping[str, Function] | None = None,
    ) -> None:
        self._environ = environ
        self._functions = functions or {}
        self._batch = batch
        self._max_wait = max_wait or MaxWait()
        self._in_flight = in_flight or (ray.IN_FLIGHT if spread else IN_FLIGHT)
        self.usage = usage or Usage()
        self.journal = Journal(home / ".judgec" / "journal.db") if journal is None else journal
        self._caps = caps or Budget(calls=budget, usd=max_cost)
        self.opened = ExitStack()  # what else ends with the session
        self._executors: dict[str, Executor] = {}
        self._batched: dict[str, BatchExecutor] = {}
        self._spec = spec
        try:
            self._cluster = Cluster(ray_address) if spread else None
            for one in () if spec is None else _models(spec):
                self.executor(one, whole=True)
            self.reflection = None if reflection is None else self._open(reflection)
        except BaseException:  # no cluster, or a model that cannot be asked so
            self.journal.close()
            raise
        self._on_done = on_done

    @property
    def spec(self) -> LMSpec:
        """The model that ``ask`` asks."""
        if self._spec is None:
            raise TypeError("a session without a model of its own; name one with executor() or other()")
        return self._spec

    def settled(self, spec: LMSpec) -> LMSpec:
        """A model as it is asked by now, without the settings that it has refused: what a card records.

        Args:
            spec: As it was asked for.
        """
        if spec.members:
            members = {name: self.settled(one) for name, one in spec.members.items()}
            return spec.model_copy(update={"members": members})
        if spec.recorded is not None or spec.no_model:
            return spec
        opened = self._executors.get(way_to(spec))
        return spec if opened is None else client_of(opened.lm).spec

    @property
    def lm(self) -> dspy.LM:
        """The same, opened."""
        return self.executor(self.spec).lm

    def ask(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        """Send requests; an ``lm.executor.Ask``.

        Raises:
            BudgetError: When one does not fit the caps.
        """
        return self.other(self.spec)(requests, total=total)

    def ask_whole(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        """As ``ask``, for a pass over items that nothing else waits for in between: one that may go in a batch.

        Raises:
            BudgetError: As ``ask``.
        """
        return self.other_whole(self.spec)(requests, total=total)

    def other(self, spec: LMSpec) -> Ask:
        """The way to another model, with the same journal, caps and meter.

        Raises:
            UserError: When dollars are capped and the model has no list price.
        """
        return self._way(spec, whole=False)

    def other_whole(self, spec: LMSpec) -> Ask:
        """As ``other``, for passes that may go in a batch: see ``ask_whole``."""
        return self._way(spec, whole=True)

    def of(self, spec: LMSpec, reflection: LMSpec | None) -> "Session":
        """The same session as one that asks a single model of several; it ends with this one.

        Args:
            spec: The model.
            reflection: The model that rewrites its prompts, or None.

        Raises:
            UserError: As ``other``.
        """
        view = copy.copy(self)
        view._spec = spec  # noqa: SLF001 - of the same class
        view.reflection = None if reflection is None else self._open(reflection)
        return view

    def _way(self, spec: LMSpec, *, whole: bool) -> Ask:
        """To a model, or to the models of a jury."""
        if spec.members:
            asked = {
                name: self.executor(one, whole=whole) for name, one in spec.members.items() if one.recorded is None
            }
            if len(executors := set(asked.values())) > 1:
                return routed({name: each.run for name, each in asked.items()}, self._counted)
            (only,) = executors
            return partial(only.run, on_done=self._on_done)
        return partial(self.executor(spec, whole=whole).run, on_done=self._on_done)

    def _counted(self, done: int, total: int | None, unscored: int) -> None:
        if self._on_done is not None:
            self._on_done(Progress(done, total, unscored, self.spent))

    def executor(self, spec: LMSpec, *, whole: bool = False) -> Executor:
        """The executor of a model's calls; callers of the same model share it, so that equal calls are one call.

        Args:
            spec: The model.
            whole: See ``ask_whole``.

        Raises:
            UserError: As ``other``, and for recorded verdicts, which cannot be asked.
        """
        in_batches = self._batch == "everything" or (self._batch == "passes" and whole)
        if in_batches and spec.recorded is None and not spec.in_process:
            return self._in_batches(spec)
        return self._one_by_one(spec)

    def _in_batches(self, spec: LMSpec) -> BatchExecutor:
        key = way_to(spec)
        if key not in self._batched:
            service = open_service(spec, self._max_wait, self._environ)
            lm = self._one_by_one(spec).lm
            client = BatchClient(spec, service, client_of(lm).calls, self._max_wait.say)
            self._batched[key] = BatchExecutor(lm, client)
        return self._batched[key]

    def _one_by_one(self, spec: LMSpec) -> Executor:
        if spec.recorded is not None:
            raise UserError(REFUSED.format(model=spec.model))
        key = way_to(spec)
        if key not in self._executors:
            self._executors[key] = Executor(self._open(spec), in_flight=self._in_flight, keeps=True)
        return self._executors[key]

    def _open(self, spec: LMSpec) -> dspy.LM:
        backend: Backend | None = None
        if spec.provider == FUNCTION:
            backend = self._function(spec)
        elif self._cluster is not None:
            backend = self._cluster.workers(spec, self._in_flight)
        return open_lm(
            spec,
            journal=self.journal,
            budget=self._caps,
            usage=self.usage,
            backend=backend,
            max_wait=self._max_wait,
            environ=self._environ,
        )

    def _function(self, spec: LMSpec) -> FunctionBackend:
        """The backend that calls the function that a spec names, in this process.

        Raises:
            UserError: Nobody said what it is: a saved judge imports nothing by itself.
        """
        name = spec.model.partition("/")[2]
        if name not in self._functions:
            raise UserError(
                f"{spec.model}: a Python function that judgec was not given. Add "
                f"--function {name}=module:function, in Python load_judge(NAME, functions={{{name!r}: ...}}); a "
                "registered model imports nothing."
            )
        function, known = self._functions[name], spec.extra.get("version")
        if known is not None and known != function.digest:
            self._max_wait.say(
                f"{spec.model}: this is not the version that was measured ({known}); it may judge differently"
            )
        backend = FunctionBackend(function, spec, whole_seconds(spec), self._in_flight)
        self.opened.callback(backend.close)
        return backend

    def together(self, work: Callable[[Ask], T], ask: Ask | None = None) -> T:
        """Do work that asks the model of this session, with all that it asks in as few batches as there can be.

        Where its calls do not go in batches, it is done once, asking as it goes.

        Args:
            work: As for ``rehearsal.rehearsed``.
            ask: Sends the requests; by default ``ask_whole``.

        Raises:
            ServiceError: When no call can succeed.
            BudgetError: When one does not fit the caps.
        """
        if self._batch == "nothing" or self.spec.recorded is not None or self.spec.no_model:
            return work(ask or self.ask_whole)
        return rehearsed(work, ask or self.ask_whole, lambda to: client_of(self._one_by_one(self._member(to)).lm))

    def _member(self, juror: str) -> LMSpec:
        return self.spec.members[juror] if juror else self.spec

    def finish(
        self, requests: Iterable[Request], *, total: int | None = None, ask: Ask | None = None
    ) -> Iterator[Reply]:
        """As ``ask_whole``, to an end: what does not fit the caps, or comes after the service was lost, says so.

        Raises:
            ServiceError: No request was answered.
        """
        asked = list(requests)
        unanswered = {request.key for request in asked}
        try:
            for reply in (ask or self.ask_whole)(asked, total=total):
                unanswered.discard(reply.key)
                yield reply
        except ServiceError as error:
            if len(unanswered) == len(asked) and not isinstance(error, BudgetError):
                raise
            reason = str(error).partition(";")[0]
            yield from (Reply(request.key, None, error=reason) for request in asked if request.key in unanswered)

    def preflight(self, *, reflects: bool = True) -> None:
        """One tiny call to each model, so that a missing key shows before anything else is done.

        Args:
            reflects: Whether the reflection model will be asked.

        Raises:
            ServiceError: When a model cannot be reached, with what to do.
        """
        for spec in _models(self.spec):
            self.executor(spec).preflight()
            if self._batch == "passes":
                self.executor(spec, whole=True).preflight()
        if reflects and self.reflection is not None:
            preflight(self.reflection, keep=True)

    def price(self, calls: int) -> float:
        """Dollars that so many calls may take, by what a call has taken so far; 0 before the first."""
        spent = self.spent
        return calls * spent.usd / spent.calls if spent.calls else 0.0

    @contextmanager
    def keeping_back(self, calls: int, usd: float | None) -> Iterator[None]:
        """Lower the caps, where there are any, for the time of a block."""
        caps, was = self._caps, (self._caps.calls, self._caps.usd)
        caps.calls = None if was[0] is None else max(0, was[0] - calls)
        caps.usd = None if was[1] is None or usd is None else max(0.0, was[1] - usd)
        try:
            yield
        finally:
            caps.calls, caps.usd = was

    def room(self, usd_a_call: float | None) -> int | None:
        """Number of calls at this price that the caps still allow; None when nothing is capped."""
        calls, usd = self._caps.used
        left = [] if self._caps.calls is None else [self._caps.calls - calls]
        if self._caps.usd is not None and usd_a_call:
            left.append(int((self._caps.usd - usd) / usd_a_call))
        return max(0, min(left)) if left else None

    @property
    def spent(self) -> Spent:
        """Calls and cost of this run."""
        return self.usage.spent

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.opened.close()
        for one in self._executors.values():
            one.close()
        if self._cluster is not None:
            self._cluster.close()
        for executor in self._batched.values():
            executor.client.close()
        self.journal.close()


def _models(spec: LMSpec) -> list[LMSpec]:
    """The models that are asked."""
    return [one for one in spec.members.values() or (spec,) if one.recorded is None and not one.no_model]


def way_to(spec: LMSpec) -> str:
    """What tells one way to a model from another; what a model refuses is found out on the way and no part of it."""
    return spec.model_dump_json(exclude={"without"})
