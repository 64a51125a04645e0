"""Dawid and Skene's consensus: against loops over dictionaries, and in worlds whose truth and annotators are known."""

import numpy as np
import pytest
from benchmarks.consensus import mace

from judgec.records.label import IntArray
from judgec.stats.agreement.dawid_skene import CONVERGED, PRIOR, SMOOTHING, dawid_skene


def world(seed: int, right: tuple[float, ...], n: int = 300, grades: int = 3) -> tuple[IntArray, IntArray]:
    """True grades, and annotators who are right that often; a fifth of the labels is missing."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(grades, size=n, p=[0.5, 0.3, 0.2][:grades])
    by = np.stack(
        [np.where(rng.random(n) < share, truth, (truth + rng.integers(1, grades, n)) % grades) for share in right]
    )
    by[rng.random(by.shape) < 0.2] = -1
    return truth, by.astype(np.int64)


def by_loops(by: IntArray, grades: int, rounds: int) -> tuple[list[list[float]], list[list[list[float]]]]:
    """The same from the paper's equations 2.3 to 2.5, one term at a time, with the prior's labels on the diagonal."""
    items = [[(a, int(by[a, i])) for a in range(len(by)) if by[a, i] >= 0] for i in range(by.shape[1])]
    chances = [[sum(g == k for _, g in said) / len(said) for k in range(grades)] for said in items]
    confusion: list[list[list[float]]] = []
    for _ in range(rounds):
        shares = [sum(row[k] for row in chances) / len(items) for k in range(grades)]
        confusion = []
        for a in range(len(by)):
            matrix = [[SMOOTHING + PRIOR * (k == other) for other in range(grades)] for k in range(grades)]
            for row, said in zip(chances, items, strict=True):
                for who, g in said:
                    if who == a:
                        for k in range(grades):
                            matrix[k][g] += row[k]
            confusion.append([[cell / sum(row) for cell in row] for row in matrix])
        for i, said in enumerate(items):
            weights = [shares[k] * float(np.prod([confusion[a][k][g] for a, g in said])) for k in range(grades)]
            chances[i] = [weight / sum(weights) for weight in weights]
    return chances, confusion


@pytest.mark.parametrize("seed", range(3))
def test_chances_equal_the_loops_of_the_paper(seed: int) -> None:
    _, by = world(seed, (0.9, 0.6, 0.7), n=80)
    by = by[:, (by >= 0).any(axis=0)]
    found = dawid_skene(by, 3)
    assert found is not None
    chances, confusion = by_loops(by, 3, len(found.log_posterior))
    assert found.chances == pytest.approx(np.array(chances), abs=1e-8)
    assert found.confusion == pytest.approx(np.array(confusion), abs=1e-8)


def test_posterior_never_falls() -> None:
    _, by = world(7, (0.5, 0.55, 0.9, 0.8))
    found = dawid_skene(by, 3)
    assert found is not None
    assert len(found.log_posterior) > 3
    assert np.diff(found.log_posterior).min() > -CONVERGED * by.shape[1]


def test_known_annotators_are_found_and_beat_the_median() -> None:
    right = (0.95, 0.7, 0.6, 0.55)
    hits, votes = [], []
    for seed in range(5):
        truth, by = world(seed, right, n=1000)
        found = dawid_skene(by, 3)
        assert found is not None
        counts = (by[:, :, None] == np.arange(3)).sum(axis=0)
        most = counts.argmax(axis=1)
        hits.append(float((found.grades(most) == truth).mean()))
        votes.append(float((most == truth).mean()))
        said = [float(np.diag(one) @ found.shares) for one in found.confusion]
        assert said[0] == max(said)
        assert said[0] == pytest.approx(0.95, abs=0.1)
    assert np.mean(hits) > np.mean(votes) + 0.03


def test_annotators_who_always_agree_are_believed() -> None:
    same = np.tile(np.array([0, 1, 2, 1] * 10), (3, 1))
    found = dawid_skene(same, 3)
    assert found is not None
    assert (found.grades(np.zeros(40, dtype=np.int64)) == same[0]).all()


def test_nothing_to_compare_is_none() -> None:
    assert dawid_skene(np.array([[0, 1, -1], [-1, -1, 2]]), 3) is None
    assert dawid_skene(np.full((2, 3), -1), 3) is None


def test_item_without_a_label_has_no_grade_and_a_tie_keeps_the_first_consensus() -> None:
    by = np.array([[0, 1, -1, 0, 1], [1, 0, -1, 1, 0]])  # mirror images: nobody is right more often
    found = dawid_skene(by, 2)
    assert found is not None
    median = np.array([1, 1, -1, 0, 0])
    assert found.grades(median).tolist() == [1, 1, -1, 0, 0]
    assert np.isnan(found.chances[2]).all()


def test_mace_of_the_benchmark_sees_through_spammers() -> None:
    """It is the rival that was not taken: measured fairly, it has to work where its model holds."""
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=600)
    experts = [np.where(rng.random(600) < 0.85, truth, rng.integers(3, size=600)) for _ in range(2)]
    spammers = [rng.choice(3, p=[0.8, 0.1, 0.1], size=600) for _ in range(3)]
    by = np.stack([*experts, *spammers])
    found = mace(by, 3)
    assert found is not None
    most = (by[:, :, None] == np.arange(3)).sum(axis=0).argmax(axis=1)
    assert (found.argmax(axis=1) == truth).mean() > (most == truth).mean() + 0.1
