"""Features from other processes: the same bits in the same order, whatever becomes of a process."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from judgec.evidence.model import EvidenceModel
from judgec.evidence.processes import LEAST_ITEMS, Processes, count_of
from judgec.lm.journal.journal import Journal
from judgec.raters.features import KeptFeatures
from judgec.raters.piece import ROWS, pieces_of
from judgec.records.label import Item

ITEMS = tuple(
    Item(
        str(n),
        "q",
        {"query": "How \ud83d far?", "answer": f"{n} km\nor so", "contexts": (f"It is {n % 7} miles.", "No.")},
    )
    for n in range(3 * ROWS + 5)
)


@pytest.fixture(scope="module")
def evidence() -> EvidenceModel:
    return EvidenceModel.fit(ITEMS[:50])


@pytest.fixture(scope="module")
def processes(evidence: EvidenceModel) -> Iterator[Processes]:
    with Processes(2, [evidence]) as two:
        yield two


def test_features_from_two_processes_are_those_of_one_in_the_order_of_the_items(
    evidence: EvidenceModel, processes: Processes, tmp_path: Path
) -> None:
    features, parts = evidence.observe(ITEMS)
    with Journal(tmp_path / "j.db") as journal:
        kept = KeptFeatures(journal, "judge", processes)
        begun = [kept.begin(evidence, piece, range(len(piece.item_ids))) for piece in pieces_of(ITEMS)]
        found = [observed() for observed in begun]
    assert np.concatenate([one for one, _ in found]).tobytes() == features.tobytes()
    assert [part for _, some in found for part in some] == parts


def test_what_a_killed_process_had_is_computed_here(evidence: EvidenceModel) -> None:
    with Processes(1, [evidence]) as one:
        assert len(one.observe(evidence, ITEMS[:3]).result()[1]) == 3
        one._children[0].kill()
        found = [one.observe(evidence, ITEMS[start : start + 4]).result() for start in (0, 4)]
    expected = evidence.observe(ITEMS[:8])
    assert np.array_equal(np.concatenate([features for features, _ in found]), expected[0])
    assert [part for _, parts in found for part in parts] == expected[1]


@pytest.mark.parametrize(
    ("asked", "items", "asks_lm", "processes"),
    [(3, 10, False, 3), (1, 10**9, False, 0), (None, LEAST_ITEMS - 1, False, 0), (8, 10**9, True, 0)],
)
def test_processes_are_those_asked_for_unless_a_model_is_asked_or_there_is_little_to_do(
    asked: int | None, items: int, asks_lm: bool, processes: int
) -> None:
    assert count_of(asked, items, asks_lm=asks_lm) == processes
