"""Error messages instead of answers, and answers that only look like them."""

from typing import Any

import pytest

from judgec.rag.probes.judging.failures import is_failure
from judgec.rag.probes.judging.rejection import rejection_outcome
from tests.rag.probes.judging.test_rejection import read

QUERY = "Which award was given for the pump in 1743?"


@pytest.mark.parametrize("row", read("failures.jsonl"), ids=lambda row: row["reply"])
def test_message_of_a_system_is_a_failure_and_an_answer_that_speaks_of_errors_is_none(row: dict[str, Any]) -> None:
    assert is_failure(row["reply"], QUERY) is row["failure"]
    assert not row["failure"] or rejection_outcome(row["reply"], QUERY) == "error"


def test_answer_to_a_question_about_errors_is_none() -> None:
    assert not is_failure("Error: E42 means that the lamp is broken.", "What does error E42 mean?")
