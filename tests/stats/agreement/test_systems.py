"""A judge ranks systems as people do, or not: equal to SciPy, and only on queries that all systems answered.

An unscored answer counts against the judge; a bias towards one system is found.
"""

import json
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, spearmanr, ttest_rel

import judgec
from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.report.systems_table import systems_lines
from judgec.stats.agreement.system_tau import system_tau
from judgec.stats.agreement.systems import SystemAgreement, system_agreement
from judgec.stats.intervals.jackknife import difference_interval
from tests.stats.known import bounds, known

Columns = tuple[list[str], IntArray, FloatArray, FloatArray]


def graded(systems: int, queries: int, seed: int, slope: float = 0.5) -> Columns:
    """Grades of people and a judge that follows them by ``slope``."""
    rng = np.random.default_rng(seed)
    query, agent = np.repeat(np.arange(queries), systems), np.tile(np.arange(systems), queries)
    people = np.clip(np.round(3 + rng.normal(size=systems)[agent] + rng.normal(size=len(agent))), 1, 5)
    return [f"s{one}" for one in agent], query, people, slope * people + rng.normal(size=len(agent))


@pytest.mark.parametrize("seed", range(20))
def test_correlations_of_means_are_those_of_scipy(seed: int) -> None:
    names, query, people, judge = graded(3 + seed % 8, 12 + seed, seed, slope=0.2)
    found = known(system_agreement(names, query, people, judge))
    own = [np.array(names) == name for name in found.systems]
    by_people, by_judge = (np.array([by[rows].mean() for rows in own]) for by in (people, judge))
    assert found.tau_b.value == pytest.approx(kendalltau(by_people, by_judge).statistic, abs=1e-12)
    assert found.spearman.value == pytest.approx(spearmanr(by_people, by_judge).statistic, abs=1e-12)
    low, high = bounds(found.tau_b)
    assert low <= known(found.tau_b.value) <= high


def test_only_queries_that_every_system_answered_count() -> None:
    names, query, people, judge = graded(4, 20, 1)
    kept = ~((np.array(names) == "s0") & (query < 5))
    people = people.copy()
    people[(np.array(names) == "s1") & (query == 7)] = np.nan
    judge = judge.copy()
    judge[(np.array(names) == "s2") & (query == 9)] = np.nan
    found = known(
        system_agreement([n for n, k in zip(names, kept, strict=True) if k], query[kept], people[kept], judge[kept])
    )
    assert found.n_queries == 20 - 5 - 1 - 1


def test_decisions_are_the_same_for_people_themselves_and_opposite_for_their_negative() -> None:
    names, query, people, _ = graded(5, 60, 2)
    same, turned = (known(system_agreement(names, query, people, one)) for one in (people, -people))
    assert (same.same, same.opposite, same.tau_b.value) == (same.pairs, 0, 1.0)
    assert (turned.opposite, turned.tau_b.value) == (same.told, -1.0)
    assert 0 < same.told <= same.pairs
    assert 0 < known(same.people) <= 1


@pytest.mark.parametrize(
    ("systems", "queries", "why"),
    [(1, 20, "1 system "), (2, 20, "2 systems "), (5, 2, "2 queries ")],
)
def test_too_few_systems_or_queries_are_undefined_and_say_why(systems: int, queries: int, why: str) -> None:
    found = known(system_agreement(*graded(systems, queries, 0)))
    assert (found.tau_b.value, found.spearman.value, found.share_same, found.differing) == (None, None, None, ())
    assert found.tau_b.note.startswith(why)
    lines = systems_lines(found)
    assert [found.tau_b.note in line for line in lines] == [True] * (systems >= 3)


def test_a_system_without_a_query_in_common_leaves_no_order() -> None:
    names, query, people, judge = graded(4, 20, 1)
    query = np.where(np.array(names) == "s3", query + 20, query)
    found = known(system_agreement(names, query, people, judge))
    assert found.tau_b.note.startswith("0 queries")


