"""``compile-judge mlflow:EXPERIMENT --assessment NAME`` as a real process on a real MLflow store."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from judgec.cli.judge.source import LabelSource, read_source
from judgec.errors import UserError
from judgec.tracking.store import TrackingStore
from tests.tracking.feedback import ASSESSMENT, EXPERIMENT, environment, write_feedback

ROOT = Path(__file__).parents[2]
N = 60


def run(home: Path, *arguments: str, code: int = 0) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), *arguments, "--home", str(home)],
        cwd=home,
        env={name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=280,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # MLflow's imports warn; they are not ours to mend
def test_compile_judge_from_traces_keeps_all_raters_and_can_be_compared_again(tmp_path: Path) -> None:
    (tmp_path / "mlruns").mkdir()
    with environment():
        write_feedback(tmp_path / "mlruns", N)
    source = [f"mlflow:{EXPERIMENT}", "--assessment", ASSESSMENT]
    stdout, stderr = run(tmp_path, "compile-judge", *source, "--name", "bot", "--json")
    assert stderr == ""
    report = json.loads(stdout)
    assert sum(report["split"].values()) == N
    assert report["test"]["ceiling"]["n"] > 0  # two raters graded some of them
    assert report["mlflow_run_id"]
    again = json.loads(run(tmp_path, "compare", "bot@1", "bot@latest", "--json")[0])
    assert again["test"]["a"]["n"] == report["split"]["test"]
    assert again["differ"] == 0


@pytest.mark.parametrize(
    ("path", "assessment", "seen"),
    [("mlflow:bot", None, "Add --assessment NAME"), ("labels.csv", "quality", "is for mlflow:EXPERIMENT")],
)
def test_read_source_where_path_and_assessment_do_not_belong_together_says_so(
    path: str, assessment: str | None, seen: str
) -> None:
    with pytest.raises(UserError, match=seen):
        read_source(LabelSource(path=path, assessment=assessment), TrackingStore("sqlite:///none.db", None), {})
