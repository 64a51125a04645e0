"""The sentence says what the numbers say, and no more."""

import pytest

from judgec.records.agreement import Agreement, BlandAltman
from judgec.records.estimate import Estimate
from judgec.report.page.verdict import Standing, beside_experts, headline, judge_verdict
from judgec.stats.agreement.measure import Resampling
from judgec.stats.agreement.registry import STATISTICS
from tests.report.graders import graded

HOW = Resampling(resamples=200)


def agreement(value: float | None, low: float | None = None, high: float | None = None, **others: float) -> Agreement:
    estimates = {name: Estimate(value=None, note="left out") for name in STATISTICS}
    estimates["tau_b"] = Estimate(value=value, low=low, high=high, note="" if value is not None else "a constant judge")
    estimates |= {name: Estimate(value=number) for name, number in others.items()}
    return Agreement(estimates, BlandAltman(None, None, None), None, None, 100, 50, 0)


TABLE = {
    "majority": agreement(None),
    "compiled": agreement(0.64, 0.57, 0.71),
    "compiled_loo": agreement(0.62, 0.5, 0.7),
    "ceiling": agreement(0.6, 0.5, 0.7),
}


@pytest.mark.parametrize(
    ("low", "high", "standing", "words"),
    [
        (-0.05, 0.09, "as well", "judge@1 agrees with your experts as well as they agree with each other: "),
        (0.01, 0.09, "better", "judge@1 agrees with your experts better than they agree with each other: "),
        (-0.3, -0.01, "less", "judge@1 agrees with your experts, but less than they agree with each other: "),
        (-0.3, 0.2, "unclear", "40 test queries are too few"),
        (None, None, "unclear", "40 test queries are too few"),
    ],
)
def test_verdict_of_a_judge_beside_its_experts_follows_the_interval_of_their_difference(
    low: float | None, high: float | None, standing: Standing, words: str
) -> None:
    difference = Estimate(value=0.02, low=low, high=high, n_clusters=40)
    found = judge_verdict("judge@1", TABLE, difference, statistic="tau_b")
    assert found.standing == standing
    assert words in found.sentence
    assert (
        "tau-b .62 [.50, .70] with one annotator left out, the annotators' own .60." in found.sentence
    )  # like for like: of compiled_loo and ceiling
    assert ".64" not in found.sentence
    assert "Against the consensus of all experts: tau-b .64 [.57, .71]." in found.detail


def test_judge_that_another_row_of_its_table_beats_is_never_called_better() -> None:
    difference = Estimate(value=0.05, low=0.01, high=0.09, n_clusters=40)
    found = judge_verdict("j", TABLE, difference, statistic="tau_b", above="evidence alone .66 stands above its .64")
    assert found.standing == "as well"
    assert found.sentence == (
        "j agrees with your experts as well as they agree with each other: tau-b .62 [.50, .70] with one annotator "
        "left out, the annotators' own .60; evidence alone .66 stands above its .64."
    )


def test_judge_below_the_most_frequent_grade_says_so_first_whatever_its_ceiling() -> None:
    difference = Estimate(value=0.05, low=0.01, high=0.09, n_clusters=40)
    found = judge_verdict("j", TABLE, difference, statistic="tau_b", below="exact .76 against .83, difference -.07")
    assert found.standing == "below"
    assert found.sentence == (
        "j agrees with your experts less often than their most frequent grade does: "
        "exact .76 against .83, difference -.07."
    )


def test_verdict_of_a_judge_whose_interval_touches_chance_is_that_nothing_is_shown() -> None:
    table = {**TABLE, "compiled": agreement(0.1, -0.01, 0.2)}
    found = judge_verdict("j", table, Estimate(value=0.0, low=-0.01, high=0.01), statistic="tau_b")
    assert (found.standing, found.sentence) == (
        "none",
        "j is not shown to agree with your experts: tau-b .10 [-.01, .20] (0 is chance).",
    )


def test_verdict_on_shares_takes_the_majority_grade_for_chance() -> None:
    table = {
        "majority": agreement(None, exact=0.7),
        "compiled": agreement(None, exact=0.69),
        "ceiling": agreement(None, exact=0.9),
    }
    found = judge_verdict("j", table, None, statistic="exact")
    assert found.standing == "none"
    assert "no more than the most frequent grade" in found.sentence


def test_verdict_without_a_second_annotator_says_that_the_ceiling_is_unknown() -> None:
    found = judge_verdict("j", {**TABLE, "ceiling": agreement(None)}, None, statistic="tau_b")
    assert found.standing == "alone"
    assert found.sentence.endswith("how far they agree with each other is unknown.")


def test_verdict_of_an_undefined_statistic_gives_the_reason() -> None:
    found = judge_verdict("j", {**TABLE, "compiled": agreement(None)}, None, statistic="tau_b")
    assert (found.standing, found.sentence) == (
        "unknown",
        "How far j agrees with your experts is unknown: a constant judge.",
    )


def test_constructed_labels_are_never_called_experts() -> None:
    difference = Estimate(value=0.0, low=-0.05, high=0.05)
    found = judge_verdict("j", TABLE, difference, statistic="tau_b", constructed=True)
    assert "expert" not in found.sentence


def test_headline_is_the_objective_or_the_first_statistic_that_is_defined() -> None:
    assert headline("0.7*tau_b+0.3*kappa", agreement(0.5)) == "tau_b"
    assert headline("accept", agreement(0.5, accept_agreement=0.8)) == "accept_agreement"
    assert headline("kappa", agreement(None, exact=0.8)) == "exact"


def test_difference_to_the_experts_is_that_of_the_mean_statistics() -> None:
    # Two annotators of whom one agrees wholly (1) and one in half of the pairs; the judge agrees wholly with both.
    expert = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]
    other = [0, 1, 2, 0, 2, 1, 1, 0, 2, 0, 1, 2]
    judge, experts = [graded(expert, expert)] * 2, [graded(expert, expert), graded(expert, other)]
    found = beside_experts("exact", judge, experts, HOW)
    assert found is not None
    assert found.value == pytest.approx(1 - (1 + 8 / 12) / 2)


def test_difference_to_the_experts_is_unknown_without_a_second_annotator() -> None:
    assert beside_experts("tau_b", [], [], HOW) is None
