"""Labels under a split: by query, the same for every seed, and labelled items only."""

import random
from pathlib import Path

import numpy as np
import pytest

from judgec.compile.dataset import Dataset, make_dataset
from judgec.labels.labels import read_labels
from judgec.labels.reading import as_reading
from judgec.labels.split.draw import FRESH
from judgec.labels.split.memory import Memory, read_memory
from tests.compile.small import Rows, compiled_from, write
from tests.service import grading_world

ROWS = grading_world.rows(90, per_query=3)
PARTS = ("train", "dev", "test")


def dataset(folder: Path, rows: Rows, *, seed: int = 0, memory: Memory = FRESH) -> Dataset:
    labels = read_labels(str(write(folder / "l.jsonl", rows)), as_reading(annotators=["*"]))
    return make_dataset(labels, seed, memory=memory)


def members(found: Dataset) -> dict[str, set[str]]:
    return {name: {item.item_id for item in getattr(found, name).items} for name in PARTS}


def test_parts_hold_every_item_once_and_no_query_twice(tmp_path: Path) -> None:
    found = dataset(tmp_path, ROWS)
    parts = members(found)
    assert sum(map(len, parts.values())) == len(set.union(*parts.values())) == 90
    queries = [{item.query_id for item in getattr(found, name).items} for name in PARTS]
    assert sum(map(len, queries)) == len(set.union(*queries)) == 30


def test_adding_labels_and_shuffling_rows_moves_no_item_that_a_judge_remembers(tmp_path: Path) -> None:
    before = members(compiled_from(tmp_path, ROWS, name="one").compiled.dataset)
    more = [*grading_world.rows(180, per_query=3)[90:], *ROWS]
    random.Random(1).shuffle(more)
    after = members(dataset(tmp_path, more, memory=read_memory(tmp_path, "another")))
    assert all(before[name] < after[name] for name in PARTS)


def test_seed_changes_nothing_but_a_consensus_that_is_picked(tmp_path: Path) -> None:
    rows = [
        {**row, "annotator": name, "grade": grade}
        for row in ROWS
        for name, grade in (("a", row["grade"]), ("b", 1 + (int(str(row["grade"])) % 5)))
    ]
    one, other = (dataset(tmp_path, rows, seed=seed) for seed in (0, 1))
    assert members(one) == members(other)
    assert one.split.digests == other.split.digests
    assert (one.train.experts.target == other.train.experts.target).all()
    one, other = (make_dataset(one.labels, seed, consensus="pick") for seed in (0, 1))
    assert (one.train.experts.target != other.train.experts.target).any()


def test_items_that_nobody_labelled_are_in_no_part_and_labels_stay_with_their_items(tmp_path: Path) -> None:
    rows = [{**row, "grade": None} if k % 3 == 0 else row for k, row in enumerate(ROWS)]
    found = dataset(tmp_path, rows)
    assert len(found.labels.items) == 90
    assert sum(map(len, members(found).values())) == 60
    wanted = {str(row["item_id"]): row["grade"] for row in rows}
    for name in PARTS:
        part = getattr(found, name)
        grades = np.array(found.labels.scale.grades)[part.experts.target[:, 0, 0]]
        assert {item.item_id: int(g) for item, g in zip(part.items, grades, strict=True)} == {
            item.item_id: wanted[item.item_id] for item in part.items
        }


def test_item_with_an_accept_and_no_grade_is_labelled(tmp_path: Path) -> None:
    rows = [
        {**row, "accept": int(str(row["grade"])) > 3} | ({"grade": None} if k % 3 == 0 else {})
        for k, row in enumerate(ROWS)
    ]
    assert sum(map(len, members(dataset(tmp_path, rows)).values())) == 90


@pytest.mark.parametrize("name", PARTS)
def test_rows_of_a_part_keep_items_labels_and_rationales_together(tmp_path: Path, name: str) -> None:
    rows = [{**row, "rationale": f"why {row['item_id']}"} for row in ROWS]
    part = getattr(dataset(tmp_path, rows), name)
    chosen = part.rows([4, 1])
    assert [item.item_id for item in chosen.items] == [part.items[4].item_id, part.items[1].item_id]
    assert chosen.experts.target.tolist() == part.experts.target[[4, 1]].tolist()
    assert chosen.rationale(0) == f"why {part.items[4].item_id}"
    assert chosen.n_queries == len({item.query_id for item in chosen.items})


def test_rationale_is_that_of_an_annotator_who_gave_the_grade_of_the_experts(tmp_path: Path) -> None:
    rows: Rows = [
        {**row, "annotator": name, "grade": 1 + (int(str(row["grade"])) + more) % 5, "rationale": f"{name} says so"}
        for row in ROWS
        for name, more in (("ann", 1), ("ben", 0), ("eve", 0))
    ]
    found = dataset(tmp_path, rows)
    for part in (found.train, found.dev, found.test):
        assert {part.rationale(i) for i in range(len(part))} == {"ben says so"}
        assert all([part.agrees(one, i) for one in part.reasoned(i)] == [False, True, True] for i in range(len(part)))
