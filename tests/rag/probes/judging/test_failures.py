"""Error messages instead of answers, and answers that only look like them."""

import pytest

from judgec.rag.probes.judging.failures import is_failure
from judgec.rag.probes.judging.rejection import rejection_outcome

QUERY = "Which award was given for the pump in 1743?"


@pytest.mark.parametrize(
    "reply",
    [
        "Error: context size exceeded",
        "ERROR: model not loaded",
        "**Error:** timeout",
        "[ERROR] no model",
        "Error 500 - upstream",
        "error code: 429",
        "Internal error: the index is locked.",
        "ValueError: could not convert string to float",
        "openai.BadRequestError: Error code: 400",
        "Traceback (most recent call last):\n  File ...",
        "An error occurred while processing your request.",
        "Sorry, an unexpected error has occurred.",
        "I'm sorry, but something went wrong. Please try again later.",
        "I encountered an error while searching.",
        "HTTP 502",
        "500 Internal Server Error",
        "503: Service Unavailable",
        "Too Many Requests",
        "Request timed out.",
        "Rate limit exceeded, retry in 20 s",
        "CUDA out of memory. Tried to allocate 2 GiB",
        '{"error": {"message": "bad"}}',
        "<html>\n<head><title>502 Bad Gateway</title></head>",
        "The request exceeds the available context size (4096 tokens).",
        "This model's maximum context length is 8192 tokens. However, you requested 9000.",
        "Failed to generate a response.",
    ],
)
def test_message_of_a_system_is_a_failure(reply: str) -> None:
    assert is_failure(reply, QUERY)
    assert rejection_outcome(reply, QUERY) == "error"


@pytest.mark.parametrize(
    "reply",
    [
        "The pump shows an error when the valve is closed.",
        "I cannot find this in the documents.",
        "The measurement error is 0.25 % of full scale.",
        "An error occurred in the census of 1743, says the chronicle.",
        "500 people received the award.",
        "404 bar",
        "Requests are answered within a day.",
        "The award was given in time.",
    ],
)
def test_answer_that_speaks_of_errors_is_none(reply: str) -> None:
    assert not is_failure(reply, QUERY)


def test_answer_to_a_question_about_errors_is_none() -> None:
    assert not is_failure("Error: E42 means that the lamp is broken.", "What does error E42 mean?")
