"""Counts the uses of test queries: they belong to the queries, under whatever name these were tested."""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from judgec.labels.split.memory import Memory
from judgec.labels.split.queries import queries_of
from judgec.records.label import Item

TESTED_BEFORE = 0.2  # share of the test queries from which a test is one more use of them, not a first one


def earlier_uses(
    items: Sequence[Item], memory: Memory, used: Sequence[str], *, task: str, columns: frozenset[str]
) -> int:
    """Number of earlier uses of these test items.

    A version counts where it was tested on a fifth of the queries; several that were so only together count as one. A
    use by the family whose version is gone counts, since nobody can tell of what it was.

    Args:
        items: The labelled test items.
        memory: What the home remembers.
        used: The versions whose test uses the family has counted.
        task: The labels' task.
        columns: Their label columns.
    """
    queries = queries_of(items, memory.keys)
    tests = [tested for _, tested in memory.tests(items, queries, task=task, columns=columns)]
    least = max(1, math.ceil(TESTED_BEFORE * len(queries) - 1e-9))
    alone = sum(len(tested) >= least for tested in tests)
    together = len(frozenset().union(*tests)) >= least
    gone = set(used) - {f"{version.number:04d}" for version in memory.own}
    return max(alone, int(together)) + len(gone)


def uses_of(tested: AbstractSet[str], memory: Memory, *, task: str, columns: frozenset[str]) -> int:
    """Number of versions that were tested on at least a fifth of these queries, known by their keys."""
    least = max(1, math.ceil(TESTED_BEFORE * len(tested) - 1e-9))
    return sum(
        version.task == task
        and not version.columns.isdisjoint(columns)
        and version.tested is not None
        and len(version.tested & tested) >= least
        for version in (*memory.own, *memory.others)
    )
