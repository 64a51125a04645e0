"""Opens journal, models, caps and meter for one run."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import dspy

from judgec.errors import BudgetError
from judgec.lm.door import open_lm, preflight
from judgec.lm.executor import Ask, Executor, OnDone, Reply, Request
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Spent, Usage
from judgec.store.journal.journal import Journal


class Session:
    """Opens the journal and the models, which share the caps and the meter.

    Args:
        spec: The judge's model.
        home: Folder that holds ``.judgec/journal.db``.
        reflection: The model that rewrites prompts, or None.
        budget: Most calls, or None.
        max_cost: Most US dollars, or None.
        caps: What several sessions may spend together, in place of ``budget`` and ``max_cost``.
        in_flight: Most calls at once.
        on_done: Told of progress.
        environ: Where keys are looked up.
    """

    def __init__(
        self,
        spec: LMSpec,
        home: Path,
        *,
        reflection: LMSpec | None = None,
        budget: int | None = None,
        max_cost: float | None = None,
        caps: Budget | None = None,
        in_flight: int = 32,
        on_done: OnDone | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.spec = spec
        self._environ = environ
        self._in_flight = in_flight
        self.usage = Usage()
        self._journal = Journal(home / ".judgec" / "journal.db")
        self._caps = caps or Budget(calls=budget, usd=max_cost)
        self.lm = self._open(spec)
        self.reflection = None if reflection is None else self._open(reflection)
        self._executor = Executor(self.lm, in_flight=in_flight)
        self._on_done = on_done

    def ask(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        """Send requests; a ``judges.bulk.Ask``.

        Raises:
            BudgetError: When one does not fit the caps.
        """
        return self._executor.run(requests, total=total, on_done=self._on_done)

    def other(self, spec: LMSpec) -> Ask:
        """The way to another model, with the same journal, caps and meter.

        Raises:
            UserError: When dollars are capped and the model has no list price.
        """
        executor = Executor(self._open(spec), in_flight=self._in_flight)
        return partial(executor.run, on_done=self._on_done)

    def _open(self, spec: LMSpec) -> dspy.LM:
        return open_lm(spec, journal=self._journal, budget=self._caps, usage=self.usage, environ=self._environ)

    def finish(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        """As ``ask``, for what must come to an end: a request that does not fit the caps fails, with that reason."""
        asked = list(requests)
        unanswered = {request.key for request in asked}
        try:
            for reply in self.ask(asked, total=total):
                unanswered.discard(reply.key)
                yield reply
        except BudgetError as error:
            reason = str(error).partition(";")[0]
            yield from (Reply(request.key, None, error=reason) for request in asked if request.key in unanswered)

    def preflight(self, *, reflects: bool = True) -> None:
        """One tiny call to each model, so that a missing key shows before anything else is done.

        Args:
            reflects: Whether the reflection model will be asked.

        Raises:
            ServiceError: When a model cannot be reached, with what to do.
        """
        for lm in (self.lm, self.reflection if reflects else None):
            if lm is not None:
                preflight(lm, keep=True)

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
        """How many calls at this price the caps still allow; None when nothing is capped."""
        calls, usd = self._caps.used
        left = [] if self._caps.calls is None else [self._caps.calls - calls]
        if self._caps.usd is not None and usd_a_call:
            left.append(int((self._caps.usd - usd) / usd_a_call))
        return max(0, min(left)) if left else None

    @property
    def spent(self) -> Spent:
        """What this run has used."""
        return self.usage.spent

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._journal.close()
