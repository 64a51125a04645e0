"""Cells of the coverage benchmark, with few tables."""

import numpy as np
import pytest
from benchmarks.systems import APART, EQUAL, World, cell, holds


@pytest.mark.full
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("rates", [EQUAL, APART])
@pytest.mark.parametrize(("queries", "labelled"), [(20, 0.5), (60, 0.2), (200, 0.2)])
def test_a_cell_holds(queries: int, labelled: float, rates: tuple[float, ...], *, whole: bool) -> None:
    found = cell(World(queries, labelled, 0.5, whole, rates), 250, None)
    assert holds(found)
    assert np.median(np.concatenate(found.width)) < np.median(np.concatenate(found.alone))


def test_a_cell_with_one_label_a_system_gives_no_interval() -> None:
    assert cell(World(20, 0.05, 0.5, whole=True, rates=EQUAL), 20, None).given == 0
