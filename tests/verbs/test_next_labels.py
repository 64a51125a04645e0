"""What to label next: doubt from train queries only, and a random sample that estimates without bias."""

import numpy as np
import pytest

from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale
from judgec.table.rows.columns import RANDOM, UNCERTAIN
from judgec.verbs.next_labels import next_labels, uncertainty

SIZES = (1, 2, 3, 4, 6, 1, 2, 5, 3, 3, 1, 4) * 3
ITEMS = tuple(
    Item(f"{q}-{i}", f"q{q}", {"query": f"q{q}", "answer": str(i)}) for q, n in enumerate(SIZES) for i in range(n)
)

TRAIN = [i for i, item in enumerate(ITEMS) if int(item.query_id[1:]) % 2]


def judged(probabilities: list[list[float]]) -> Judgments:
    p = np.array(probabilities)[:, None, :]
    n = len(p)
    blank = np.zeros((n, 1))
    grade = np.zeros((n, 1), dtype=np.int64)
    return Judgments(("",) * n, ("grade",), p, grade, blank, grade, blank, ("",) * n, (None,) * n)


def test_uncertainty_of_ordered_grades_is_the_share_of_the_largest_variance() -> None:
    # On 1, 2, 5: certain 0; half on each end 1; .5 on 1 and 2 has variance .25 of at most 4.
    spread = judged([[0, 1, 0], [0.5, 0, 0.5], [0.5, 0.5, 0], [np.nan] * 3])
    assert uncertainty(spread, Scale(grades=(1, 2, 5))) == pytest.approx([0, 1, 0.25 / 4, 1])


def test_uncertainty_of_classes_is_the_entropy() -> None:
    spread = judged([[0, 1, 0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0, 0.5]])
    found = uncertainty(spread, Scale(level="nominal", grades=("a", "b", "tie")))
    assert found == pytest.approx([0, 1, np.log(2) / np.log(3)])


def test_next_labels_takes_the_least_sure_of_train_one_a_query_and_as_many_at_random() -> None:
    doubt = np.random.default_rng(3).random(len(ITEMS))
    picks = next_labels(ITEMS, doubt, 12, trainable=TRAIN)
    hard = [pick.item for pick in picks if pick.stratum == UNCERTAIN]
    drawn = {pick.item.item_id for pick in picks if pick.stratum == RANDOM}
    assert (len(hard), len(drawn)) == (6, 6)
    assert len({item.item_id for item in hard} | drawn) == 12
    assert all(ITEMS.index(item) in TRAIN for item in hard)
    assert len({item.query_id for item in hard}) == 6
    best: dict[str, float] = {}
    for item, value in zip(ITEMS, doubt, strict=True):
        if ITEMS.index(item) in TRAIN and item.item_id not in drawn:
            best[item.query_id] = max(best.get(item.query_id, 0.0), value)
    picked = sorted(doubt[ITEMS.index(item)] for item in hard)
    assert picked == pytest.approx(sorted(best.values())[-6:])
    assert picks == next_labels(ITEMS, doubt, 12, trainable=TRAIN)
    assert [ITEMS.index(pick.item) for pick in picks] == sorted(ITEMS.index(pick.item) for pick in picks)


@pytest.mark.parametrize("n", [10, 100])  # fewer draws than the 36 queries, and more
def test_next_labels_random_stratum_weighted_by_its_probabilities_estimates_without_bias(n: int) -> None:
    # The value of an item depends on how large its query is, so that equal weights are far off.
    sizes = {f"q{q}": size for q, size in enumerate(SIZES)}
    value = np.array([sizes[item.query_id] ** 2 for item in ITEMS], dtype=np.float64)
    estimates, plain = [], []
    for seed in range(1500):
        picks = [pick for pick in next_labels(ITEMS, value, n, trainable=TRAIN, seed=seed) if pick.stratum == RANDOM]
        values = np.array([value[ITEMS.index(pick.item)] for pick in picks])
        estimates.append((values / [pick.probability for pick in picks]).sum())
        plain.append(values.mean() * len(ITEMS))
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert np.mean(estimates) == pytest.approx(value.sum(), abs=4 * error)
    if n < len(SIZES):
        assert abs(np.mean(plain) - value.sum()) > 4 * error  # so the weights are what makes it right


def test_next_labels_more_than_there_are_gives_all_at_random() -> None:
    picks = next_labels(ITEMS[:5], np.zeros(5), 20, trainable=[])
    assert [pick.item for pick in picks] == list(ITEMS[:5])
    assert {(pick.stratum, pick.probability) for pick in picks} == {(RANDOM, 1.0)}
