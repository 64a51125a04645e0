"""A judge's column of the report against SciPy, scikit-learn and values worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from judgec.records.agreement import BlandAltman
from judgec.records.label import IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement import measure as texts
from judgec.stats.agreement.difference import differences
from judgec.stats.agreement.measure import measure, with_aspects
from judgec.stats.agreement.registry import STATISTICS
from tests.stats.known import bounds

VALUES = (0.0, 1.0, 2.0, 4.0)  # unequal steps


def ratings(n: int = 60, per_query: int = 1, *, unscored: int = 0, seed: int = 0) -> GradePairs:
    rng = np.random.default_rng(seed)
    expert = rng.choice(4, n, p=[0.1, 0.2, 0.3, 0.4])
    judge = np.where(rng.random(n) < 0.6, expert, rng.choice(4, n, p=[0.5, 0.2, 0.2, 0.1]))
    score = np.array(VALUES)[judge] + rng.normal(0, 0.3, n)
    accept = (judge >= 2).astype(np.int64)
    judge[:unscored], score[:unscored], accept[:unscored] = -1, np.nan, -1
    cluster = np.arange(n) // per_query
    votes = (expert >= 1).astype(np.int64)[:, None]
    return GradePairs(expert[:, None], judge, score, votes, accept, cluster, VALUES, n // per_query)


def binary(r: GradePairs) -> GradePairs:
    """The same with accepts in place of grades, by experts and judge."""
    judge = np.where(r.judge < 0, -1, r.judge // 2)
    return replace(r, target=(r.target >= 2).astype(np.int64), judge=judge, values=(0.0, 1.0))


@pytest.mark.parametrize("per_query", [1, 3])
def test_area_under_the_curve_of_binary_labels_is_that_of_scikit_learn(per_query: int) -> None:
    r = binary(ratings(per_query=per_query, unscored=7))
    found = measure(r).estimates["auc"]
    known = r.judge >= 0
    assert found.value == pytest.approx(roc_auc_score(r.target[:, 0][known], r.score[known]), abs=1e-12)
    assert found.value is not None
    low, high = bounds(found)
    assert 0 < low < found.value < high < 1
    assert (found.n, found.n_clusters, found.p) == (53, len(np.unique(r.cluster[known])), None)
    other = replace(r, score=-r.score)
    gained = differences(r, other)["auc"]
    assert gained.value == pytest.approx(2 * found.value - 1)  # of the reversed order it is 1 - AUC


def test_area_under_the_curve_of_one_class_or_of_classes_is_undefined_and_says_why() -> None:
    r = binary(ratings())
    accepted = measure(replace(r, target=np.ones_like(r.target))).estimates["auc"]
    assert (accepted.value, accepted.low) == (None, None)
    assert "one class" in accepted.note
    assert measure(r, nominal=True).estimates["auc"].note == texts.NO_ORDER
    assert "not binary" in differences(ratings(), ratings(seed=1))["auc"].note


@pytest.mark.parametrize(("per_query", "unscored"), [(1, 0), (1, 7), (3, 7)])
def test_every_statistic_equals_scipy_and_sklearn_on_the_scored_rows(per_query: int, unscored: int) -> None:
    r = ratings(per_query=per_query, unscored=unscored)
    found = measure(r)
    expert, judge, score = (column[unscored:] for column in (r.target[:, 0], r.judge, r.score))
    e_accept, j_accept = r.target_accept[:, 0][unscored:], r.judge_accept[unscored:]
    wanted = {
        "tau_b": stats.kendalltau(expert, judge).statistic,
        "tau_b_score": stats.kendalltau(expert, score).statistic,
        "spearman": stats.spearmanr(expert, score).statistic,
        "exact": (expert == judge).mean(),
        "accept_agreement": (e_accept == j_accept).mean(),
        "kappa": cohen_kappa_score(expert, judge),
        "qwk": cohen_kappa_score(expert, judge, weights="quadratic", labels=range(4)),
    }
    assert tuple(found.estimates) == tuple(STATISTICS)
    assert [name for name in STATISTICS if name != "auc"] == list(wanted)
    assert found.estimates["auc"].value is None
    assert "not binary" in found.estimates["auc"].note
    for name, value in wanted.items():
        estimate = found.estimates[name]
        assert estimate.value == pytest.approx(value, abs=1e-12), name
        low, high = bounds(estimate)
        assert low < value < high
        assert (estimate.n, estimate.level) == (60 - unscored, 0.95)
    difference = np.array(VALUES)[judge] - np.array(VALUES)[expert]
    bias, spread = difference.mean(), 1.96 * difference.std(ddof=1)
    limits = (found.bland_altman.bias, found.bland_altman.low, found.bland_altman.high)
    assert limits == pytest.approx((bias, bias - spread, bias + spread), rel=1e-4)  # 1.96 is 1.95996
    assert found.expert_reject_rate == pytest.approx((e_accept == 0).mean())
    assert found.judge_reject_rate == pytest.approx((j_accept == 0).mean())
    assert (found.n, found.unscored) == (60 - unscored, unscored)
    assert found.n_clusters == len(set(r.cluster[unscored:].tolist()))


def test_p_values_are_scipys_where_every_row_stands_alone_and_larger_where_rows_share_queries() -> None:
    r = ratings(40)
    found = measure(r)
    assert found.estimates["tau_b"].p == pytest.approx(stats.kendalltau(r.target[:, 0], r.judge).pvalue)
    assert found.estimates["spearman"].p == pytest.approx(stats.spearmanr(r.target[:, 0], r.score).pvalue)
    assert found.estimates["kappa"].p is None
    columns = (np.repeat(c, 4, axis=0) for c in (r.target, r.judge, r.target_accept, r.judge_accept, r.cluster))
    expert, judge, expert_accept, judge_accept, cluster = columns
    score = np.repeat(r.score, 4)
    fours = GradePairs(expert, judge, score, expert_accept, judge_accept, cluster, r.values, r.n_clusters)
    repeated = measure(fours)  # each row four times says nothing new
    assert repeated.estimates["tau_b"].value == pytest.approx(found.estimates["tau_b"].value, abs=0.02)
    assert (repeated.estimates["tau_b"].p or 0) > 1e3 * stats.kendalltau(fours.target[:, 0], fours.judge).pvalue


def replaced(r: GradePairs, **columns: IntArray) -> GradePairs:
    fields = ("target", "judge", "score", "target_accept", "judge_accept", "cluster", "values", "n_clusters")
    return GradePairs(**{name: columns.get(name, getattr(r, name)) for name in fields})


def test_undefined_statistics_are_none_with_the_reason_never_a_number() -> None:
    r = ratings(30)
    minus = np.full(30, -1)
    constant = measure(replaced(r, judge=np.full(30, 2)))
    assert constant.estimates["tau_b"].value is None
    assert "one grade only" in constant.estimates["tau_b"].note
    assert constant.estimates["kappa"].value == 0
    no_threshold = measure(replaced(r, judge_accept=minus, target_accept=minus[:, None]))
    assert no_threshold.estimates["accept_agreement"].note == texts.NO_THRESHOLD
    assert (no_threshold.expert_reject_rate, no_threshold.judge_reject_rate) == (None, None)
    assert measure(replaced(r, target_accept=minus[:, None])).estimates["accept_agreement"].note == texts.NO_ACCEPTS
    nothing = measure(replaced(r, judge=minus, judge_accept=minus, score=np.full(30, np.nan)))
    assert {nothing.estimates[name].note for name in STATISTICS} == {texts.NOTHING_SCORED, texts.NO_THRESHOLD}
    assert (nothing.n, nothing.n_clusters, nothing.unscored) == (0, 0, 30)
    assert nothing.bland_altman == BlandAltman(None, None, None, texts.NOTHING_SCORED)
    assert measure(r.where(np.arange(30) == 0)).bland_altman.note


def test_classes_have_accuracy_and_kappa_and_nothing_ordinal_in_every_aspect_too() -> None:
    r = ratings(30)
    minus = np.full(30, -1)
    classes = replaced(r, target_accept=minus[:, None], judge_accept=minus)
    whole = measure(classes, nominal=True)
    found = with_aspects(whole, {"one": classes, "two": ratings(30, seed=1)}, nominal=True)
    for each in (found, found.aspects["one"], found.aspects["two"]):
        defined = {name for name, estimate in each.estimates.items() if estimate.value is not None}
        assert defined - {"accept_agreement"} == {"exact", "kappa"}
        assert each.estimates["qwk"].note == texts.NO_ORDER
        assert each.bland_altman.to_json() == {"bias": None, "low": None, "high": None, "note": texts.NO_ORDER}
    assert (
        found.estimates["accept_agreement"].note == texts.NO_ORDER
    )  # an accept threshold is nothing that could be named


def test_one_aspect_stands_alone_and_several_are_named() -> None:
    r = ratings(30)
    whole = measure(r)
    assert with_aspects(whole, {"grade": r}).aspects == {}
    named = with_aspects(whole, {"a": r.where(r.cluster % 2 == 0), "b": r.where(r.cluster % 2 == 1)})
    assert {name: part.n for name, part in named.aspects.items()} == {"a": 15, "b": 15}
    assert list(named.aspects) == ["a", "b"]


def test_paired_differences_are_the_plain_ones_and_unscored_rows_count_against_their_judge() -> None:
    a, b = ratings(60, 2, seed=3), ratings(60, 2, seed=3)
    worse = np.where(np.arange(60) % 3 == 0, 0, b.judge)
    b = replaced(b, judge=worse)
    found = differences(a, b)
    assert found["tau_b"].value == pytest.approx(
        stats.kendalltau(a.target[:, 0], a.judge).statistic - stats.kendalltau(b.target[:, 0], b.judge).statistic
    )
    assert found["exact"].value == pytest.approx(
        (a.target[:, 0] == a.judge).mean() - (b.target[:, 0] == b.judge).mean()
    )
    lost = np.arange(60) < 10
    poorer = replaced(
        a,
        judge=np.where(lost, -1, a.judge),
        judge_accept=np.where(lost, -1, a.judge_accept),
        score=np.where(lost, np.nan, a.score),
    )
    against = differences(poorer, b)
    for name in ("tau_b", "exact", "accept_agreement", "kappa", "qwk"):
        assert (against[name].value or 0) < (found[name].value or 0), name
    right = ((a.target[:, 0] == a.judge) & ~lost).mean()
    assert against["exact"].value == pytest.approx(right - (b.target[:, 0] == b.judge).mean())
    assert against["spearman"].n == 50


def test_more_queries_than_pair_sums_can_hold_have_the_same_numbers_and_intervals() -> None:
    r = ratings(n=5200)  # one item a query
    found = measure(r)
    wanted = stats.kendalltau(r.target[:, 0], r.score)
    estimate = found.estimates["tau_b_score"]
    assert estimate.value == pytest.approx(wanted.statistic, abs=1e-12)
    assert estimate.p == pytest.approx(wanted.pvalue)
    assert found.estimates["spearman"].value == pytest.approx(
        stats.spearmanr(r.target[:, 0], r.score).statistic, abs=1e-12
    )
    assert found.n_clusters == 5200
    rank = replace(r, score=r.judge.astype(np.float64))
    both = measure(rank).estimates  # the table's interval has all 5,200 clusters, the score's 1,000 groups of them
    exact, coarse = both["tau_b"], both["tau_b_score"]
    assert coarse.value == pytest.approx(exact.value, abs=1e-12)
    assert None not in {exact.low, exact.high, coarse.low, coarse.high}
    assert (coarse.high or 0) - (coarse.low or 0) == pytest.approx((exact.high or 0) - (exact.low or 0), rel=0.1)