def _report(found: judgec.MeasuredAgreement) -> dict[str, Any]:  # Any: JSON
    return dict(json.loads(json.dumps(found.report))["judges"]["j"])


def test_a_system_of_which_no_answer_is_scored_is_not_left_out_of_the_order_in_silence() -> None:
    names, query, people, judge = graded(5, 20, 1, slope=1.0)
    rows = pd.DataFrame({"item_id": [f"i{k}" for k in range(100)], "query": query, "answer": "a", "agent": names})
    labels, said = rows.assign(grade=people.astype(int)), rows[["item_id"]].assign(judge="j", grade=np.round(judge))
    of = rows["agent"] == "s1"
    failed = _report(judgec.agreement(said.assign(grade=said["grade"].mask(of)), labels=labels))
    assert failed["system_tau"] == failed["systems"]["tau_b"]
    assert failed["system_tau"]["note"].startswith("0 queries")
    never_asked = _report(judgec.agreement(said[~of], labels=labels))
    assert never_asked["systems"]["systems"] == ["s0", "s2", "s3", "s4"]
    assert never_asked["system_tau"] == never_asked["systems"]["tau_b"]
    assert never_asked["system_tau"]["value"] > 0


def test_an_item_without_one_of_its_aspects_is_no_part_of_the_order() -> None:
    names, query, people, judge = graded(5, 30, 1, slope=1.0)
    rows = pd.DataFrame({"item_id": [f"i{k}" for k in range(150)], "query": query, "answer": "a", "agent": names})
    given = {"accuracy": np.clip(people + 1, 1, 5), "style": np.clip(people - 1, 1, 5)}
    labels = rows.assign(**{f"grade.{aspect}": grade for aspect, grade in given.items()})
    each = rows[["item_id"]].assign(judge="j", grade=np.clip(np.round(judge), 1, 5))
    said = pd.concat(each.assign(aspect=aspect) for aspect in given)
    labels.loc[(labels["agent"] == "s4") & (labels["query"] >= 20), "grade.accuracy"] = np.nan
    found = judgec.agreement(said, labels=labels, best=5).systems["j"]
    assert found.n_queries == 20  # in the others s4 would stand with its lower aspect alone


def test_a_query_with_one_of_several_answers_unscored_does_not_count() -> None:
    names, query, people, judge = graded(4, 20, 1)
    twice = [np.concatenate([one, one]) for one in (query, people, judge)]
    twice[2][3] = np.nan  # its twin is scored
    found = known(system_agreement(names * 2, *twice))
    assert found.n_queries == 19


def test_nobody_named_is_no_order_at_all() -> None:
    _, query, people, judge = graded(4, 20, 1)
    assert system_agreement([None] * len(query), query, people, judge) is None


def test_systems_with_equal_means_have_no_order() -> None:
    names, query, people, judge = graded(4, 10, 3)
    found = known(system_agreement(names, query, np.full(len(people), 3.0), judge))
    assert (found.tau_b.value, found.people, found.told) == (None, None, 0)


def test_agreement_says_how_a_judge_ranks_the_column_agent() -> None:
    names, query, people, judge = graded(4, 30, 5, slope=1.0)
    rows = [
        {"human": int(h), "gpt": int(np.clip(round(j), 1, 5)), "agent": a, "query": f"q{q}"}
        for a, q, h, j in zip(names, query, people, judge, strict=True)
    ]
    found = judgec.agreement(rows, annotators="human", judges="gpt", best=5)
    report = found.report["judges"]["gpt"]["systems"]  # type: ignore[index]  # mappings
    assert isinstance(report, dict)
    assert report["queries"] == 30
    assert report["systems"] == ["s0", "s1", "s2", "s3"]
    assert any("order of 4 systems" in note for note in found.notes)
    for row in rows:
        del row["agent"]
    assert not judgec.agreement(rows, annotators="human", judges="gpt", best=5).systems


