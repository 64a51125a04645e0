"""Takes the grades of annotators who differ as shares, which calibrators can learn in place of one target."""

import numpy as np

from judgec.records.label import FloatArray, IntArray


def shares_of(by: IntArray, n_grades: int) -> FloatArray:
    """The annotators' shares of each grade, shape (n_items, n_grades); rows of an item that nobody labelled are 0.

    Args:
        by: Grade positions, shape (n_annotators, n_items); -1 where missing.
        n_grades: Grades on the scale.
    """
    counts = (by[:, :, None] == np.arange(n_grades)).sum(axis=0)
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))
