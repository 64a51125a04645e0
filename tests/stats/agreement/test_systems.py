"""A judge ranks systems as people do, or not: equal to SciPy, and only on queries that all systems answered."""

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

import judgec
from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.systems import system_agreement


def graded(
    systems: int, queries: int, seed: int, slope: float = 0.5
) -> tuple[list[str], IntArray, FloatArray, FloatArray]:
    """Grades of people and a judge that follows them by ``slope``."""
    rng = np.random.default_rng(seed)
    query, agent = np.repeat(np.arange(queries), systems), np.tile(np.arange(systems), queries)
    people = np.clip(np.round(3 + rng.normal(size=systems)[agent] + rng.normal(size=len(agent))), 1, 5)
    return [f"s{one}" for one in agent], query, people, slope * people + rng.normal(size=len(agent))


@pytest.mark.parametrize("seed", range(20))
def test_correlations_of_means_are_those_of_scipy(seed: int) -> None:
    names, query, people, judge = graded(3 + seed % 8, 12 + seed, seed, slope=0.2)
    found = system_agreement(names, query, people, judge)
    assert found is not None
    by_people, by_judge = (
        np.array([by[np.array(names) == name].mean() for name in found.systems]) for by in (people, judge)
    )
    assert found.tau_b.value == pytest.approx(kendalltau(by_people, by_judge).statistic, abs=1e-12)
    assert found.spearman.value == pytest.approx(spearmanr(by_people, by_judge).statistic, abs=1e-12)
    low, value, high = found.tau_b.low, found.tau_b.value, found.tau_b.high
    assert low is not None
    assert value is not None
    assert high is not None
    assert low <= value <= high


def test_only_queries_that_every_system_answered_count() -> None:
    names, query, people, judge = graded(4, 20, 1)
    kept = ~((np.array(names) == "s0") & (query < 5))
    people = people.copy()
    people[(np.array(names) == "s1") & (query == 7)] = np.nan
    judge = judge.copy()
    judge[(np.array(names) == "s2") & (query == 9)] = np.nan
    found = system_agreement([n for n, k in zip(names, kept, strict=True) if k], query[kept], people[kept], judge[kept])
    assert found is not None
    assert found.n_queries == 20 - 5 - 1 - 1


def test_decisions_are_the_same_for_people_themselves_and_opposite_for_their_negative() -> None:
    names, query, people, _ = graded(5, 60, 2)
    same, turned = (system_agreement(names, query, people, one) for one in (people, -people))
    assert same is not None
    assert turned is not None
    assert (same.same, same.opposite, same.tau_b.value) == (same.pairs, 0, 1.0)
    assert (turned.opposite, turned.tau_b.value) == (same.told, -1.0)
    assert 0 < same.told <= same.pairs
    assert same.people is not None
    assert 0 < same.people <= 1


@pytest.mark.parametrize(("systems", "queries"), [(2, 20), (5, 2)])
def test_too_few_systems_or_queries_say_nothing(systems: int, queries: int) -> None:
    assert system_agreement(*graded(systems, queries, 0)) is None


def test_systems_with_equal_means_have_no_order() -> None:
    names, query, people, judge = graded(4, 10, 3)
    found = system_agreement(names, query, np.full(len(people), 3.0), judge)
    assert found is not None
    assert found.tau_b.value is None
    assert found.people is None
    assert found.told == 0


def test_agreement_says_how_a_judge_ranks_the_column_agent() -> None:
    names, query, people, judge = graded(4, 30, 5, slope=1.0)
    rows = [
        {"human": int(h), "gpt": int(np.clip(round(j), 1, 5)), "agent": a, "query": f"q{q}"}
        for a, q, h, j in zip(names, query, people, judge, strict=True)
    ]
    found = judgec.agreement(rows, expert="human", judge="gpt")
    report = found.report["systems"]
    assert isinstance(report, dict)
    assert report["queries"] == 30
    assert report["systems"] == ["s0", "s1", "s2", "s3"]
    assert any("ranks 4 systems as people do" in note for note in found.notes)
    for row in rows:
        del row["agent"]
    assert "systems" not in judgec.agreement(rows, expert="human", judge="gpt").report
