"""Which judge reports on a compiled agent: a proven one that can be asked about what is at hand."""

from pathlib import Path
from unittest import mock

import pytest

from judgec.compile.agents.judges import WorkingJudge, judging, report_judging
from judgec.errors import UserError
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from tests.verbs.cli.judging import save_judge

RECORDED = {"model": "recorded:DataFrame"}


def able(judge: WorkingJudge) -> None:
    session = mock.create_autospec(Session, instance=True)
    session.spec = LMSpec.parse("openai/gpt-4o")
    judge.ask(session)


def test_first_proven_champion_that_can_be_asked_reports_and_recorded_verdicts_cannot(tmp_path: Path) -> None:
    save_judge(tmp_path, "a", lm=RECORDED)
    assert report_judging(tmp_path, None, able) is None
    save_judge(tmp_path, "b")
    save_judge(tmp_path, "c")
    found = report_judging(tmp_path, None, able)
    assert found is not None
    assert found.name == "b@1"
    other = report_judging(tmp_path, found, able)
    assert other is not None
    assert other.name == "c@1"
    with pytest.raises(UserError, match=r"^a@1 .*recorded verdicts"):
        able(judging(tmp_path, "a", "--report-judge", unproven=False))
