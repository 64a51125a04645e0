import numpy as np
import pytest
from pydantic import ValidationError

from judgec.raters.forest import Forest

# Column 0 <= 1.5 goes to a leaf with counts (3, 1); else column 1 <= 0 to (0, 2), above it to (1, 1).
# The second tree is a single leaf.
FOREST = Forest(
    roots=(0, 5),
    feature=(0, -1, 1, -1, -1, -1),
    threshold=(1.5, 0.0, 0.0, 0.0, 0.0, 0.0),
    right=(2, 0, 4, 1, 2, 3),
    counts=((3, 1), (0, 2), (1, 1), (1, 3)),
)


def test_forest_walk_by_hand() -> None:
    rows = np.array([[1.0, 9.0], [2.0, -1.0], [2.0, 1.0], [1.5, 0.0]])
    wanted = [[(3 / 4 + 1 / 4) / 2, (1 / 4 + 3 / 4) / 2], [1 / 8, 7 / 8], [3 / 8, 5 / 8], [1 / 2, 1 / 2]]
    np.testing.assert_allclose(FOREST.probabilities(rows), wanted, atol=1e-15)


def test_forest_more_rows_than_a_chunk_equal_one_by_one() -> None:
    rows = np.random.default_rng(0).normal(1.5, 1.0, size=(1100, 2))
    alone = np.vstack([FOREST.probabilities(row[None, :]) for row in rows])
    np.testing.assert_array_equal(FOREST.probabilities(rows), alone)


@pytest.mark.parametrize(
    "damage",
    [
        {"right": (0, 0, 4, 1, 2, 3)},  # a loop: the root's right child is the root
        {"right": (9, 0, 4, 1, 2, 3)},  # beyond the last node
        {"right": (2, 7, 4, 1, 2, 3)},  # a leaf without counts
        {"feature": (0, -2, 1, -1, -1, -1)},
        {"feature": (0, -1, 1, -1, -1, 0)},  # the last node has no left child
        {"roots": (0, 17)},
        {"roots": ()},
        {"threshold": (1.5,)},
        {"threshold": (float("nan"), 0.0, 0.0, 0.0, 0.0, 0.0)},
        {"counts": ((0, 0), (0, 2), (1, 1), (1, 3))},
        {"payload": "cos\nsystem"},
    ],
)
def test_forest_damaged_arrays_are_refused(damage: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Forest.model_validate({**FOREST.model_dump(), **damage})
