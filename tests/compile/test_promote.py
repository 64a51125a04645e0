"""Promotion: only a difference that the test split shows, at the level that this test use may spend."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from judgec.compile.promote import Decision, Gain, decide, standing_above
from judgec.records.label import IntArray
from judgec.records.ratings import GradePairs
from judgec.report.numbers import number
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.intervals.jackknife import Interval
from judgec.stats.intervals.significance import level_for_test_use
from tests.stats.side_by_side import side_by_side

TAU_B = parse_objective("tau_b")
N_QUERIES, PER_QUERY = 24, 3


def world(seed: int = 0, n_queries: int = N_QUERIES) -> tuple[IntArray, IntArray]:
    expert = np.random.default_rng(seed).integers(0, 5, n_queries * PER_QUERY)
    return expert, np.repeat(np.arange(n_queries), PER_QUERY)


def judge(expert: IntArray, cluster: IntArray, noise: float, seed: int) -> GradePairs:
    rng = np.random.default_rng(seed)
    wrong = rng.random(len(expert)) < noise
    grade = np.where(wrong, rng.integers(0, 5, len(expert)), expert)
    accepts = (expert >= 3).astype(np.int64), (grade >= 3).astype(np.int64)
    return side_by_side(expert, grade, *accepts, cluster, 5, int(cluster.max()) + 1)


def contest(noises: dict[str, float], *, n_queries: int = N_QUERIES, test_use: int = 1, refusal: str = "") -> Decision:
    expert, cluster = world(n_queries=n_queries)
    judges = {name: judge(expert, cluster, noise, seed) for seed, (name, noise) in enumerate(noises.items(), 1)}
    compiled = judges.pop("compiled")
    return decide(compiled, judges, TAU_B, test_use=test_use, majority=judges.get("majority"), refusal=refusal)


def test_clearly_better_judge_is_promoted_against_the_best_rival_by_the_plain_difference() -> None:
    decision = contest({"compiled": 0.05, "uncompiled": 0.6, "majority": 0.9})
    expert, cluster = world()
    taus = [
        kendalltau(expert, judge(expert, cluster, noise, seed).judge).statistic for seed, noise in ((1, 0.05), (2, 0.6))
    ]
    assert decision.promoted
    assert decision.rival == "uncompiled"
    assert decision.difference.value == pytest.approx(taus[0] - taus[1])
    assert decision.difference.level == pytest.approx(0.975)
    assert decision.reason.startswith("better: tau-b +")
    assert decision.by_statistic["tau_b"].value == pytest.approx(decision.difference.value)


def test_equal_judges_are_not_promoted_and_the_smallest_detectable_difference_is_named() -> None:
    decision = contest({"compiled": 0.3, "uncompiled": 0.3})
    assert not decision.promoted
    assert decision.detectable is not None
    assert decision.detectable > 0
    assert f"{decision.difference.n_clusters} test queries" in decision.reason
    assert f"above {number(decision.detectable)} would show" in decision.reason


def test_difference_that_is_small_enough_to_be_shown_is_not_called_untold() -> None:
    def said(half: float) -> str:
        return Gain(Interval(0.0, -half, half, 1.0, half / 2, 0.95, 40, "none")).could_show("test queries")

    assert "too few to tell" in said(0.3)
    assert "are enough" in said(0.01)


def test_worse_judge_is_not_promoted_however_sure_the_difference_is() -> None:
    decision = contest({"compiled": 0.9, "uncompiled": 0.02})
    assert decision.difference.high is not None
    assert decision.difference.high < 0
    assert not decision.promoted
    assert "too few" not in decision.reason


@pytest.mark.parametrize(("n_queries", "promoted"), [(9, False), (10, True)])
def test_under_ten_test_queries_nothing_is_promoted(n_queries: int, promoted: bool) -> None:
    decision = contest({"compiled": 0.0, "uncompiled": 0.9}, n_queries=n_queries)
    assert decision.promoted is promoted
    assert ("test queries: 9" in decision.reason) is not promoted


def test_refusal_keeps_the_measurement_beside_its_reason() -> None:
    decision = contest({"compiled": 0.0, "uncompiled": 0.9}, refusal="it learns length")
    assert not decision.promoted
    assert decision.reason.startswith("it learns length (tau-b +")


def test_later_looks_ask_for_more_and_all_looks_together_spend_five_percent() -> None:
    decisions = [contest({"compiled": 0.3, "uncompiled": 0.5}, test_use=test_use) for test_use in (1, 2, 5, 20)]
    widths = [(d.difference.high or 0) - (d.difference.low or 0) for d in decisions]
    assert widths == sorted(widths)
    assert [d.difference.level for d in decisions] == pytest.approx([1 - 0.05 / (k * (k + 1)) for k in (1, 2, 5, 20)])
    assert sum(level_for_test_use(k) for k in range(1, 10_000)) < 0.05


def test_judge_that_is_not_better_than_the_majority_is_called_so_whoever_its_rival_is() -> None:
    expert, cluster = world()
    always = np.full(len(expert), 3)
    known = (expert >= 3).astype(np.int64), np.ones(len(expert), dtype=np.int64)
    majority = side_by_side(expert, always, *known, cluster, 5, N_QUERIES)
    noise, better = judge(expert, cluster, 1.0, 3), judge(expert, cluster, 0.3, 4)
    useless = decide(noise, {"majority": majority, "uncompiled": better}, TAU_B, test_use=1, majority=majority)
    assert useless.rival == "uncompiled"
    assert "most frequent grade (tau-b" in useless.reason
    fair = decide(better, {"champion": judge(expert, cluster, 0.1, 5)}, TAU_B, test_use=2, majority=majority)
    assert not fair.promoted
    assert "majority" not in fair.reason


def skewed(right: tuple[int, int, int], n_queries: int = 120) -> tuple[GradePairs, GradePairs]:
    """A judge on labels of which 83 % are the best grade, and the judge that always gives that one.

    Of every 100 labels 83 are 2, 10 are 1 and 7 are 0. The judge gives ``right`` of each their own grade; of the others
    it calls a 1 a 2, and anything else a 1.
    """
    expert = np.repeat([2, 1, 0], [83, 10, 7])
    place = np.concatenate([np.arange(83), np.arange(10), np.arange(7)])
    own = place < np.array(right)[2 - expert]
    grade = np.where(own, expert, np.where(expert == 1, 2, 1))
    order = np.random.default_rng(0).permutation(300)
    expert, grade = np.tile(expert, 3)[order], np.tile(grade, 3)[order]
    cluster = np.arange(300) % n_queries
    accepts = (expert >= 2).astype(np.int64), (grade >= 2).astype(np.int64)
    always, all_accepted = np.full(300, 2), np.ones(300, dtype=np.int64)
    return (
        side_by_side(expert, grade, *accepts, cluster, 3, n_queries),
        side_by_side(expert, always, accepts[0], all_accepted, cluster, 3, n_queries),
    )


def test_defined_tau_b_does_not_promote_a_judge_below_the_majority_grade() -> None:
    compiled, majority = skewed((62, 7, 7))  # 76 of 100 right, and all that are not 2 told from the rest
    decision = decide(compiled, {"majority": majority}, TAU_B, test_use=1, majority=majority)
    assert (compiled.target[:, 0] == compiled.judge).mean() == pytest.approx(0.76)
    assert (majority.target[:, 0] == majority.judge).mean() == pytest.approx(0.83)
    assert (decision.difference.low or 0) > 0.3  # the majority's tau-b is undefined and counts as 0
    assert not decision.promoted
    assert set(decision.below_majority) == {"exact", "accept_agreement"}
    assert "grade: exact .76 against .83, difference -.07" in decision.reason
    assert "better" not in decision.reason
    champion, _ = skewed((40, 7, 7))  # nor does it replace a champion
    decision = decide(compiled, {"champion": champion}, TAU_B, test_use=2, majority=majority)
    assert (decision.difference.low or 0) > 0
    assert not decision.promoted
    assert "most frequent grade" in decision.reason
    compiled, majority = skewed((79, 8, 5))  # not below it
    decision = decide(compiled, {"majority": majority}, TAU_B, test_use=1, majority=majority)
    assert decision.promoted
    assert decision.below_majority == {}


def test_objective_that_is_bought_with_kappa_does_not_promote() -> None:
    # Grades turned one up keep their order, so tau-b is nearly 1, and agree with nobody.
    expert = np.repeat(np.arange(4), 60)
    cluster = np.arange(240) % 60
    rng = np.random.default_rng(1)
    rough = np.where(rng.random(240) < 0.4, rng.integers(0, 4, 240), expert)
    accept = np.full(240, -1)
    shifted = side_by_side(expert, np.minimum(expert + 1, 4), accept, accept, cluster, 5, 60)
    rival = side_by_side(expert, rough, accept, accept, cluster, 5, 60)
    decision = decide(shifted, {"uncompiled": rival}, TAU_B, test_use=1)
    assert (decision.difference.low or 0) > 0
    assert not decision.promoted
    assert "was on kappa -" in decision.reason
    assert not decide(shifted, {"uncompiled": rival}, parse_objective("kappa"), test_use=1).promoted


def test_judge_below_a_row_of_its_own_table_replaces_a_champion_and_is_not_called_better() -> None:
    expert, cluster = world()
    compiled, champion, alone = (judge(expert, cluster, noise, seed) for noise, seed in ((0.3, 1), (0.9, 2), (0.1, 3)))
    decision = decide(compiled, {"champion": champion}, TAU_B, test_use=1, table={"evidence_only": alone})
    assert decision.promoted
    assert set(decision.above) == {"evidence_only"}
    assert "better" not in decision.reason
    assert "; but evidence alone (." in decision.reason
    fair = decide(compiled, {"champion": champion}, TAU_B, test_use=1, table={"uncompiled": champion})
    assert fair.reason.startswith("better: ")


def test_row_that_stands_above_is_printed_beside_the_judge_on_the_items_of_that_row() -> None:
    expert, cluster = world()
    compiled, first, other = (judge(expert, cluster, noise, seed) for noise, seed in ((0.3, 1), (0.1, 2), (0.1, 3)))
    part = other.masked(np.arange(len(expert)) >= 36)  # asked about half of them
    above = decide(compiled, {"uncompiled": first, "evidence_only": part}, TAU_B, test_use=1).above
    taus = {
        name: tuple(kendalltau(expert[rows], said.judge[rows]).statistic for said in (rival, compiled))
        for name, rival, rows in (("uncompiled", first, slice(None)), ("evidence_only", part, part.labelled))
    }
    assert above == {name: pytest.approx(pair) for name, pair in taus.items()}
    said = standing_above(above, "tau_b").split("; ")
    assert len(said) == 2
    for clause, (rival, own) in zip(said, taus.values(), strict=True):
        assert f"({number(rival)}) " in clause
        assert f"({number(own)}, tau-b)" in clause
    assert taus["uncompiled"][1] != pytest.approx(taus["evidence_only"][1], abs=0.01)


def test_rows_are_one_only_where_both_values_are_and_values_are_told_apart() -> None:
    rows = {"uncompiled": (0.6, 0.5), "evidence_only": (0.6, 0.5), "majority": (0.6, 0.5996)}
    same, near = standing_above(rows, "tau_b").split("; ")
    assert [text in same for text in ("(.60)", "(.50, tau-b)")] == [True, True]
    assert [text in near for text in ("(.6000)", "(.5996, tau-b)")] == [True, True]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_unscoring_any_subset_never_turns_no_into_yes_or_raises_the_difference(data: st.DataObject) -> None:
    expert, cluster = world(data.draw(st.integers(0, 5)), 10)
    compiled, rival = judge(expert, cluster, data.draw(st.floats(0, 0.8)), 1), judge(expert, cluster, 0.4, 2)
    lost = np.array(data.draw(st.lists(st.booleans(), min_size=len(expert), max_size=len(expert))))
    poorer = side_by_side(
        expert,
        np.where(lost, -1, compiled.judge),
        compiled.target_accept[:, 0],
        np.where(lost, -1, compiled.judge_accept),
        cluster,
        5,
        10,
    )
    for name in ("tau_b", "kappa", "qwk", "accept", "exact", "tau_b+accept"):
        objective = parse_objective(name)
        whole = objective.value(compiled) - objective.value(rival)
        assert objective.value(poorer) - objective.value(rival) <= whole + 1e-12
    decision = decide(poorer, {"uncompiled": rival}, TAU_B, test_use=1)
    assert (f"{lost.sum()} of {len(lost)} unscored" in decision.reason) == bool(lost.any())
