"""One run's way to its language model: journal, caps, meter, progress."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from judgec.lm.door import open_lm, preflight
from judgec.lm.executor import Executor, OnDone, Reply, Request
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Spent, Usage
from judgec.store.journal import Journal


class Session:
    """Opens the journal and the model; ``ask`` sends requests through both.

    Args:
        spec: The model.
        home: Folder that holds ``.judgec/journal.db``.
        budget: Most calls, or None.
        max_cost: Most US dollars, or None.
        in_flight: Most calls at once.
        on_done: Told of progress.
        environ: Where keys are looked up.
    """

    def __init__(
        self,
        spec: LMSpec,
        home: Path,
        *,
        budget: int | None = None,
        max_cost: float | None = None,
        in_flight: int = 32,
        on_done: OnDone | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.spec = spec
        self.usage = Usage()
        self._journal = Journal(home / ".judgec" / "journal.db")
        caps = Budget(calls=budget, usd=max_cost)
        self.lm = open_lm(spec, journal=self._journal, budget=caps, usage=self.usage, environ=environ)
        self._executor = Executor(self.lm, in_flight=in_flight)
        self._on_done = on_done

    def ask(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        """Send requests; a ``judges.bulk.Ask``."""
        return self._executor.run(requests, total=total, on_done=self._on_done)

    def preflight(self) -> None:
        """One tiny call to a real model, so that a missing key shows before anything else is done.

        Raises:
            ServiceError: When the model cannot be reached, with what to do.
        """
        if not self.spec.embedded:
            preflight(self.lm)

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
