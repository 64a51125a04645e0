"""Items met so far in a file, as numbers: what was met is known again, in a few bytes an item."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.records.label import IntArray, Item
from judgec.table.stream.lines import IrregularError


@dataclass(frozen=True, slots=True)
class Met:
    """Some items, after they were met.

    Args:
        kept: Positions of those that were not met before.
        digests: Of the inputs of these.
        numbers: Of each item its number: 0 is the first that was ever met.
    """

    kept: IntArray
    digests: list[bytes]
    numbers: IntArray


class Seen:
    """Items met so far, as 64-bit numbers: sorted runs that double in size.

    Args:
        digest: What tells the inputs of two items apart, 16 bytes.
    """

    def __init__(self, digest: Callable[[Item], bytes]) -> None:
        self._digest = digest
        self._runs: list[tuple[IntArray, IntArray, IntArray]] = []
        self._count = 0

    def meet(self, items: Sequence[Item]) -> Met:
        """Meet items that differ in their item_id.

        Raises:
            IrregularError: When an item_id comes again with other inputs (or, hardly ever, seems to).
        """
        digests = [self._digest(item) for item in items]
        names = np.array([hash(item.item_id) for item in items], dtype=np.int64)
        inputs = np.frombuffer(b"".join(digests), dtype=np.int64)[::2]
        numbers = np.full(len(names), -1, dtype=np.int64)
        for known, known_inputs, known_numbers in self._runs:
            at = np.minimum(np.searchsorted(known, names), len(known) - 1)
            again = known[at] == names
            if (known_inputs[at] != inputs)[again].any():
                raise IrregularError
            numbers[again] = known_numbers[at][again]
        kept = np.flatnonzero(numbers < 0)
        numbers[kept] = np.arange(self._count, self._count + len(kept))
        self._count += len(kept)
        self._add(names[kept], inputs[kept], numbers[kept])
        return Met(kept, [digests[i] for i in kept], numbers)

    def _add(self, names: IntArray, inputs: IntArray, numbers: IntArray) -> None:
        while self._runs and len(self._runs[-1][0]) <= len(names):
            run = self._runs.pop()
            names, inputs, numbers = map(np.concatenate, zip(run, (names, inputs, numbers), strict=True))
        order = np.argsort(names)
        if len(order):
            self._runs.append((names[order], inputs[order], numbers[order]))
