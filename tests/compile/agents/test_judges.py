"""Which judge reports on a compiled agent: a proven one that can be asked about what is at hand."""

from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from judgec.compile.agents.judges import WorkingJudge, judging, report_judging
from judgec.errors import UserError
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.raters.judge import load_judge
from judgec.raters.programs import load, save, set_aliases
from judgec.raters.tree import RecordedLeaf
from tests.verbs.cli.judging import save_judge


def save_recorded(home: Path, name: str) -> None:
    save_judge(home, name, lm={"model": "recorded:DataFrame"})
    program = load(home, name)
    tree = load_judge(program).rater.model_copy(update={"of": RecordedLeaf(name="gpt", verdicts="recorded:DataFrame")})
    saved = save(home, replace(program, tree=tree.model_dump(mode="json")))
    set_aliases(home, name, {"champion": saved.version})


def able(judge: WorkingJudge) -> None:
    session = mock.create_autospec(Session, instance=True)
    session.spec = LMSpec.parse("openai/gpt-4o")
    judge.ask(session)


def test_first_proven_champion_that_can_be_asked_reports_and_recorded_verdicts_cannot(tmp_path: Path) -> None:
    save_recorded(tmp_path, "a")
    assert report_judging(tmp_path, None, able) is None
    save_judge(tmp_path, "b")
    save_judge(tmp_path, "c")
    found = report_judging(tmp_path, None, able)
    assert found is not None
    assert found.name == "b@1"
    other = report_judging(tmp_path, found, able)
    assert other is not None
    assert other.name == "c@1"
    with pytest.raises(UserError, match=r"^\w+@\d: gpt: its verdicts were recorded"):
        able(judging(tmp_path, "a", "--report-judge", unproven=False))
