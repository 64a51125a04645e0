"""The sentence says what the numbers say, and no more."""

import re

import pytest

from judgec.records.agreement import Agreement, BlandAltman
from judgec.records.estimate import Estimate
from judgec.report.page.verdict import Standing, beside_experts, headline, judge_verdict
from judgec.stats.agreement.registry import STATISTICS
from tests.report.graders import graded

NUMBER = re.compile(r"\.\d\d")


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
        (-0.05, 0.09, "as well", "as well as they agree"),
        (0.01, 0.09, "better", "better than they agree"),
        (-0.3, -0.01, "less", "but less than they agree"),
        (-0.3, 0.2, "unclear", "40 test queries"),
        (None, None, "unclear", "40 test queries"),
    ],
)
def test_verdict_of_a_judge_beside_its_experts_follows_the_interval_of_their_difference(
    low: float | None, high: float | None, standing: Standing, words: str
) -> None:
    difference = Estimate(value=0.02, low=low, high=high, n_clusters=40)
    found = judge_verdict("judge@1", TABLE, difference, statistic="tau_b")
    assert found.standing == standing
    assert found.sentence.startswith("judge@1 agrees with")
    assert words in found.sentence
    assert NUMBER.findall(found.sentence)[-4:] == [".62", ".50", ".70", ".60"]  # of compiled_loo and ceiling
    assert ".64" not in found.sentence
    assert "tau-b .64 [.57, .71]" in found.detail  # against the consensus of all
    assert "expert" not in judge_verdict("j", TABLE, difference, statistic="tau_b", constructed=True).sentence


def test_judge_that_another_row_of_its_table_beats_is_never_called_better() -> None:
    difference = Estimate(value=0.05, low=0.01, high=0.09, n_clusters=40)
    found = judge_verdict("j", TABLE, difference, statistic="tau_b", above="evidence alone .66 stands above its .64")
    assert found.standing == "as well"
    assert found.sentence.endswith("; evidence alone .66 stands above its .64.")
    below = judge_verdict("j", TABLE, difference, statistic="tau_b", below="exact .76 against .83, difference -.07")
    assert below.standing == "below"  # whatever its ceiling
    assert "less often than" in below.sentence
    assert below.sentence.endswith(": exact .76 against .83, difference -.07.")


UNKNOWN = agreement(None)
MAJORITY = {"majority": agreement(None, exact=0.7), "ceiling": agreement(None, exact=0.9)}


@pytest.mark.parametrize(
    ("table", "statistic", "standing", "said"),
    [
        (
            {**TABLE, "compiled": agreement(0.1, -0.01, 0.2)},
            "tau_b",
            "none",
            "not shown .* tau-b .10 .-.01, .20. .0 is",
        ),
        ({**MAJORITY, "compiled": agreement(None, exact=0.69)}, "exact", "none", "most frequent grade"),
        ({**TABLE, "ceiling": UNKNOWN}, "tau_b", "alone", "each other is unknown.$"),
        ({**TABLE, "compiled": UNKNOWN}, "tau_b", "unknown", "is unknown: a constant judge.$"),
    ],
)
def test_verdict_where_nothing_is_shown_or_known_gives_the_reason(
    table: dict[str, Agreement], statistic: str, standing: Standing, said: str
) -> None:
    found = judge_verdict("j", table, Estimate(value=0.0, low=-0.01, high=0.01), statistic=statistic)
    assert found.standing == standing
    assert re.search(said, found.sentence), found.sentence


def test_headline_is_the_objective_or_the_first_statistic_that_is_defined() -> None:
    assert headline("0.7*tau_b+0.3*kappa", agreement(0.5)) == "tau_b"
    assert headline("accept", agreement(0.5, accept_agreement=0.8)) == "accept_agreement"
    assert headline("kappa", agreement(None, exact=0.8)) == "exact"


def test_difference_to_the_experts_is_that_of_the_mean_statistics() -> None:
    # Two annotators of whom one agrees wholly (1) and one in half of the pairs; the judge agrees wholly with both.
    expert = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]
    other = [0, 1, 2, 0, 2, 1, 1, 0, 2, 0, 1, 2]
    judge, experts = [graded(expert, expert)] * 2, [graded(expert, expert), graded(expert, other)]
    found = beside_experts("exact", judge, experts)
    assert found is not None
    assert found.value == pytest.approx(1 - (1 + 8 / 12) / 2)
    assert beside_experts("tau_b", [], []) is None  # without a second annotator
