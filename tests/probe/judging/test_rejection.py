"""The six outcomes, by rules."""

import pytest

from judgec.probe.judging.rejection import rejection_outcome
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
