"""Several judges at work at once, each in a thread of its own, read in step."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, Self, TypeVar

T = TypeVar("T")
WAITING = 2  # results that one may be ahead of the slowest


class SideBySide(Generic[T]):
    """Iterators side by side; iterating gives the next result of each, and ends with the first that ends.

    Leaving stops them after their calls in flight.

    Args:
        runs: Each begins an iterator, in its own thread.
        stops: Set when nobody wants more.
    """

    def __init__(self, runs: Sequence[Callable[[], Iterator[T]]], stops: Sequence[threading.Event]) -> None:
        self._stops = stops
        self._said: list[queue.Queue[list[T] | BaseException | None]] = [queue.Queue(WAITING) for _ in runs]
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=two) for two in zip(runs, self._said, strict=True)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for stop in self._stops:
            stop.set()
        for said, thread in zip(self._said, self._threads, strict=True):
            while thread.is_alive():
                while not said.empty():  # it may be waiting for room
                    said.get()
                thread.join(0.05)

    def __iter__(self) -> Iterator[list[T]]:
        while True:
            said = [one.get() for one in self._said]
            found: list[T] = []
            for one in said:
                if isinstance(one, BaseException):
                    raise one
                found += one or []
            if len(found) < len(said):
                return
            yield found

    def _run(self, run: Callable[[], Iterator[T]], said: "queue.Queue[list[T] | BaseException | None]") -> None:
        try:
            for one in run():
                said.put([one])
                if self._stop.is_set():
                    break
            said.put(None)
        except BaseException as error:  # noqa: BLE001 - raised by whoever reads
            said.put(error)


class Shared(Generic[T]):
    """One iterable for several readers in several threads: each gets every element.

    Args:
        source: Read once, as far as the reader that is furthest.
        readers: How many.
    """

    def __init__(self, source: Iterable[T], readers: int) -> None:
        self._source = iter(source)
        self._lock = threading.Lock()
        self._left: list[deque[T]] = [deque() for _ in range(readers)]

    def reader(self, number: int) -> Iterator[T]:
        """All elements, for the reader of this number."""
        own = self._left[number]
        while True:
            with self._lock:
                if not own:
                    try:
                        one = next(self._source)
                    except StopIteration:
                        return
                    for each in self._left:
                        each.append(one)
                found = own.popleft()
            yield found
