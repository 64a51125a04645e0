"""Decision trees as flat arrays: saved as JSON, walked in numpy."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, model_validator

from judgec.records.label import FloatArray, IntArray

ROWS_AT_ONCE = 512  # rows that walk down together: their arrays fit into the second-level cache
LEVELS_AT_ONCE = 6  # steps down between two looks at who has arrived


@dataclass(frozen=True, slots=True)
class _Nodes:
    """A forest as arrays over its nodes; ``shares`` over its leaves."""

    leaf: NDArray[np.bool_]
    column: IntArray
    threshold: NDArray[np.float32]
    children: IntArray  # left at 2i, right at 2i + 1; a leaf is its own child
    share: IntArray
    shares: FloatArray


class Forest(BaseModel):
    """Decision trees as flat arrays, each tree depth first, so that a node's left child follows it.

    Args:
        roots: Where each tree begins.
        feature: Column a node looks at; -1 at a leaf.
        threshold: A node sends ``x <= threshold`` (in single precision, as scikit-learn does) to the left; 0 at a
            leaf.
        right: A node's right child; a leaf's row in ``counts``.
        counts: Training items of each grade in each leaf, shape (n_leaves, n_grades).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    roots: tuple[int, ...]
    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    right: tuple[int, ...]
    counts: tuple[tuple[int, ...], ...]

    @model_validator(mode="after")
    def _walkable(self) -> Self:
        nodes = np.arange(len(self.feature))
        feature, right = np.array(self.feature, dtype=np.int64), np.array(self.right, dtype=np.int64)
        leaf = feature == -1
        sound = (
            len(self.feature) == len(self.threshold) == len(self.right) > 0
            and bool(np.all(feature >= -1))
            and bool(np.all(leaf | ((right > nodes) & (right < len(nodes)))))  # always onward: a walk ends
            and bool(np.all(~leaf | ((right >= 0) & (right < len(self.counts)))))
            and bool(leaf[-1])
            and bool(self.roots)
            and all(0 <= root < len(nodes) for root in self.roots)
            and all(sum(row) > 0 for row in self.counts)
        )
        if not sound:
            raise ValueError("forest: nodes that do not form trees; the calibration file is damaged.")
        return self

    @cached_property
    def _arrays(self) -> _Nodes:
        feature, right = np.array(self.feature, dtype=np.int64), np.array(self.right, dtype=np.int64)
        nodes, leaf = np.arange(len(feature)), feature < 0
        children = np.empty(2 * len(nodes), dtype=np.int64)
        children[0::2] = np.where(leaf, nodes, nodes + 1)
        children[1::2] = np.where(leaf, nodes, right)
        counts = np.array(self.counts, dtype=np.float64)
        exact = np.array(self.threshold, dtype=np.float64)
        # A number in single precision is at most a threshold just when it is at most the next one below in single.
        single = exact.astype(np.float32)
        single = np.where(single > exact, np.nextafter(single, np.float32(-np.inf)), single)
        return _Nodes(
            leaf=leaf,
            column=np.where(leaf, 0, feature),
            threshold=single,
            children=children,
            share=np.where(leaf, right, 0),
            shares=counts / counts.sum(axis=1, keepdims=True),
        )

    def fits(self, width: int, n_grades: int) -> bool:
        """True when the trees read no column beyond ``width`` and every leaf counts ``n_grades`` grades."""
        return max(self.feature) < width and all(len(row) == n_grades for row in self.counts)

    def probabilities(self, columns: FloatArray, keep: NDArray[np.int32] | None = None) -> FloatArray:
        """Mean of the leaves' shares of each grade, shape (n_items, n_grades).

        Args:
            columns: Shape (n_items, n_columns).
            keep: Filled with the leaf (row of ``counts``) that each item reaches in each tree, shape (n_items,
                n_trees).
        """
        single = np.ascontiguousarray(columns, dtype=np.float32)
        shares = self._arrays.shares
        out = np.empty((len(single), shares.shape[1]))
        for start in range(0, len(single), ROWS_AT_ONCE):
            chunk = single[start : start + ROWS_AT_ONCE]
            reached = self._walk(chunk).reshape(len(chunk), len(self.roots))
            if keep is not None:
                keep[start : start + len(chunk)] = reached
            for grade in range(shares.shape[1]):
                out[start : start + len(chunk), grade] = shares[:, grade].take(reached).mean(axis=1)
        return out

    def path_steps(self, axis: FloatArray, width: int) -> FloatArray:
        """Steps that each column adds to the mean of ``axis`` on the way from the root to each leaf, shape (n_leaves,
        width); each leaf's mean is its root's and its row.

        Args:
            axis: What each grade is worth, shape (n_grades,).
            width: Columns.
        """
        nodes, n = self._arrays, len(self.feature)
        sizes, sums = np.zeros(n), np.zeros(n)
        counts = np.array(self.counts, dtype=np.float64)[nodes.share]
        sizes[nodes.leaf], sums[nodes.leaf] = counts.sum(axis=1)[nodes.leaf], (counts @ axis)[nodes.leaf]
        levels = [np.array(self.roots, dtype=np.int64)]
        while (inner := levels[-1][~nodes.leaf[levels[-1]]]).size:
            levels.append(np.concatenate([nodes.children[2 * inner], nodes.children[2 * inner + 1]]))
        above = [level[~nodes.leaf[level]] for level in levels]
        for inner in reversed(above):
            for column in (sizes, sums):
                column[inner] = column[nodes.children[2 * inner]] + column[nodes.children[2 * inner + 1]]
        means, steps = sums / np.maximum(sizes, 1.0), np.zeros((n, width))
        for inner in above:
            for children in (nodes.children[2 * inner], nodes.children[2 * inner + 1]):
                steps[children] = steps[inner]
                steps[children, nodes.column[inner]] += means[children] - means[inner]
        out = np.zeros((len(self.counts), width))
        out[nodes.share[nodes.leaf]] = steps[nodes.leaf]
        return out

    def _walk(self, chunk: NDArray[np.float32]) -> IntArray:
        """The row of ``shares`` that each row reaches in each tree, shape (n_rows * n_trees,)."""
        nodes, values = self._arrays, chunk.ravel()
        at = np.tile(np.array(self.roots, dtype=np.int64), len(chunk))
        row = np.repeat(np.arange(len(chunk)) * chunk.shape[1], len(self.roots))
        reached, walker = np.empty(len(at), dtype=np.int64), np.arange(len(at))
        while walker.size:
            for _ in range(LEVELS_AT_ONCE):  # a leaf is its own child, so that arriving early does no harm
                # Every index is valid; "wrap" is how take is told not to look.
                value = values.take(row + nodes.column.take(at, mode="wrap"), mode="wrap")
                at = nodes.children.take(2 * at + (value > nodes.threshold.take(at, mode="wrap")), mode="wrap")
            arrived = nodes.leaf.take(at)
            reached[walker[arrived]] = nodes.share.take(at[arrived])
            onward = np.flatnonzero(~arrived)
            walker, at, row = walker.take(onward), at.take(onward), row.take(onward)
        return reached
