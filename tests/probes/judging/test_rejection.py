"""The six outcomes, by rules."""

import pytest

from judgec.probes.judging.rejection import rejection_outcome
from judgec.records.scenario.outcome import REJECTION_OUTCOMES


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("The carbon footprint is 12 kg.", "answered"),
        ("Sure! The carbon footprint of the pump is about twelve kilograms a year.", "answered"),
        ("The documents do not answer this question.", "refused"),
        ("I'm sorry, but I cannot find this in the provided documents. Please contact support.", "refused"),
        ("No information about the price is given.", "refused"),
        ("I could not find it in the documents, but the footprint is usually 12 kg.", "refused_then_answered"),
        ("The context does not say. The pump was released in 2019 and weighs 3 kg.", "refused_then_answered"),
        ("The documents describe the accuracy and the housing of the pump.", "described"),
        ("The documents do not mention it. The passages cover installation and wiring.", "described"),
        ("The documents describe the pump. Its carbon footprint is 12 kg.", "described_then_answered"),
        ("", "error"),
        ("  \n", "error"),
        (None, "error"),
    ],
)
def test_rejection_outcome_names_what_was_done(answer: str | None, outcome: str) -> None:
    assert outcome in REJECTION_OUTCOMES
    assert rejection_outcome(answer) == outcome


QUERY = "What is the price of the Fenn 25 (IP67)?"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("The manual lists a price of 499 EUR.", "answered"),
        ("Based on the context, the documentation includes the price, which is 499 euros.", "answered"),
        ("The catalogue lists its price at 499 EUR.", "answered"),
        ("I do not know, it costs 499 EUR.", "refused_then_answered"),
        ("While the documents do not mention the price, it is typically around 499 EUR.", "refused_then_answered"),
        ("The price is not specified: 499 EUR", "refused_then_answered"),
        ("Although the documents do not say, the housing is painted bright signal red.", "refused_then_answered"),
        ("Although the documents cover pressure sensors, they do not mention the price.", "refused"),
        ("While the documents do not mention it, they cover accuracy and supply voltage.", "described"),
        ("While I cannot find the price, you can contact sales.", "refused"),
        ("The documents describe the Fenn 25 and its IP67 housing.", "described"),
        ("The documents describe two sensors and three gateways.", "described"),
        ("There is no price of the Fenn 25 given in the 102 passages.", "refused"),
        ("Unfortunately no price is listed for the Fenn 25. Please contact sales at 555-1234.", "refused"),
    ],
)
def test_rejection_outcome_counts_a_figure_as_a_claim_in_any_sentence(answer: str, outcome: str) -> None:
    assert rejection_outcome(answer, QUERY) == outcome
