"""Computes features in other processes; whoever asks gets them in the order of the file.

The evidence of an item depends on the item alone, so that which process computes it makes no difference, not in a bit.
A process is this interpreter started anew, which reads items from its input, a line of JSON a piece, and writes parts
and features to its output, behind a line of lengths. It imports nothing but evidence, and ends with its input, so also
when this process is killed. What one that dies had is computed here.
"""

import gc
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from types import TracebackType
from typing import IO, Self

import numpy as np

from judgec.evidence.model import EvidenceModel, Observed
from judgec.records.label import Item

FLOAT_BYTES = 8
LEAST_ITEMS = 4_000  # fewer are done before other processes have started

_CODE = f"from {__name__} import serve; serve()"


class Processes:
    """Processes that compute features; leaving ends them.

    Args:
        count: How many.
        models: Of the evidence.
    """

    def __init__(self, count: int, models: Iterable[EvidenceModel]) -> None:
        self._states = {model.digest: model.to_json() for model in models}
        self._own = threading.local()
        self._left = False
        self._children: list[subprocess.Popen[bytes]] = []
        self._pool = ThreadPoolExecutor(count, initializer=self._start)

    def observe(self, evidence: EvidenceModel, items: Sequence[Item]) -> "Future[Observed]":
        """Features and parts, as ``EvidenceModel.observe`` gives them."""
        return self._pool.submit(self._ask, evidence, items)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        for child in self._children:
            child.kill()
        self._pool.shutdown(wait=True)
        for child in self._children:
            child.communicate()

    def _start(self) -> None:
        """A thread has a process of its own; a session of its own keeps Ctrl-C from it."""
        child = subprocess.Popen(  # noqa: S603  # this interpreter and our own words
            [sys.executable, "-c", _CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self._children.append(child)
        self._own.child = child
        assert child.stdin is not None  # it is a pipe
        _put(child.stdin, self._states)

    def _ask(self, evidence: EvidenceModel, items: Sequence[Item]) -> Observed:
        child = self._own.child
        asked = [[item.item_id, item.query_id, item.inputs, item.agent, item.group] for item in items]
        try:
            _put(child.stdin, [evidence.digest, asked])
            ends = np.cumsum([0, *json.loads(child.stdout.readline())]).tolist()
            parts = child.stdout.read(ends[-1])
            shape = len(items), len(evidence.names)
            features = np.frombuffer(child.stdout.read(FLOAT_BYTES * shape[0] * shape[1])).reshape(shape)
        except (OSError, ValueError):  # nothing comes, or less than all of it
            if self._left:
                raise
            return evidence.observe(items)
        return features, [parts[start:end] for start, end in pairwise(ends)]


def count_of(asked: int | None, items: int, *, asks_lm: bool) -> int:
    """Number of processes that are worth it; 0 where this one does the work.

    Args:
        asked: What the user wants, or None.
        items: How many there are to judge.
        asks_lm: Whether a language model is asked, for which everything waits.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = asked if asked is not None else (usable if items >= LEAST_ITEMS else 1)
    return 0 if asks_lm or count < 2 else count


def serve() -> None:
    """Answer what comes, until nothing does: the other end."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    models = {digest: EvidenceModel.from_json(state) for digest, state in json.loads(source.readline()).items()}
    gc.disable()  # nothing that is made here has cycles
    with suppress(ValueError):  # half a line: whoever asked is gone
        for line in source:
            digest, asked = json.loads(line)
            items = [Item(item_id, query_id, _inputs(given), *rest) for item_id, query_id, given, *rest in asked]
            features, parts = models[digest].observe(items)
            _put(target, [*map(len, parts)], b"".join(parts) + features.tobytes())


def _inputs(given: Mapping[str, object]) -> dict[str, str | tuple[str, ...]]:
    return {name: tuple(map(str, value)) if isinstance(value, list) else str(value) for name, value in given.items()}


def _put(file: IO[bytes], content: object, behind: bytes = b"") -> None:
    file.write(json.dumps(content).encode() + b"\n" + behind)
    file.flush()
