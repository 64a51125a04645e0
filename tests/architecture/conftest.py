"""The parsed modules are kept for the rules alone: they are a third of a gigabyte that no other test needs."""

from collections.abc import Iterator

import pytest

from tests.architecture import sources


@pytest.fixture(scope="package", autouse=True)
def _parsed_once() -> Iterator[None]:
    yield
    sources.nodes.cache_clear()
    sources.tree.cache_clear()
