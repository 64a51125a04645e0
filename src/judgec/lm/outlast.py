"""Lets a run that loses its service end with what it has: what was not answered by then says why."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from judgec.errors import BudgetError, ServiceError
from judgec.lm.executor import Ask, Reply, Request

NOT_ASKED = "not asked"  # begins the reason of what was never asked


@dataclass(slots=True)
class Outlasted:
    """Flag: the service of a run was lost.

    Attributes:
        lost: The first error that ended the calls to a model, or None.
    """

    lost: ServiceError | None = None

    def asking(self, ask: Ask) -> Ask:
        """The same way to a model, which fails request by request once its service is lost.

        A cap that is reached still ends the run: what it leaves out is for the user to allow.
        """
        end: list[str] = []  # why nothing more is asked

        def asked(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
            source, waiting = iter(requests), dict[str | int, None]()
            if not end:
                try:
                    for reply in ask(_Noted(source, waiting.setdefault), total=total):
                        waiting.pop(reply.key, None)
                        yield reply
                except BudgetError:
                    raise
                except ServiceError as error:
                    self.lost = self.lost or error
                    end.append(f"{NOT_ASKED}: {error}")
                else:
                    return
            for key in waiting:
                yield Reply(key, None, error=end[0])
            for request in source:
                yield Reply(request.key, None, error=end[0])

        return asked


class _Noted:
    """Requests, with each key told as it is read; what has nothing to give now may have something later."""

    def __init__(self, source: Iterator[Request], tell: Callable[[str | int], object]) -> None:
        self._source = source
        self._tell = tell

    def __iter__(self) -> Iterator[Request]:
        return self

    def __next__(self) -> Request:
        request = next(self._source)
        self._tell(request.key)
        return request
