"""The Alternative Annotator Test: against loops written from the paper, by hand, and in worlds whose truth is known."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp

from judgec.records.alternative_annotator import AltTest
from judgec.records.label import FloatArray, IntArray
from judgec.report.replacement_table import outcome_sentences
from judgec.stats.agreement.alternative_annotator import alternative_annotator_test

FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
NAMES = ("a", "b", "c", "d")


def alt(judge: IntArray, by: IntArray, **how: Any) -> AltTest:  # Any: options of the test
    """The test of annotators a, b, c, ... with all five grades' values and items alone, if nothing else is said."""
    return alternative_annotator_test(judge, by, NAMES[: len(by)], **{"values": FIVE, "cluster": None, **how})


# --- the second implementation: dictionaries and loops, as section 3 of the paper reads ---------------------------


def _aligned(grade: int, others: list[int], values: tuple[float, ...] | None) -> float:
    if values is None:
        return sum(grade == other for other in others) / len(others)
    return -float(np.sqrt(sum((values[grade] - values[other]) ** 2 for other in others) / len(others)))


def _indicators(
    name: str, judge: dict[int, int], said: dict[str, dict[int, int]], values: tuple[float, ...] | None
) -> tuple[list[int], list[int], list[int]]:
    judges, annotators, items = [], [], []
    for item, own in said[name].items():
        others = [labels[item] for other, labels in said.items() if other != name and item in labels]
        if not others:
            continue
        mine = _aligned(own, others, values)
        its = _aligned(judge[item], others, values) if item in judge else -np.inf
        judges.append(int(its >= mine or bool(np.isclose(its, mine, rtol=0, atol=1e-9))))
        annotators.append(int(mine >= its or bool(np.isclose(its, mine, rtol=0, atol=1e-9))))
        items.append(item)
    return judges, annotators, items


def _benjamini_yekutieli(ps: list[float], q: float) -> int:
    """How many are rejected: the largest i with p_(i) <= i q / (m H_m)."""
    m = len(ps)
    harmonic = sum(1 / i for i in range(1, m + 1))
    return max((i for i, p in enumerate(sorted(ps), start=1) if p <= i * q / (m * harmonic)), default=0)


def _by_loops(
    judge: dict[int, int], said: dict[str, dict[int, int]], values: tuple[float, ...] | None, epsilon: float
) -> tuple[float, float, dict[str, float]]:
    """Winning rate, average advantage probability, p by annotator; items independent."""
    ps, rhos = {}, []
    for name in said:
        judges, annotators, _ = _indicators(name, judge, said, values)
        worse = [b - a for a, b in zip(judges, annotators, strict=True)]
        ps[name] = float(ttest_1samp(worse, epsilon, alternative="less").pvalue)
        rhos.append(sum(judges) / len(judges))
    return _benjamini_yekutieli(list(ps.values()), 0.05) / len(said), sum(rhos) / len(rhos), ps


