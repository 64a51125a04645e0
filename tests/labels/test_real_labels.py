"""Real label files; skipped, with the reason, where the folder beside the project is absent."""

import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from judgec.labels.experts import experts_of
from judgec.labels.labels import read_item_file, read_label_file
from judgec.labels.split.draw import split_labels
from judgec.stats.agreement.ceiling import expert_ratings
from judgec.table.tables import read_table

DATA = Path(__file__).parents[2].parent / "shared" / "data"
LABELS = DATA / "labels"
RAGELO = DATA / "ragelo_example"

pytestmark = pytest.mark.skipif(
    not LABELS.is_dir(), reason=f"NOT TESTED: the real labels are not at {LABELS}; see their README"
)

# rows, items, queries, annotators as the README of the data counts them, and the task.
KNOWN = {
    "clapnq_faithfulness": (1200, 400, 100, 7, "grade"),
    "clapnq_aspects": (1200, 400, 100, 7, "answer"),
    "nq301_accept": (3196, 1490, 301, 3, "grade"),
    "evouna_nq_accept": (2699, 2699, 540, 1, "grade"),
    "expertqa_rand_val_usefulness": (217, 217, 217, 174, "grade"),
    "pandalm_preference": (2997, 999, 170, 3, "preference"),
    "cranfield_relevance": (3223, 3223, 225, 1, "relevance"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_label_file_reads_as_its_readme_says_in_half_a_second(name: str) -> None:
    path = str(LABELS / f"{name}.jsonl")
    seconds = []
    for _ in range(3):  # one of three is not interrupted by a collection of the garbage of other tests
        start = time.thread_time()
        file = read_label_file(path)
        seconds.append(time.thread_time() - start)
    assert min(seconds) < 0.5
    labels = file.labels
    queries = {item.query_id for item in labels.items}
    annotators = {label.annotator for label in labels.labels}
    assert (file.rows, len(labels.items), len(queries), len(annotators), labels.task) == KNOWN[name]
    assert len(labels.labels) == file.rows
    assert labels.items == read_item_file(path, task=labels.task).items
    assert min(split_labels(labels).sizes().values()) > 0.1 * len(labels.items)


def test_planted_traps_are_counted_and_preference_majorities_the_published_ones() -> None:
    assert read_label_file(str(LABELS / "clapnq_faithfulness.jsonl")).empty_answers == 60
    file = read_label_file(str(LABELS / "pandalm_preference.jsonl"))
    assert file.not_text == 18
    counts = np.bincount(experts_of(file.labels).target[:, 0, 0])
    assert dict(zip(file.labels.scale.grades, counts.tolist(), strict=True)) == {"a": 422, "b": 472, "tie": 105}


def test_faithfulness_annotators_agree_as_published() -> None:
    # README: exact .513, within one .896, over the pairs of annotators of each item.
    grade_by = experts_of(read_label_file(str(LABELS / "clapnq_faithfulness.jsonl")).labels).grade_by[:, :, 0]
    apart = [abs(int(a) - int(b)) for item in grade_by.T for a, b in combinations(item[item >= 0].tolist(), 2)]
    assert len(apart) == 1200
    assert np.mean(np.array(apart) == 0) == pytest.approx(0.513, abs=5e-4)
    assert np.mean(np.array(apart) <= 1) == pytest.approx(0.896, abs=5e-4)


def test_leave_one_out_of_two_annotators_is_the_other_one() -> None:
    labels = read_label_file(str(LABELS / "nq301_accept.jsonl")).labels
    experts = experts_of(labels)
    assert experts.target_accept.shape[-1] == 1  # a third annotator decided wherever the first two differ
    first = next(iter(expert_ratings(experts, labels.scale, accept_only=True).values()))
    kept = ((experts.accept_by[0] >= 0) & (experts.accept_by[1:] >= 0).any(axis=0))[:, 0]
    both = experts.accept_by[2, :, 0] < 0
    assert (first.target[both[kept], 0] == experts.accept_by[1, both & kept, 0]).all()


@pytest.mark.parametrize("path", sorted(DATA.glob("*/**/*.*sv")) + sorted(DATA.glob("*/*.jsonl")), ids=lambda p: p.name)
def test_every_table_can_be_read(path: Path) -> None:
    table = read_table(str(path))
    assert table.rows
    assert len(table.rows) == len(table.lines)
