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
def test_files_and_proof_of_a_change_are_there(change: str) -> None:
    files = re.findall(r"^\| `([^`]+)`", CHANGES[change], re.MULTILINE)
    tests = re.findall(r"`(tests/[^`]+\.py)`", CHANGES[change])
    assert files
    assert tests
    for name in [*(re.split(r"NAME|VERB", file)[0] for file in files), *tests]:
        assert (ROOT / name).exists(), name
