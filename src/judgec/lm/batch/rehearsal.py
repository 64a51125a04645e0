"""Finds out what a piece of work will ask, so that all of it can be asked at once.

The work is done with what is known; what is not known counts as a failed call and is remembered. Then that is asked
together, and the work is done again, until nothing is missing. A step that asks about replies takes one more time.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from judgec.lm.calls import Answered
from judgec.lm.client import JournaledClient
from judgec.lm.executor import CHUNK, Ask, Reply, Request, reply_of

T = TypeVar("T")
NOT_YET = "not asked yet"


def rehearsed(work: Callable[[Ask], T], ask: Ask, client_of: Callable[[str], JournaledClient]) -> T:
    """The result of work that asks a model, with all that it asks asked together.

    Args:
        work: Asks by what it is given, and comes to the same whenever it gets the same replies; it may be done often.
        ask: Sends the requests.
        client_of: Of a juror's model by the juror's name, of the only model by an empty one.

    Raises:
        ServiceError: When no call can succeed.
        BudgetError: When one does not fit the caps.
    """
    failed: dict[bytes, Reply] = {}
    counted: set[bytes] = set()
    while True:
        rehearsal = _Rehearsal(client_of, failed, counted)
        found = work(rehearsal)
        if not rehearsal.missing:
            return found
        digests = list(rehearsal.missing)
        requests = [replace(request, key=number) for number, request in enumerate(rehearsal.missing.values())]
        for reply in ask(requests, total=len(requests)):
            counted.add(digests[int(reply.key)])
            if reply.text is None:
                failed[digests[int(reply.key)]] = reply


class _Rehearsal:
    """An ``Ask`` that answers what is known, and remembers the rest."""

    def __init__(
        self, client_of: Callable[[str], JournaledClient], failed: dict[bytes, Reply], counted: set[bytes]
    ) -> None:
        self.missing: dict[bytes, Request] = {}
        self._door_of, self._failed, self._counted = client_of, failed, counted

    def __call__(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:  # noqa: ARG002 - of the protocol
        source = iter(requests)
        while chunk := list(islice(source, CHUNK)):
            for to in {request.to: None for request in chunk}:
                yield from self._answers(self._door_of(to), [request for request in chunk if request.to == to])

    def _answers(self, client: JournaledClient, chunk: list[Request]) -> Iterator[Reply]:
        digests = [client.digest(one.messages, one.rollout, one.schema) for one in chunk]
        known = client.calls.journaled_many(digests)
        for request, digest in zip(chunk, digests, strict=True):
            if digest in known:
                reply = known[digest]
                answered = (
                    Answered(reply, cached=True) if digest in self._counted else client.calls.charge(digest, reply)
                )
                self._counted.add(digest)
                yield reply_of(request, answered)
            elif digest in self._failed:
                yield self._failed[digest]._replace(key=request.key)
            else:
                self.missing[digest] = request
                yield Reply(request.key, None, error=NOT_YET)
