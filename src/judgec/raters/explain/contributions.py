"""Computes the share of each topic of the evidence in a calibrated score.

A tree's path adds up: from the mean of all training items at the root, every question about a column leads to a
node with another mean, until the leaf's. What a topic's columns add on the way is the topic's contribution
(Saabas, 2014, Interpreting random forests). A logistic score is a sum already; on the scale of the grades each of
its terms gets the same share of the difference that they make together.
"""

import numpy as np
from numpy.typing import NDArray

from judgec.raters.calibrator import Calibrator, Trace
from judgec.records.label import FloatArray, IntArray

FLAT = 1e-9  # difference of two logits below which the slope is taken at the point itself


class Contributions:
    """What each topic adds to the expectation of ``axis``.

    Args:
        calibrator: One that reads evidence.
        topics: The topic of each feature, shape (n_features,), 0 .. n_topics - 1.
        n_topics: How many there are.
        axis: What each grade is worth, shape (n_grades,).
    """

    def __init__(self, calibrator: Calibrator, topics: IntArray, n_topics: int, axis: FloatArray) -> None:
        self._n_topics = n_topics
        self._axis = axis
        self._ordinal = calibrator.ordinal
        self._linear = calibrator.linear
        self._verdict_columns = 0 if calibrator.source == "evidence" else calibrator.n_grades - 1
        parts = (calibrator.linear is not None) + (calibrator.forest is not None)
        self._weight = (1.0 - calibrator.smoothing) / max(parts, 1)
        ours = np.zeros((self._verdict_columns + len(topics), n_topics))
        ours[np.arange(len(topics)) + self._verdict_columns, topics] = 1.0
        self._order = self._verdict_columns + np.argsort(topics, kind="stable")
        self._topics, self._starts = np.unique(np.sort(topics), return_index=True)
        if calibrator.linear is not None:
            self._coefficients = np.array(calibrator.linear.coefficients)
        self._leaves: list[NDArray[np.float32] | None] = []
        if calibrator.forest is not None:
            by_leaf = (calibrator.forest.path_steps(axis, len(ours)) @ ours).T
            self._leaves = [leaves.astype(np.float32) if leaves.any() else None for leaves in by_leaf]

    def of(self, trace: Trace, rows: IntArray) -> FloatArray:
        """The contributions to some rows, shape (n_rows, n_topics); 0 to a row that was not calibrated.

        Args:
            trace: From ``Calibrator.apply``.
            rows: Positions in what was calibrated.
        """
        out = np.zeros((len(rows), self._n_topics))
        at = trace.places(rows)
        known = np.flatnonzero(at >= 0)
        if trace.scaled is not None and self._linear is not None:
            out[known] += self._of_linear(trace.scaled[at[known]])
        if trace.reached is not None and self._leaves:
            reached = trace.reached[at[known]].astype(np.intp)
            for topic, leaves in enumerate(self._leaves):
                if leaves is not None:
                    out[known, topic] += leaves.take(reached).mean(axis=1)
        return out * self._weight

    def _of_linear(self, scaled: FloatArray) -> FloatArray:
        assert self._linear is not None  # asked only then
        start = np.array(self._linear.intercepts)
        # einsum stays in one thread: for matrices this small, those of a BLAS cost many times what they save.
        logits = np.einsum("nc,sc->ns", scaled, self._coefficients) + start
        slopes = self._cut_slopes(logits, start) if self._ordinal else self._class_slopes(logits, start)
        terms = scaled * np.einsum("ns,sc->nc", slopes, self._coefficients)
        out = np.zeros((len(scaled), self._n_topics))
        out[:, self._topics] = np.add.reduceat(terms[:, self._order], self._starts, axis=1)
        return out

    def _cut_slopes(self, logits: FloatArray, start: FloatArray) -> FloatArray:
        """How much the expectation rises with each cut's logit on the way from ``start``."""
        assert self._linear is not None  # asked only then
        above, before = 0.5 * (1.0 + np.tanh(0.5 * logits)), 0.5 * (1.0 + np.tanh(0.5 * start))
        way = logits - start
        far = np.abs(way) > FLAT
        slopes = np.where(far, (above - before) / np.where(far, way, 1.0), above * (1.0 - above))
        cuts = np.array(self._linear.classes)
        return np.asarray(slopes * (self._axis[cuts] - self._axis[cuts - 1]))

    def _class_slopes(self, logits: FloatArray, start: FloatArray) -> FloatArray:
        """The same of each class's logit, taken half-way."""
        assert self._linear is not None  # asked only then
        middle = (logits + start) / 2.0
        weights = np.exp(middle - middle.max(axis=1, keepdims=True))
        chances = weights / weights.sum(axis=1, keepdims=True)
        worth = self._axis[list(self._linear.classes)]
        return np.asarray(chances * (worth - (chances @ worth)[:, None]))
