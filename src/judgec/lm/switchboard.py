"""Several models behind one way to ask: each request says whose model it is put to."""

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Self

from judgec.lm.executor import Ask, Executor, OnDone, Reply, Request


@dataclass(frozen=True, slots=True)
class Switchboard:
    """The models of a jury.

    Args:
        members: What makes each juror's calls, by the juror's name.
    """

    members: Mapping[str, Executor]

    def run(
        self, requests: Iterable[Request], *, total: int | None = None, on_done: OnDone | None = None
    ) -> Generator[Reply, None, None]:
        """As ``Executor.run``; all requests of a call are put to one juror's model.

        Args:
            requests: From ``asking``.
            total: How many there are, for ``on_done``.
            on_done: Progress.
        """
        source = iter(requests)
        first = next(source, None)
        if first is not None:
            yield from self.members[first.to].run(_WithFirst(first, source), total=total, on_done=on_done)

    def preflight(self) -> None:
        """One tiny call to each model.

        Raises:
            ServiceError: When one cannot be reached.
        """
        for executor in {id(one): one for one in self.members.values()}.values():
            executor.preflight()


def asking(ask: Ask, juror: str) -> Ask:
    """The way to one juror's model.

    Args:
        ask: The way to the models of all, a ``Switchboard``'s.
        juror: Whose.
    """

    def asked(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        return ask(map(addressed, requests), total=total)  # a generator could not go on after its end

    def addressed(request: Request) -> Request:
        return replace(request, to=juror)

    return asked


class _WithFirst:
    """Requests of which the first was looked at; what has nothing to give now may have something later."""

    def __init__(self, first: Request, rest: Iterator[Request]) -> None:
        self._first: Request | None = first
        self._rest = rest

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Request:
        if self._first is None:
            return next(self._rest)
        first, self._first = self._first, None
        return first