def _world(seed: int, n: int = 90, *, raters: int = 4, grades: int = 5) -> tuple[IntArray, IntArray]:
    """A judge and annotators who err in their own ways; a tenth of the labels and of the verdicts is missing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(grades, size=n)
    spread = rng.uniform(0.4, 1.3, size=raters + 1)
    said = np.clip(np.rint(truth + spread[:, None] * rng.standard_normal((raters + 1, n))), 0, grades - 1)
    said[rng.random(said.shape) < 0.1] = -1
    return said[0].astype(np.int64), said[1:].astype(np.int64)


@pytest.mark.parametrize("values", [FIVE, None, (0.1, 0.2, 0.4, 0.8, 1.6)], ids=["rmse", "accuracy", "uneven"])
@pytest.mark.parametrize("seed", range(6))
def test_item_form_equals_the_loops_of_the_paper(seed: int, values: tuple[float, ...] | None) -> None:
    judge, by = _world(seed)
    names = ("a", "b", "c", "d")
    found = alt(judge, by, values=values, epsilon=0.15)
    said = {name: {i: int(g) for i, g in enumerate(row) if g >= 0} for name, row in zip(names, by, strict=True)}
    omega, rho, ps = _by_loops({i: int(g) for i, g in enumerate(judge) if g >= 0}, said, values, 0.15)
    assert found.omega == omega
    assert found.rho == pytest.approx(rho, abs=1e-12)
    assert {one.annotator: one.p for one in found.contests} == pytest.approx(ps, abs=1e-9)
    assert found.clustered_by == "item"
    assert found.unscored == sum(judge[i] < 0 and (by[:, i] >= 0).sum() > 1 for i in range(len(judge)))


def test_one_item_a_query_is_the_item_form() -> None:
    judge, by = _world(3)
    alone = alt(judge, by)
    each = alt(judge, by, cluster=np.arange(len(judge)) * 7)
    assert [one.p for one in alone.contests] == pytest.approx([one.p for one in each.contests], abs=1e-12)
    assert each.clustered_by == "query"


def test_clustered_error_equals_leaving_out_each_query_by_hand() -> None:
    judge, by = _world(5, n=120)
    cluster = np.random.default_rng(9).integers(12, size=120)
    found = alt(judge, by, cluster=cluster)
    said = {name: {i: int(g) for i, g in enumerate(row) if g >= 0} for name, row in zip("abcd", by, strict=True)}
    judges, annotators, items = _indicators("b", {i: int(g) for i, g in enumerate(judge) if g >= 0}, said, FIVE)
    gain = [a - b for a, b in zip(judges, annotators, strict=True)]
    queries = sorted({int(cluster[i]) for i in items})
    without = [np.mean([g for g, i in zip(gain, items, strict=True) if cluster[i] != query]) for query in queries]
    k = len(queries)
    error = np.sqrt((k - 1) / k * sum((one - np.mean(without)) ** 2 for one in without))

    contest = next(one for one in found.contests if one.annotator == "b")
    assert contest.p == pytest.approx(float(t.sf((np.mean(gain) + 0.2) / error, k - 1)), abs=1e-9)
    assert contest.queries == k
    assert contest.difference.low == pytest.approx(float(np.mean(gain) - t.isf(0.025, k - 1) * error), abs=1e-9)


def test_adjusted_p_is_benjamini_yekutieli_by_hand() -> None:
    judge, by = _world(1, raters=3)
    found = alt(judge, by, epsilon=0.05)
    ordered = sorted(found.contests, key=lambda one: one.p)
    # m = 3, H = 1 + 1/2 + 1/3 = 11/6: the factors of the ordered p are 3 H / 1, 3 H / 2, 3 H / 3.
    scaled = [one.p * 5.5 / rank for rank, one in enumerate(ordered, start=1)]
    wanted = [min(1.0, *scaled[at:]) for at in range(3)]
    assert [one.p_adjusted for one in ordered] == pytest.approx(wanted)
    assert [one.wins for one in found.contests] == [one.p_adjusted <= 0.05 for one in found.contests]


def test_advantage_counts_ties_for_both() -> None:
    # Others of ann: bob and cem. Item 0: ann 2, others 2 and 2, judge 2: equally close. Item 1: ann 0, judge 2, closer.
    # Item 2: ann 2, judge 0, ann closer. Item 3: ann 1, judge 3, others 2 and 2: equally far.
    ann, judge = np.array([2, 0, 2, 1] * 10), np.array([2, 2, 0, 3] * 10)
    by = np.stack([ann, np.full(40, 2), np.full(40, 2)])
    found = alt(judge, by)
    first = found.contests[0]
    assert (first.rho_judge, first.rho_annotator) == (0.75, 0.75)
    accuracy = alt(judge, by, values=None).contests[0]
    assert (accuracy.rho_judge, accuracy.rho_annotator) == (0.75, 0.75)  # item 3: neither says 2


# --- worlds whose truth is known ----------------------------------------------------------------------------------


def _judged(seed: int, noise: float, queries: int = 60, epsilon: float = 0.1) -> AltTest:
    """Three annotators who err with spread .7, and a judge who errs with ``noise``; five items a query."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(2.0, 1.2, size=queries * 5)

    def grader(spread: float) -> IntArray:
        return np.clip(np.rint(truth + spread * rng.standard_normal(len(truth))), 0, 4).astype(np.int64)

    by = np.stack([grader(0.7) for _ in range(3)])
    cluster = np.repeat(np.arange(queries), 5)
    return alt(grader(noise), by, cluster=cluster, epsilon=epsilon)


def test_winning_rates_tell_a_better_from_an_equal_from_a_worse_judge() -> None:
    better, equal, worse = (
        [_judged(seed, noise, epsilon=0.0).omega for seed in range(12)] for noise in (0.1, 0.7, 1.6)
    )
    assert np.mean([omega or 0.0 for omega in better]) > 0.9
    assert np.mean([omega or 0.0 for omega in equal]) < 0.15  # an equal judge is not better: epsilon is 0
    assert not any(worse)
    with_margin = [_judged(seed, 0.7, epsilon=0.2).omega for seed in range(12)]
    assert np.mean([omega or 0.0 for omega in with_margin]) > 0.8  # but no worse than an expert by .2


