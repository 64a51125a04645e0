"""Saving: whole or not at all, and enough on the card to know what was measured."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from judgec.labels.split.family import Family, locked_family, read_family, write_family
from judgec.raters import programs
from judgec.raters.judge import load_judge
from tests.compile.small import CREATED, Outcome, compiled_from
from tests.fake_lm import FAKE
from tests.service import grading_world
from tests.verbs.cli.process import ROOT

ROWS = grading_world.rows(60, per_query=2)


def test_card_says_what_was_measured_with_what_and_why_it_was_not_promoted(plain: Outcome) -> None:
    card = programs.load(plain.settings.home, "small@1").card
    assert card == plain.saved.card
    assert (card.name, card.version, card.task, card.created) == ("small", 1, "grade", CREATED)
    assert card.engine == ""
    assert card.lm["model"] == FAKE
    assert card.fields == ("answer", "contexts", "query")
    assert (card.promoted, card.looks, card.parent) == (False, 1, None)
    assert card.reason == plain.compiled.decision.reason
    assert card.test == plain.compiled.verification.agreements["compiled"].estimates
    assert card.split_digest == plain.compiled.dataset.split.digests["test"]
    assert card.cost.lm_calls == plain.spent.calls
    assert {"python", "judgec", "dspy", "mlflow", "numpy", "scikit-learn"} <= set(card.versions)


def test_saved_judge_gives_the_judgments_that_were_measured(plain: Outcome) -> None:
    judge = load_judge(programs.load(plain.settings.home, "small@1"))
    test = plain.compiled.dataset.test
    raw = plain.compiled.verification.judgments["compiled_prompt"]
    again = judge.graded(test.items, raw if judge.asks_lm else None)
    measured = plain.compiled.verification.judgments["compiled"]
    assert (again.grade == measured.grade).all()
    assert again.score == pytest.approx(measured.score, abs=1e-12)
    assert (again.accept == measured.accept).all()


def test_report_on_disk_is_the_report_of_json(plain: Outcome) -> None:
    saved = programs.load(plain.settings.home, "small@1").report
    judgments = saved.pop("judgments")
    assert len(judgments) == len(plain.compiled.dataset.test)
    shown = json.loads(json.dumps({**plain.saved.report, "mlflow_run_id": "run"}, allow_nan=False))
    assert [shown.pop(name) for name in ("program", "version", "mlflow_run_id")] == ["small", 1, "run"]
    assert shown == saved


def test_save_that_fails_half_way_leaves_no_version_no_look_and_no_alias(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(path: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", full_disk)
    with pytest.raises(OSError, match="No space left"):
        compiled_from(tmp_path, ROWS)
    monkeypatch.undo()
    family = tmp_path / "programs" / "small"
    assert {path.name for path in family.iterdir()} <= {".lock"}
    assert read_family(tmp_path, "small").looks == ()
    assert compiled_from(tmp_path, ROWS).saved.card.version == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from judgec.raters import programs
sys.path.insert(0, sys.argv[2])
from tests.compile.small import compiled_from
from tests.service import grading_world

kill = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[3] == "before the version":
    Path.rename = kill
else:
    programs.set_aliases = kill
compiled_from(Path(sys.argv[1]), grading_world.rows(60, per_query=2), lm="embedded")
"""


@pytest.mark.full
@pytest.mark.parametrize(("when", "versions"), [("before the version", ()), ("before the alias", (1,))])
def test_killed_save_leaves_whole_versions_and_a_lock_that_nobody_holds(
    tmp_path: Path, when: str, versions: tuple[int, ...]
) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(ROOT), when], check=False, timeout=280)
    assert done.returncode == -signal.SIGKILL
    assert programs.versions(tmp_path, "small") == versions
    for version in versions:
        programs.load(tmp_path, f"small@{version}")
    after = compiled_from(tmp_path, ROWS, lm="embedded").saved.card
    assert after.version == 1 if versions else after.version >= 1  # what was written whole is finished, not made again
    assert after.looks == 1


def held_elsewhere(lock: Path) -> bool:
    script = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN EXCLUSIVE')"
    tried = subprocess.run([sys.executable, "-c", script, str(lock)], capture_output=True, text=True, check=False)
    return "database is locked" in tried.stderr


def test_lock_of_a_family_is_held_by_one_process_and_let_go(tmp_path: Path) -> None:
    lock = tmp_path / "programs" / "f" / ".lock"
    with locked_family(tmp_path, "f"):
        assert held_elsewhere(lock)
        write_family(tmp_path, Family(name="f", salt="f"))
    assert not held_elsewhere(lock)
