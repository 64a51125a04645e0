"""The page that says where things go: the files that each change names are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CHANGES = dict(re.findall(r"^### ([^\n]+)\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL))


def test_the_changes_are_there() -> None:
    assert len(CHANGES) == 9


@pytest.mark.parametrize("change", CHANGES)
def test_files_of_a_change_are_there(change: str) -> None:
    files = re.findall(r"^\| `([^`]+)`", CHANGES[change], re.MULTILINE)
    assert files
    for file in files:
        folder = re.split(r"NAME|VERB", file)[0]
        assert (ROOT / folder).exists(), file


@pytest.mark.parametrize("change", CHANGES)
def test_proof_of_a_change_is_there(change: str) -> None:
    tests = re.findall(r"`(tests/[^`]+\.py)`", CHANGES[change])
    assert tests
    for test in tests:
        assert (ROOT / test).exists(), test
