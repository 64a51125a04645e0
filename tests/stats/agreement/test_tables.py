import numpy as np
import pytest

from judgec.stats.agreement.tables import contingency, rectangular_tables


def test_contingency_of_four_items_counts_expert_by_judge() -> None:
    table = contingency(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 0]), 3)
    assert table.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]


def test_tables_with_empty_cluster_keep_its_zeros() -> None:
    tables = rectangular_tables(np.array([0, 1]), np.array([1, 1]), np.array([0, 2]), (2, 2), n_clusters=4)
    assert tables[0].tolist() == [[0, 1], [0, 0]]
    assert tables[2].tolist() == [[0, 0], [0, 1]]
    assert tables[[1, 3]].sum() == 0


@pytest.mark.parametrize(
    ("expert", "judge", "cluster", "message"),
    [
        ([0, 1], [0, -1], [0, 0], "judge: grade positions -1..0; 0..1 are on the scale"),
        ([0, 2], [0, 1], [0, 0], "expert: grade positions 0..2"),
        ([0, 1], [0], [0, 0], "must have the same shape"),
        ([0, 1], [0, 1], [0, 7], "cluster codes 0..7"),
        ([0, 1], [0, 1], [0, -1], "cluster codes -1..0"),
    ],
)
def test_tables_of_bad_input_raise(expert: list[int], judge: list[int], cluster: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rectangular_tables(np.array(expert), np.array(judge), np.array(cluster), (2, 2), n_clusters=2)
