from collections.abc import Iterator

import pytest

from tests.service.fake_openai import FakeOpenAI
from tests.service.ranking_world import grader


@pytest.fixture(scope="session")
def server() -> Iterator[FakeOpenAI]:
    """The graders of the ranking world, as a prompt makes them."""
    with FakeOpenAI(grader) as running:
        yield running
