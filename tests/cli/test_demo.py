"""``make demo``: a judge on the labels that ship, a fresh family each time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from judgec.cli.demo import FAMILY, demo
from judgec.errors import UserError
from tests.cli.process import ROOT


def test_demo_outside_the_project_says_where_to_run_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="the demo runs in the project's folder"):
        demo(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.full
def test_demo_compiles_a_fresh_family_says_constructed_labels_and_names_the_next_commands(tmp_path: Path) -> None:
    (tmp_path / "trainsets").symlink_to(ROOT / "trainsets")
    taken = tmp_path / "programs" / f"{FAMILY}-1" / "0001"
    taken.mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    done = subprocess.run(
        [sys.executable, "-m", "judgec.cli.demo"],
        cwd=tmp_path,
        env={**kept, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=280,
        check=True,
    )
    assert f"{FAMILY}-2@1 on" in done.stdout
    assert "constructed labels" in done.stderr
    assert "embedded evidence engine, no language model" in done.stderr
    *_, judge, ui = done.stderr.strip().splitlines()
    assert judge.startswith("Next: judgec judge FILE --judge sensors-demo-2")
    assert ui.strip() == "judgec ui"
    report = json.loads((tmp_path / "programs" / f"{FAMILY}-2" / "0001" / "report.json").read_text())
    judges = report["test"]
    assert judges["compiled"]["tau_b"]["value"] > judges["uncompiled"]["tau_b"]["value"]
    assert judges["ceiling"]["n"] == judges["compiled_loo"]["n"] > 0
