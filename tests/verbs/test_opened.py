"""One way to open a judge: whom a saved judge asks, and how it is bound to them, is said in one place."""

import re

import pytest

from tests.architecture.sources import MODULES, relative

OPENED = {"verbs/opened.py"}
PLACES = {  # what opens a judge: in which rooms, and the only files there that may
    r"\bLMSpec\.from_card\(": ("", {"lm/spec.py", "raters/programs.py"}),
    r"\bmodel_of\(": ("verbs/", OPENED | {"verbs/candidates.py"}),
    r"raters\.judge import .*\bload_judge\b": ("verbs/", OPENED | {"verbs/export.py"}),
    r"\b(AskedJudge|Binding|Juror|Jury|RecordedRater|PromptRater)\(": ("verbs/", OPENED),
    r"\bjudge\.(jurors|joint)\b": ("verbs/", OPENED | {"verbs/recorded.py", "verbs/live.py"}),
}


@pytest.mark.parametrize("said", PLACES)
def test_judges_are_opened_in_one_place(said: str) -> None:
    room, places = PLACES[said]
    found = {relative(path) for path in MODULES if re.search(said, path.read_text(encoding="utf-8"))}
    assert {name for name in found if name.startswith(room)} == places