def biased(queries: int, towards: float, seed: int) -> Columns:
    """Six systems of which the best are barely apart; the judge likes ``s0`` by so many grades more than people do."""
    rng = np.random.default_rng(seed)
    query, agent = np.repeat(np.arange(queries), 6), np.tile(np.arange(6), queries)
    people = np.clip(np.round(3 + 0.2 * agent + rng.normal(size=len(agent))), 1, 5)
    judge = people + 0.5 * rng.normal(size=len(agent)) + towards * (agent == 0)
    return [f"s{one}" for one in agent], query, people, judge


@pytest.mark.parametrize("seed", range(4))
def test_a_judge_with_a_bias_towards_one_system_is_found_by_the_pairs(seed: int) -> None:
    found = known(system_agreement(*biased(80, 0.8, seed)))
    assert sorted((one.a, one.b) for one in found.differing) == [("s0", f"s{k}") for k in range(1, 6)]
    for one in found.differing:
        assert known(one.judge.value) - known(one.people.value) == pytest.approx(0.8, abs=0.3)
        assert one.p < 0.05
    assert SystemAgreement.from_json(found.to_json()).differing == tuple(
        type(one).from_json(one.to_json()) for one in found.differing
    )
    older = {name: value for name, value in found.to_json().items() if name not in {"differing", "share_same"}}
    assert SystemAgreement.from_json(older).differing == ()


def test_a_judge_without_a_bias_rarely_differs_beyond_noise() -> None:
    found = [system_agreement(*biased(40, 0.0, seed)) for seed in range(60)]
    assert sum(bool(one and one.differing) for one in found) <= 6  # 3 are expected at 5 % over all pairs


def test_a_bias_that_is_the_same_in_every_query_is_found() -> None:
    names, query, people, _ = graded(4, 30, 2)
    found = known(system_agreement(names, query, people, people - 2.0 * (np.array(names) == "s0")))
    assert found.differing
    assert all("s0" in (one.a, one.b) and one.p < 0.05 for one in found.differing)


@pytest.mark.parametrize("queries", [3, 4, 5, 8])
def test_systems_that_are_alike_are_told_apart_in_5_percent_of_the_pairs_also_at_few_queries(queries: int) -> None:
    told = pairs = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        query, agent = np.repeat(np.arange(queries), 4), np.tile(np.arange(4), queries)
        people, judge = (np.clip(np.round(3 + rng.normal(size=len(agent))), 1, 5) for _ in range(2))
        found = known(system_agreement([f"s{one}" for one in agent], query, people, judge))
        told, pairs = told + found.told, pairs + found.pairs
    assert told / pairs < 0.075  # percentiles of resampled queries told 8 to 16 % apart


def test_decisions_are_those_of_paired_t_tests_of_scipy() -> None:
    names, query, people, judge = graded(6, 14, 4)
    found = known(system_agreement(names, query, people, judge))
    wide = [by.reshape(14, 6) for by in (people, judge)]
    tests = [[ttest_rel(by[:, a], by[:, b]) for a, b in combinations(range(6), 2)] for by in wide]
    theirs, ours = (np.array([np.sign(one.statistic) * (one.pvalue < 0.05) for one in by]) for by in tests)
    assert (found.told, found.same) == ((theirs != 0).sum(), (theirs == ours).sum())
    assert found.opposite == (theirs * ours < 0).sum()


