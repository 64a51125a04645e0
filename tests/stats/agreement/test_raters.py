"""Fleiss' kappa and Krippendorff's alpha: published examples, by hand, and two other implementations."""

from typing import Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from judgec.records.label import IntArray
from judgec.stats.agreement.raters import fleiss_kappa, fleiss_statistic, krippendorff_alpha, rating_counts
from judgec.stats.intervals.jackknife import interval
from tests.stats.known import bounds

evalica = pytest.importorskip("evalica")
inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")

# Krippendorff (2011), section C: four observers, twelve units, five grades, missing values.
PUBLISHED = np.array(
    [[int(n) for n in row] for row in ("123321412000", "123322412503", "033323422510", "123324412510")]
)

# Fleiss (1971) as worked in textbooks: ten subjects, fourteen raters, five categories; kappa .210.
COUNTS = ("0 0 0 0 14", "0 2 6 4 2", "0 0 3 5 6", "0 3 9 2 0", "2 2 8 1 1", "7 7 0 0 0", "3 2 6 3 0", "2 5 3 2 2")
FLEISS = np.array([list(map(int, row.split())) for row in (*COUNTS, "6 5 2 1 0", "0 2 2 3 7")])

RATINGS = hnp.arrays(np.int64, st.tuples(st.integers(2, 5), st.integers(2, 12)), elements=st.integers(-1, 3))


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_example(level: Literal["nominal", "ordinal", "interval"], alpha: float) -> None:
    assert krippendorff_alpha(rating_counts(PUBLISHED - 1, 5), level) == pytest.approx(alpha, abs=5e-4)


def test_fleiss_kappa_of_the_published_example() -> None:
    assert fleiss_kappa(FLEISS) == pytest.approx(0.210, abs=5e-4)


def test_both_by_hand_on_three_units() -> None:
    # Two raters, units (0,0), (0,1), (1,1). Observed agreement 2/3, shares 1/2 each, chance 1/2: kappa 1/3.
    # Alpha: D_o = 2/6, D_e = 2 * 3 * 3 / (6 * 5) = 3/5: 1 - 5/9 = 4/9.
    counts = rating_counts(np.array([[0, 0, 1], [0, 1, 1]]), 2)
    assert counts.tolist() == [[2, 0], [1, 1], [0, 2]]
    assert fleiss_kappa(counts) == pytest.approx(1 / 3)
    assert krippendorff_alpha(counts) == pytest.approx(4 / 9)


def test_unequal_numbers_of_raters_by_hand() -> None:
    # Units: (0,0), (0,1,1), and one rated once, which says nothing. Observed (1 + 1/3) / 2 = 2/3;
    # shares (1 + 1/3) / 2 = 2/3 and 1/3; chance 5/9; kappa (2/3 - 5/9) / (4/9) = 1/4.
    counts = rating_counts(np.array([[0, 0, 1], [0, 1, -1], [-1, 1, -1]]), 2)
    assert fleiss_kappa(counts) == pytest.approx(1 / 4)


def test_interval_alpha_uses_the_values_of_the_grades() -> None:
    counts = rating_counts(np.array([[0, 0, 1, 2], [0, 1, 1, 1]]), 3)
    assert krippendorff_alpha(counts, "interval") == krippendorff_alpha(counts, "interval", np.array([5.0, 6.0, 7.0]))
    assert krippendorff_alpha(counts, "interval") != krippendorff_alpha(counts, "interval", np.array([0.0, 1.0, 9.0]))


@pytest.mark.parametrize("ratings", [[[1, 1], [1, 1]], [[0, -1], [-1, 1]], [[-1], [-1]]])
def test_undefined_agreement_is_none(ratings: list[list[int]]) -> None:
    counts = rating_counts(np.array(ratings), 2)
    assert fleiss_kappa(counts) is None
    assert krippendorff_alpha(counts) is None


def test_opposite_raters_are_worse_than_chance() -> None:
    counts = rating_counts(np.array([[0, 1, 0, 1], [1, 0, 1, 0]]), 2)
    assert fleiss_kappa(counts) == pytest.approx(-1)
    assert (krippendorff_alpha(counts) or 0) < 0


@given(RATINGS, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_equals_evalica(ratings: IntArray, level: Literal["nominal", "ordinal", "interval"]) -> None:
    ours = krippendorff_alpha(rating_counts(ratings, 4), level)
    assume(ours is not None)
    frame = pd.DataFrame(np.where(ratings < 0, np.nan, ratings.astype(float)))
    theirs = evalica.alpha(frame, distance=level, solver="naive").alpha
    assert ours == pytest.approx(theirs, abs=1e-12)


@given(hnp.arrays(np.int64, st.tuples(st.integers(2, 5), st.integers(2, 12)), elements=st.integers(0, 3)))
def test_fleiss_kappa_equals_statsmodels_when_nothing_is_missing(ratings: IntArray) -> None:
    ours = fleiss_kappa(rating_counts(ratings, 4))
    assume(ours is not None)
    counts, _ = inter_rater.aggregate_raters(ratings.T, n_cat=4)
    assert ours == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-12)


@given(RATINGS, st.permutations(range(4)))
def test_renaming_unordered_grades_changes_neither(ratings: IntArray, names: list[int]) -> None:
    renamed = np.where(ratings < 0, -1, np.array(names)[ratings])
    counts, again = rating_counts(ratings, 4), rating_counts(renamed, 4)
    assert fleiss_kappa(counts) == pytest.approx(fleiss_kappa(again))
    assert krippendorff_alpha(counts, "nominal") == pytest.approx(krippendorff_alpha(again, "nominal"))


def test_counts_flatten_aspects() -> None:
    ratings = np.array([[[0, 1], [2, -1]], [[0, 0], [2, 2]]])
    assert rating_counts(ratings, 3).tolist() == [[2, 0, 0], [1, 1, 0], [0, 0, 2], [0, 0, 1]]


@given(RATINGS, st.integers(0, 2**32 - 1))
def test_fleiss_statistic_without_a_cluster_is_that_of_the_other_units(ratings: IntArray, seed: int) -> None:
    counts = rating_counts(ratings, 4)
    cluster = np.random.default_rng(seed).integers(0, 4, len(counts))
    cluster[-1] = 3  # so that there are four, some of them perhaps empty
    for query, found in enumerate(fleiss_statistic(counts, cluster).without().tolist()):
        rest = fleiss_kappa(counts[cluster != query])
        assert (None if np.isnan(found) else found) == pytest.approx(rest, abs=1e-9)


def test_fleiss_interval_by_leaving_out_each_query() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 120)
    counts = rating_counts(np.where(rng.random((3, 120)) < 0.7, truth, rng.integers(0, 3, (3, 120))), 3)
    cluster = np.arange(120) // 2
    found = interval(fleiss_statistic(counts, cluster))
    without = np.array([fleiss_kappa(counts[cluster != query]) for query in range(60)], dtype=np.float64)
    assert found.value == pytest.approx(fleiss_kappa(counts))
    assert found.se == pytest.approx(float(np.sqrt(59 / 60 * ((without - without.mean()) ** 2).sum())))
    low, high = bounds(found)
    assert low < (found.value or 0) < high
    assert found.n_clusters == 60
