"""Agents in pairs, aspect by aspect: the tests are SciPy's, corrected by Holm, and a query counts once."""

import itertools

import numpy as np
import pytest
from scipy import stats

from judgec.errors import UserError
from judgec.tournament.report.aspects import AspectTest, aspect_tests, parse_pools
from tests.stats.known import known

ONE, OTHER = [3.0, 4.0, 2.0, 5.0, 4.0, 3.5], [2.0, 4.0, 2.5, 3.0, 2.0, 1.0]
AGENTS = ("rag-bm25", "rag-knn", "rag-fusion-bm25", "rag-fusion-knn")


def alone(*agents: str) -> dict[str, tuple[str, ...]]:
    return {agent: (agent,) for agent in agents}


def league(seed: int = 0, n: int = 30) -> dict[tuple[str, str], dict[str, float]]:
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=n)
    return {
        (f"q{k}", agent): {
            "accuracy": 3 + hard[k] + 0.4 * ("fusion" in agent) + 0.5 * rng.normal(),
            "precision": 3 + hard[k] + rng.normal(),
        }
        for k in range(n)
        for agent in AGENTS
    }


def test_two_agents_have_scipys_values_on_the_queries_of_both() -> None:
    scores = {(f"q{k}", "a"): {"relevance": x} for k, x in enumerate(ONE)}
    scores |= {(f"q{k}", "b"): {"relevance": x} for k, x in enumerate(OTHER)}
    scores |= {("q9", "a"): {"relevance": 5.0}, ("q9", "b"): {}}
    (found,) = aspect_tests(scores, alone("a", "b"), grader="judge")
    expected = stats.ttest_rel(ONE, OTHER)
    assert (found.aspect, found.agents, found.queries) == ("relevance", ("a", "b"), 6)
    assert found.t.p == found.t_holm == pytest.approx(float(expected.pvalue))
    limits = expected.confidence_interval(0.95)
    assert (found.difference.low, found.difference.high) == pytest.approx((limits.low, limits.high))
    assert found.difference.value == pytest.approx(np.mean(ONE) - np.mean(OTHER))
    assert found.signed_rank.n == 5
    assert found.note.startswith("5 queries differ: ")
    assert " .062" in found.note


def test_every_pair_of_every_aspect_is_there_with_holms_p_by_hand() -> None:
    scores = league()
    found = aspect_tests(scores, alone(*AGENTS), grader="experts")
    assert [(one.aspect, one.agents) for one in found] == [
        (aspect, pair) for aspect in ("accuracy", "precision") for pair in itertools.combinations(AGENTS, 2)
    ]
    for aspect in ("accuracy", "precision"):
        own = [one for one in found if one.aspect == aspect]
        assert_holm([one.t.p for one in own], [one.t_holm for one in own])
        assert_holm([one.signed_rank.p for one in own], [one.signed_rank_holm for one in own])
        for one in own:
            first, second = ([scores[f"q{k}", agent][aspect] for k in range(30)] for agent in one.agents)
            assert one.t.p == pytest.approx(float(stats.ttest_rel(first, second).pvalue))
            assert one.signed_rank.p == pytest.approx(float(stats.wilcoxon(first, second, method="exact").pvalue))


def assert_holm(raw: list[float | None], adjusted: list[float | None]) -> None:
    """Step down by hand: the k-th smallest of m times m - k + 1, never below an earlier one."""
    known = sorted((p, place) for place, p in enumerate(raw) if p is not None)
    highest = 0.0
    for step, (p, place) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - step)))
        assert adjusted[place] == pytest.approx(highest)


def test_pools_are_compared_by_the_mean_of_their_agents_a_query_once() -> None:
    scores = league()
    pools = parse_pools(["rag=rag-*,fusion=rag-fusion-*"], AGENTS)
    assert pools == {"rag": ("rag-bm25", "rag-knn"), "fusion": ("rag-fusion-bm25", "rag-fusion-knn")}
    found = {one.aspect: one for one in aspect_tests(scores, pools, grader="experts", pooled=True)}
    first, second = (
        [float(np.mean([scores[f"q{k}", agent]["accuracy"] for agent in pool])) for k in range(30)]
        for pool in pools.values()
    )
    assert found["accuracy"].queries == 30
    assert found["accuracy"].t.p == pytest.approx(float(stats.ttest_rel(first, second).pvalue))
    assert known(found["accuracy"].difference.high) < 0  # fusion is better, by the way it was made
    assert found["accuracy"].to_json()["pooled"] is True


def test_query_on_which_an_agent_of_a_pool_has_no_score_is_left_out() -> None:
    scores = league()
    scores["q3", "rag-knn"] = {"precision": 1.0}
    pools = parse_pools(["rag=rag-*", "fusion=rag-fusion-*"], AGENTS)
    found = {one.aspect: one.queries for one in aspect_tests(scores, pools, grader="judge", pooled=True)}
    assert found == {"accuracy": 29, "precision": 30}


def test_pair_without_a_common_query_is_absent_and_one_query_has_no_interval() -> None:
    apart = {("q1", "a"): {"x": 1.0}, ("q2", "b"): {"x": 1.0}, ("q2", "c"): {"x": 3.0}}
    (only,) = aspect_tests(apart, alone("a", "b", "c"), grader="judge")
    assert (only.agents, only.difference.value, only.difference.low) == (("b", "c"), -2.0, None)
    assert (only.t.p, only.t_holm, only.difference.note) == (None, None, "no interval: one query")
    assert aspect_tests({}, alone("a", "b"), grader="judge") == ()
    assert isinstance(only, AspectTest)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["rag"], "not of the form NAME=PATTERN"),
        (["rag=rag-*"], "one pool; two or more are compared"),
        (["a=rag-*", "a=x"], "is there twice"),
        (["a=rag-*", "b=crag-*"], "--pool b=crag-*: no agent is in it; agents are rag-bm25"),
    ],
)
def test_pools_of_another_form_are_named(texts: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said.replace("*", r"\*")):
        parse_pools(texts, AGENTS)
