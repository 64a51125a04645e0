"""Several models behind one way to ask: each request says whose model it is put to, and they work side by side."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Self, TypeAlias

from judgec.lm.executor import Ask, Reply, Request

JOIN_SECONDS = 0.05  # between two looks whether a model's calls in flight have landed


class StoppedError(Exception):
    """Nobody wants more replies."""


Counted: TypeAlias = Callable[[int, int | None, int], None]
"""Told how many replies there are, of how many in all where that is known, and how many of them failed."""


def routed(ways: Mapping[str, Ask], counted: Counted | None = None) -> Ask:
    """One way to ask several models.

    Each model is asked in a thread of its own, whatever names it has. Leaving the replies early stops all of them after
    their calls in flight; so does the error of one.

    Args:
        ways: To each model, by what requests call it (``Request.to``); equal ways are one model.
        counted: Progress over all models, where there are several.
    """
    if len(set(ways.values())) == 1:
        return next(iter(ways.values()))

    def ask(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        source, pending, done, unscored = iter(requests), 0, 0, 0
        with _Models(ways) as models:
            while True:
                for request in source:  # what has nothing to give now may have something when replies were read
                    models.put(request)
                    pending += 1
                if not pending:
                    return
                models.go()
                reply = models.get()
                pending -= 1
                done += 1
                unscored += reply.text is None
                if counted is not None:
                    counted(done, total, unscored)
                yield reply

    return ask


class _Models:
    """The threads of the models; leaving ends them."""

    def __init__(self, ways: Mapping[str, Ask]) -> None:
        self._replies: queue.SimpleQueue[Reply | BaseException] = queue.SimpleQueue()
        feeds = {way: _Feed() for way in dict.fromkeys(ways.values())}
        self._feeds = {to: feeds[way] for to, way in ways.items()}
        self._threads = [threading.Thread(target=self._run, args=each, daemon=True) for each in feeds.items()]

    def put(self, request: Request) -> None:
        """A request that its model is asked after the next ``go``."""
        self._feeds[request.to].held.append(request)

    def go(self) -> None:
        """Let the models have what was put."""
        for feed in self._feeds.values():
            feed.release()

    def get(self) -> Reply:
        """The next reply; raises what a model raised."""
        reply = self._replies.get()
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for feed in self._feeds.values():
            feed.stop()
        for thread in self._threads:
            while thread.is_alive():
                thread.join(JOIN_SECONDS)

    def _run(self, way: Ask, feed: "_Feed") -> None:
        try:
            while feed.wait():
                for reply in way(feed):
                    self._replies.put(reply)
        except StoppedError:
            pass
        except BaseException as error:  # noqa: BLE001 - raised by whoever reads
            self._replies.put(error)


class _Feed:
    """The requests to one model: an iterator that has nothing to give at times, and something again later."""

    def __init__(self) -> None:
        self.held: list[Request] = []  # put and not released yet
        self._due: deque[Request] = deque()
        self._stopped = False
        self._changed = threading.Condition()

    def release(self) -> None:
        if self.held:
            with self._changed:
                self._due.extend(self.held)
                self._changed.notify()
            self.held.clear()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def wait(self) -> bool:
        """Until there is something to ask; False when nothing will come any more."""
        with self._changed:
            while not self._due and not self._stopped:
                self._changed.wait()
            return not self._stopped

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Request:
        with self._changed:
            if self._stopped:
                raise StoppedError
            if not self._due:
                raise StopIteration
            return self._due.popleft()