def test_average_advantage_orders_judges() -> None:
    rhos = [np.mean([_judged(seed, noise).rho or 0.0 for seed in range(5)]) for noise in (0.1, 0.7, 1.6)]
    assert rhos[0] > rhos[1] + 0.05 > rhos[2] + 0.1


def test_judge_better_than_one_annotator_only_wins_against_that_one() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(5, size=300)

    def grader(spread: float) -> IntArray:
        return np.clip(np.rint(truth + spread * rng.standard_normal(300)), 0, 4).astype(np.int64)

    by = np.stack([grader(0.3), grader(2.0), grader(0.3)])
    found = alt(grader(0.9), by, epsilon=0.05)
    assert [one.wins for one in found.contests] == [False, True, False]
    assert found.omega == pytest.approx(1 / 3)
    assert found.passes is False


def test_clustering_holds_the_rate_of_false_wins_where_queries_decide() -> None:
    """Who is closer depends on the query alone: items of one are copies. Item by item the test believes them all."""

    def wins(clustered: bool) -> float:
        total = 0
        for seed in range(150):
            rng = np.random.default_rng(seed)
            better = np.repeat(rng.random(20) < 0.5, 10)  # rho_f = rho_j: with epsilon 0 every win is false
            ann, judge = np.where(better, 0, 2), np.where(better, 2, 0)
            by = np.stack([ann, np.full(200, 2), np.full(200, 2)])
            cluster = np.repeat(np.arange(20), 10) if clustered else None
            found = alt(judge, by, values=None, cluster=cluster, epsilon=0.0)
            total += found.contests[0].p < 0.05
        return total / 150

    assert wins(clustered=True) < 0.09
    assert wins(clustered=False) > 0.2


# --- what cannot be tested ----------------------------------------------------------------------------------------


def test_fewer_than_three_annotators_is_said_in_words() -> None:
    judge, by = _world(0, raters=2)
    found = alt(judge, by)
    assert (found.omega, found.rho, found.passes, found.contests) == (None, None, None, ())
    assert "at least 3 annotators" in found.note
    assert found.to_json()["omega"] is None
    assert [found.note in line for line in outcome_sentences(found)] == [True]


def test_annotator_of_few_items_is_left_out_but_counts_among_the_others() -> None:
    judge, by = _world(2)
    by[3, 20:] = -1
    found = alt(judge, by)
    assert [one.annotator for one in found.contests] == ["a", "b", "c"]
    assert "fewer than 30" in found.note
    assert "d 20" in found.note
    without = alt(judge, by[:3])
    assert [one.rho_judge for one in found.contests] != [one.rho_judge for one in without.contests]


def test_adjudicator_is_not_tested() -> None:
    judge, by = _world(2)
    found = alt(judge, by, adjudicators=("b",))
    assert [one.annotator for one in found.contests] == ["a", "c", "d"]
    assert "others differed: b" in found.note


def test_items_of_one_annotator_are_counted_not_used() -> None:
    judge, by = _world(0, raters=3)
    by[1:, :10] = -1
    found = alt(judge, by)
    alone = int(((by >= 0).sum(axis=0) == 1).sum())
    assert found.items_left_out == alone >= 8
    assert found.items == int(((by >= 0).sum(axis=0) > 1).sum())


def test_unscored_items_count_against_the_judge() -> None:
    judge, by = _world(0, raters=3)
    judge = np.maximum(judge, 0)
    whole = alt(judge, by)
    judge[::3] = -1
    fewer = alt(judge, by)
    assert fewer.items == whole.items
    assert (fewer.rho or 0.0) < (whole.rho or 0.0)
    assert fewer.unscored > 0


def test_judge_that_is_never_behind_wins_without_an_interval() -> None:
    grades: FloatArray = np.tile(np.arange(5), 12)
    same = grades.astype(np.int64)
    found = alt(same, np.stack([same] * 3))
    assert found.omega == found.rho == 1.0
    assert found.contests[0].difference.value == 0.0
    assert found.contests[0].difference.low is None
    equal = alt(same, np.stack([same] * 3), epsilon=0.0)
    assert equal.omega == 0.0  # equal is not better


