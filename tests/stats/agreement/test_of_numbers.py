"""Statistics and objectives of labels on an interval scale, against SciPy and against the ordinal ones."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judgec.errors import UserError
from judgec.labels.experts import experts_of
from judgec.labels.labels import read_label_file
from judgec.labels.reading import as_reading
from judgec.records.ratings import GradePairs
from judgec.records.scale import Scale
from judgec.stats.agreement.measure import NO_CLASSES, measure
from judgec.stats.agreement.objective import parse_objective

OBJECTIVES = ("tau_b", "spearman", "mae", "tau_b+mae")
HANNA = Path(__file__).parents[3] / "trainsets" / "hanna"


def ratings(seed: int, n: int = 120, different: int = 60) -> GradePairs:
    rng = np.random.default_rng(seed)
    values = np.unique(np.concatenate([[0.0, 1.0], rng.random(different)]))
    expert = rng.integers(0, len(values), n)
    score = np.clip(0.6 * values[expert] + 0.3 * rng.random(n), 0.0, 1.0)
    unknown = np.full(n, -1, dtype=np.int64)
    grade = np.abs(score[:, None] - values).argmin(axis=1).astype(np.int64)
    return GradePairs(
        expert[:, None],
        grade,
        score,
        unknown[:, None],
        unknown,
        rng.integers(0, 30, n),
        tuple(values.tolist()),
        30,
        interval=True,
    )


@pytest.mark.parametrize("seed", range(3))
def test_measure_of_numbers_equals_scipy(seed: int) -> None:
    pairs = ratings(seed)
    x, y = pairs.given, pairs.score
    found = {name: one.value for name, one in measure(pairs).estimates.items()}
    cov = np.cov(x, y, bias=True)
    wanted = {
        "tau_b": stats.kendalltau(x, y)[0],
        "spearman": stats.spearmanr(x, y)[0],
        "pearson": stats.pearsonr(x, y)[0],
        "mae": np.abs(x - y).mean(),
        "concordance": 2 * cov[0, 1] / (cov[0, 0] + cov[1, 1] + (x.mean() - y.mean()) ** 2),
    }
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value, abs=1e-12), name


def test_measure_of_numbers_leaves_what_compares_grades_undefined_and_says_why() -> None:
    found = measure(ratings(0))
    assert {name: found.estimates[name].note for name in ("kappa", "qwk", "exact")} == dict.fromkeys(
        ("kappa", "qwk", "exact"), NO_CLASSES
    )
    apart = ratings(0).score - ratings(0).given
    assert found.bland_altman.bias == pytest.approx(apart.mean(), abs=1e-12)
    assert found.bland_altman.high == pytest.approx(apart.mean() + 1.96 * apart.std(ddof=1), abs=1e-12)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 8))
def test_rank_correlations_of_numbers_are_those_of_an_ordinal_scale_with_the_same_values(seed: int, k: int) -> None:
    of_numbers = ratings(seed, 40, k)
    score = np.array(of_numbers.values)[of_numbers.judge]
    of_numbers = replace(of_numbers, score=score)
    as_numbers, as_grades = measure(of_numbers), measure(replace(of_numbers, interval=False))
    for name in ("tau_b", "spearman"):
        one, other = as_numbers.estimates[name].value, as_grades.estimates[name].value
        assert one == pytest.approx(other, abs=1e-12)


@given(st.integers(0, 10_000), st.sampled_from(OBJECTIVES), st.integers(0, 39))
def test_leaving_one_more_number_unscored_never_pays(seed: int, text: str, gone: int) -> None:
    objective, pairs = parse_objective(text), ratings(seed, 40, 60)
    rows = np.arange(40) == gone
    less = replace(pairs, score=np.where(rows, np.nan, pairs.score), judge=np.where(rows, -1, pairs.judge))
    assert objective.value(less) <= objective.value(pairs) + 0.002  # people's ties make the share approximate
    for one in (pairs, less):
        assert objective.shares(one).mean() == pytest.approx(objective.value(one), abs=1e-9)


def test_objectives_are_refused_where_they_are_not_defined() -> None:
    for text, interval in (("qwk", True), ("tau_b+kappa", True), ("mae", False), ("spearman", False)):
        with pytest.raises(UserError, match="not defined on"):
            parse_objective(text).require(interval=interval)
    parse_objective("tau_b+mae+accept").require(interval=True)


def test_with_values_keeps_each_value_and_thousandths_of_very_many() -> None:
    scale = Scale(level="interval", grades=(1, 2, 3, 4, 5))
    few = scale.with_values([1.333, 2.5, 7.0])
    assert few.grades == (1, 1.333, 2, 2.5, 3, 4, 5)
    assert few.listed == (1, 2, 3, 4, 5)
    many = Scale(level="interval", grades=(0, 1)).with_values(np.random.default_rng(0).random(5000).tolist())
    assert len(many.grades) == 1001
    assert many.nearest(0.12345) == 123
    assert many.nearest(1.5) is None


def test_hannas_means_are_labels_on_an_interval_scale() -> None:
    rename = {"mean.relevance": "grade"}
    found = read_label_file(
        str(HANNA / "labels.csv"),
        as_reading(task="grade", columns=rename, scale={"level": "interval", "grades": [1, 5]}),
    ).labels
    assert len(found.scale.grades) == 13
    experts = experts_of(found)
    assert np.array(found.scale.values)[experts.target[:2, 0, 0]].tolist() == [1.0, 2.333]
