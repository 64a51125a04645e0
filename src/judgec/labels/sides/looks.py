"""Counts the looks at test queries: looks belong to the queries, under whatever name they were tested."""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from judgec.labels.sides.memory import Memory
from judgec.labels.sides.queries import queries_of
from judgec.records.label import Item

TESTED_BEFORE = 0.2  # share of the test queries from which a look is one more look at them, not a first one


def earlier_looks(
    items: Sequence[Item], memory: Memory, looked: Sequence[str], *, task: str, columns: frozenset[str]
) -> int:
    """How many looks at these test items there have been.

    A version counts where it was tested on a fifth of the queries; several that were so only together count as one. A
    look of the family whose version is gone counts, since nobody can tell what it was at.

    Args:
        items: The labelled test items.
        memory: What the home remembers.
        looked: The versions whose looks the family has counted.
        task: The labels' task.
        columns: Their label columns.
    """
    queries = queries_of(items, memory.keys)
    tests = [tested for _, tested in memory.tests(items, queries, task=task, columns=columns)]
    least = max(1, math.ceil(TESTED_BEFORE * len(queries) - 1e-9))
    alone = sum(len(tested) >= least for tested in tests)
    together = len(frozenset().union(*tests)) >= least
    gone = set(looked) - {f"{version.number:04d}" for version in memory.own}
    return max(alone, int(together)) + len(gone)


def looks_at(tested: AbstractSet[str], memory: Memory, *, task: str, columns: frozenset[str]) -> int:
    """How many versions were tested on at least a fifth of these queries, known by their keys."""
    least = max(1, math.ceil(TESTED_BEFORE * len(tested) - 1e-9))
    return sum(
        version.task == task
        and not version.columns.isdisjoint(columns)
        and version.tested is not None
        and len(version.tested & tested) >= least
        for version in (*memory.own, *memory.others)
    )
