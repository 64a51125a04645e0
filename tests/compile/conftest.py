"""Compiles that several modules look at, each made once."""

import pytest

from judgec.compile.finished import SavedJudge
from tests.compile.recorded_world import compiled_in, labels, verdicts, world
from tests.compile.small import Outcome, compiled_from
from tests.service import grading_world


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Sixty answers of the grading world, two a query, and the fake."""
    return compiled_from(tmp_path_factory.mktemp("plain"), grading_world.rows(60, per_query=2))


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> SavedJudge:
    """All recorded judges."""
    return compiled_in(tmp_path_factory.mktemp("recorded"), *world(verdicts(labels()), labels()))
