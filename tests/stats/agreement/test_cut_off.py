"""The best cut-off of a score, fitted across folds of queries."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score

from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.cut_off import FOLDS, best_cut_off


def scored(expert: IntArray, score: FloatArray, cluster: IntArray) -> GradePairs:
    none = np.full(len(expert), -1)
    return GradePairs(
        expert[:, None], expert * 0, score, none[:, None], none, cluster, (0.0, 1.0), int(cluster.max()) + 1
    )


def best_by_hand(expert: IntArray, score: FloatArray) -> float:
    """The lowest of the cut-offs between two scores with the highest kappa of scikit-learn."""
    values = np.unique(score)
    cuts = [values[0], *((values[1:] + values[:-1]) / 2)]
    kappas = [cohen_kappa_score(expert, score >= cut) for cut in cuts]
    return float(cuts[int(np.argmax(np.round(np.nan_to_num(kappas), 12)))])


def test_cut_off_and_its_held_out_kappa_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(40), 3)
    expert = rng.integers(0, 2, 120)
    score = np.clip(0.45 + 0.25 * expert + rng.normal(0, 0.2, 120), 0, 1).round(2)
    found = best_cut_off(scored(expert, score, cluster))
    assert found is not None
    assert found.at == pytest.approx(best_by_hand(expert, score))
    held = [sorted(zip(expert[cluster == query], score[cluster == query], strict=True)) for query in range(40)]
    content = [[(*cell, own.count(cell)) for cell in sorted(set(own))] for own in held]
    order = np.argsort(sorted(range(40), key=content.__getitem__))
    fold = np.random.default_rng(0).permutation(np.arange(40) % FOLDS)[order[cluster]]  # by what the queries hold
    said = np.empty(120, dtype=int)
    for one in range(FOLDS):
        held = fold == one
        said[held] = score[held] >= best_by_hand(expert[~held], score[~held])
    assert found.estimates["kappa"].value == pytest.approx(cohen_kappa_score(expert, said))
    assert found.estimates["exact"].value == pytest.approx(accuracy_score(expert, said))


def test_a_score_of_noise_gains_nothing_by_the_fit() -> None:
    rng = np.random.default_rng(2)
    expert, score = rng.integers(0, 2, 400), rng.random(400)
    found = best_cut_off(scored(expert, score, np.arange(400)))
    assert found is not None
    assert found.estimates["kappa"].value == pytest.approx(0.0, abs=0.12)


def test_labels_of_one_class_have_no_cut_off() -> None:
    assert best_cut_off(scored(np.ones(20, dtype=int), np.linspace(0, 1, 20), np.arange(20))) is None
