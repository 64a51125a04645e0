"""One way to open a judge: whom a saved judge asks, and how it is bound to them, is said in one place."""

import re

import pytest

from tests.architecture.sources import MODULES, relative

OPENED, WHOM = {"verbs/opened.py"}, {"verbs/whom.py"}
PLACES = {  # what opens a judge: in which rooms, and the only files there that may
    r"\bLMSpec\.from_card\(": ("", {"lm/spec.py", "raters/programs.py"}),
    r"\bmodel_of\(": ("verbs/", WHOM | {"verbs/candidates.py"}),
    r"raters\.judge import .*\bload_judge\b": ("verbs/", WHOM | {"verbs/export.py"}),
    r"\b(AskedJudge|Bound|Juror|Jury|RecordedRater|PromptRater|TurnsRater|Supplied|leaf_rater)\(": ("verbs/", OPENED),
    r"\b(given|judge)\.prompted\b": ("verbs/", OPENED),
}


@pytest.mark.parametrize("said", PLACES)
def test_judges_are_opened_in_one_place(said: str) -> None:
    room, places = PLACES[said]
    found = {relative(path) for path in MODULES if re.search(said, path.read_text(encoding="utf-8"))}
    assert {name for name in found if name.startswith(room)} == places