@pytest.mark.full
@pytest.mark.parametrize(("queries", "least"), [(10, 0.8), (30, 0.88), (96, 0.9)])
@pytest.mark.parametrize("apart", [0.5, 1.5])
def test_intervals_of_tau_b_hold_the_truth_less_often_at_few_queries(queries: int, least: float, apart: float) -> None:
    held, runs = 0.0, 120
    for seed in range(1000, 1000 + runs):
        rng = np.random.default_rng(seed)
        by_people = 0.5 * rng.normal(size=11)
        by_judge = by_people + apart * rng.normal(size=11)
        truth = kendalltau(by_people, by_judge).statistic
        query, agent = np.repeat(np.arange(queries), 11), np.tile(np.arange(11), queries)
        both = rng.normal(size=len(agent))
        people = by_people[agent] + both + 0.7 * rng.normal(size=len(agent))
        judge = by_judge[agent] + 0.5 * both + 0.7 * rng.normal(size=len(agent))
        found = known(system_agreement([f"s{one:02d}" for one in agent], query, people, judge))
        low, high = bounds(found.tau_b)
        held += low <= truth <= high
    assert least <= held / runs < 0.99


def test_a_score_in_other_units_is_not_said_to_differ_from_people() -> None:
    names, query, people, _ = graded(5, 60, 1)
    judge = people + 5 * np.random.default_rng(1).normal(size=len(people))
    rows = pd.DataFrame({"human": people.astype(int), "agent": names, "query": query})
    rows["score"] = (judge - judge.min()) / np.ptp(judge)
    found = judgec.agreement(rows, annotators="human", judges="score", best=5).systems["score"]
    assert (found.tau_b.value or 0) > 0
    assert found.differing == ()
    labels = rows.assign(item_id=[f"i{k}" for k in range(300)], answer="a", grade=rows["human"])
    said = labels[["item_id"]].assign(judge="j", grade=rows["score"])
    one = judgec.agreement(said, labels=labels.drop(columns=["human", "score"])).systems["j"]
    assert one.tau_b.value == found.tau_b.value
    assert one.differing == ()


def ratings_of(names: list[str], query: IntArray, people: FloatArray, judge: FloatArray) -> GradePairs:
    nobody = np.full(len(names), -1)
    grade = np.where(np.isnan(judge), -1, np.clip(np.round(np.nan_to_num(judge)), 1, 5) - 1).astype(np.int64)
    expert = people.astype(np.int64) - 1
    values = (1.0, 2.0, 3.0, 4.0, 5.0)
    score = np.clip(judge, 1, 5)
    return GradePairs(
        expert[:, None],
        grade,
        score,
        nobody[:, None],
        nobody,
        query,
        values,
        int(query.max()) + 1,
        system=np.array(names, dtype=np.str_),
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_statistic_is_tau_b_of_the_means_under_any_resample(seed: int) -> None:
    names, query, people, judge = graded(6, 8, seed)
    compared = ratings_of(names, query, people, judge)
    means = [[by[np.array(names) == f"s{k}"].mean() for k in range(6)] for by in (people, np.clip(judge, 1, 5))]
    statistic = system_tau(compared)
    assert statistic.point() == pytest.approx(kendalltau(*means).statistic, abs=1e-12)
    left = [system_tau(compared.where(query != one)).point() for one in range(8)]
    assert statistic.without() == pytest.approx(left, abs=1e-12)
    weights = np.random.default_rng(0).multinomial(8, np.full(8, 1 / 8), size=20).astype(np.float64)
    for b, row in enumerate(weights.astype(int)):
        rows = np.concatenate([np.flatnonzero(query == q) for q in range(8) for _ in range(row[q])])
        again = ratings_of([names[i] for i in rows], np.repeat(np.arange(8), 6), people[rows], judge[rows])
        assert statistic.steps is not None
        assert statistic.steps.under(weights)[b] == pytest.approx(system_tau(again).point(), abs=1e-12)


def test_two_judges_that_only_follow_chance_are_seldom_told_apart() -> None:
    apart = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        names, query, people, _ = graded(8, 24, seed)
        one, other = (
            system_tau(ratings_of(names, query, people, people + 3 * rng.normal(size=len(people)))) for _ in range(2)
        )
        found = difference_interval(one, other)
        low, high = bounds(found)
        assert low <= (found.value or 0.0) <= high
        apart += not low <= 0 <= high
    assert apart <= 20  # 5 % would be 10
