"""Looks, while a file of items is checked, for items that the judge has learned from and for labels."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from judgec.labels.split.learned import LearnedItems, LearnedQueries
from judgec.records.label import IntArray, Item, Task
from judgec.table.rows.cells import as_grade
from judgec.table.rows.columns import label_columns
from judgec.table.table import Row


class ColumnWatch:
    """The values that are looked for, and those that were found.

    Args:
        task: What the items are for.
        memories: Of the judges that are about to judge the items.
        raters: Columns that may hold labels beside those of the task.
    """

    def __init__(self, task: Task, memories: Sequence[LearnedQueries], raters: Sequence[str]) -> None:
        self._task, self._raters = task, tuple(raters)
        self._learned = [LearnedItems(memory) for memory in memories] or [LearnedItems(LearnedQueries())]
        self._labelled: dict[str, list[IntArray]] = {}

    def meet(self, items: Sequence[Item]) -> None:
        """Further items, each once."""
        for one in self._learned:
            one.meet(items)

    def look(self, rows: Sequence[Row], columns: Sequence[str], numbers: IntArray) -> None:
        """Look for labels in rows under our names; ``numbers`` are those of the rows' items."""
        own = label_columns(columns, self._task)
        for name in (*own, *(name for name in self._raters if name in columns and name not in own)):
            has = np.fromiter((as_grade(row.get(name)) is not None for row in rows), np.bool_, len(rows))
            if has.any():
                self._labelled.setdefault(name, []).append(numbers[has])

    def learned(self) -> NDArray[np.bool_]:
        """Of each item whether any of the judges has learned from it."""
        found = self._learned[0].found()
        for other in self._learned[1:]:
            found |= other.found()
        return found

    def labelled(
        self, columns: Sequence[str], rename: Mapping[str, str], learned: NDArray[np.bool_]
    ) -> tuple[str, ...]:
        """The columns with a label of an item that no judge has learned from, as the file names them.

        The task's own come before raters'.
        """
        theirs = {rename.get(name, name): name for name in columns}
        found = [name for name, parts in self._labelled.items() if not all(learned[part].all() for part in parts)]
        own = label_columns([name for name in theirs if name in found], self._task)
        return tuple(theirs[name] for name in dict.fromkeys((*own, *self._raters)) if name in found)