@pytest.mark.parametrize(("epsilon", "q"), [(-0.1, 0.05), (1.1, 0.05), (0.2, 0.0)])
def test_margins_out_of_range_are_refused(epsilon: float, q: float) -> None:
    judge, by = _world(0, raters=3)
    with pytest.raises(ValueError, match="valid"):
        alt(judge, by, epsilon=epsilon, q=q)


def test_aspects_are_labels_of_their_query() -> None:
    judge, by = _world(0, n=100, raters=3)
    both = alt(judge.reshape(50, 2), by.reshape(3, 50, 2), cluster=np.arange(50))
    flat = alt(judge, by, cluster=np.repeat(np.arange(50), 2))
    assert both == flat


# --- by aspect -----------------------------------------------------------------------------------------------------


def _aspects(seed: int, noises: tuple[float, ...], epsilon: float = 0.2) -> AltTest:
    """Annotators who err with spread .7 in every aspect, and a judge whose error differs by aspect."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(2.0, 1.2, size=(300, len(noises)))

    def grader(spread: tuple[float, ...]) -> IntArray:
        noise = np.array(spread) * rng.standard_normal(truth.shape)
        return np.clip(np.rint(truth + noise), 0, 4).astype(np.int64)

    by = np.stack([grader((0.7,) * len(noises)) for _ in range(3)])
    names = ("clear", "alike", "poor")[: len(noises)]
    cluster = np.repeat(np.arange(60), 5)
    return alt(grader(noises), by, cluster=cluster, epsilon=epsilon, aspects=names)


@pytest.mark.parametrize("seed", range(3))
def test_judge_passes_the_aspects_that_it_is_good_at_and_fails_the_others(seed: int) -> None:
    found = _aspects(seed, (0.2, 0.7, 2.0))
    assert {name: one.omega for name, one in found.aspects.items()} == {"clear": 1.0, "alike": 1.0, "poor": 0.0}
    better, alike = (found.aspects[name].rho or 0.0 for name in ("clear", "alike"))
    assert better > alike > (found.aspects["poor"].rho or 0.0)
    strict = _aspects(seed, (0.2, 0.7, 2.0), epsilon=0.0)  # as good as an annotator is not shown to be better
    assert {name: one.omega for name, one in strict.aspects.items()} == {"clear": 1.0, "alike": 0.0, "poor": 0.0}


def test_each_aspect_equals_the_loops_of_the_paper_and_the_pool_is_of_all_labels() -> None:
    pairs = [_world(seed) for seed in (11, 12)]
    judge, by = np.stack([one for one, _ in pairs], axis=1), np.stack([of for _, of in pairs], axis=2)
    names = ("a", "b", "c", "d")
    found = alt(judge, by, aspects=("x", "y"))
    for (own, labels), aspect in zip(pairs, ("x", "y"), strict=True):
        said = {name: {i: int(g) for i, g in enumerate(row) if g >= 0} for name, row in zip(names, labels, strict=True)}
        omega, rho, ps = _by_loops({i: int(g) for i, g in enumerate(own) if g >= 0}, said, FIVE, 0.2)
        one = found.aspects[aspect]
        assert one.omega == omega
        assert one.rho == pytest.approx(rho, abs=1e-12)
        assert {contest.annotator: contest.p for contest in one.contests} == pytest.approx(ps, abs=1e-9)
    assert found.items == sum(one.items for one in found.aspects.values())
    pooled = alt(judge, by)
    assert pooled.aspects == {}
    assert found.to_json() == pooled.to_json() | {"aspects": {n: one.to_json() for n, one in found.aspects.items()}}


def test_aspect_with_two_annotators_says_why_it_is_not_tested() -> None:
    judge, by = _world(4, raters=3)
    lonely = by.copy()
    lonely[2] = -1
    found = alt(
        np.stack([judge, judge], axis=1),
        np.stack([by, lonely], axis=2),
        aspects=("x", "y"),
    )
    assert found.omega is not None
    assert found.aspects["x"].omega is not None
    assert found.aspects["y"].omega is None
    assert "at least 3 annotators" in found.aspects["y"].note


def test_single_aspect_has_no_table_of_aspects_and_names_must_fit() -> None:
    judge, by = _world(4, raters=3)
    one = alt(judge[:, None], by[:, :, None], aspects=("x",))
    assert "aspects" not in one.to_json()
    with pytest.raises(ValueError, match="one name a column"):
        alt(judge, by, aspects=("x", "y"))
