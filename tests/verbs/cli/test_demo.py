"""``judgec demo``: a judge on the labels that ship, a fresh family each time, wherever it is run."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import judgec as package
from judgec.errors import UserError
from judgec.labels.shipped import sensors_labels
from judgec.verbs.cli.demo import FAMILY, require_here
from tests.verbs.cli.process import ROOT, judgec


def test_labels_that_ship_are_the_one_file_of_the_checkout() -> None:
    assert sensors_labels().samefile(ROOT / "trainsets" / "sensors" / "labels.jsonl")
    assert (sensors_labels().parent / "datasheet.toml").is_file()
    assert not [path for path in (ROOT / "src").rglob("labels.jsonl") if "build" not in path.parts]


def test_labels_that_ship_are_those_inside_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "site-packages" / "judgec" / "trainsets" / "sensors" / "labels.jsonl"
    inside.parent.mkdir(parents=True)
    inside.touch()
    monkeypatch.setattr(package, "__file__", str(tmp_path / "site-packages" / "judgec" / "__init__.py"))
    assert sensors_labels() == inside


def test_demo_of_the_catalogue_outside_the_project_says_where_to_run_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="the demo runs in the project's folder"):
        require_here(Path("trainsets/sensors/catalogue"), "make demo-tournament")
    assert not list(tmp_path.iterdir())


def test_make_demo_runs_the_command_of_its_own_environment() -> None:
    recipe = re.search(r"^demo: \$\(STAMP\)\n\t@(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    assert recipe[1] == "$(BIN)/judgec demo"


@pytest.mark.full
def test_demo_compiles_a_fresh_family_says_constructed_labels_and_its_next_command_runs(tmp_path: Path) -> None:
    taken = tmp_path / "programs" / f"{FAMILY}-1" / "0001"
    taken.mkdir(parents=True)
    done = judgec(tmp_path, "demo")
    assert f"{FAMILY}-2@1: what you get" in done.stdout
    assert "constructed labels" in done.stderr
    assert "note: no model: " in done.stderr
    *_, judge, ui = done.stderr.strip().splitlines()
    labels = shlex.quote(str(sensors_labels()))
    assert judge.startswith(f"Next: judgec judge {labels} --judge sensors-demo-2")
    assert ui.strip() == "judgec ui"
    report = json.loads((tmp_path / "programs" / f"{FAMILY}-2" / "0001" / "report.json").read_text())
    judges = report["test"]
    assert judges["uncompiled"]["tau_b"]["value"] is None  # no model, no prompt
    assert report["promoted"]
    assert judges["ceiling"]["n"] == judges["compiled_loo"]["n"] > 0
    subprocess.run(judge.removeprefix("Next: "), cwd=tmp_path, shell=True, capture_output=True, check=True)  # noqa: S602  # as a user types it
    assert (tmp_path / "judged.jsonl").read_text().count("\n") == 866  # a row of the labels each


@pytest.mark.full
def test_demo_tournament_tells_the_broken_systems_from_the_others(tmp_path: Path) -> None:
    (tmp_path / "trainsets").symlink_to(ROOT / "trainsets")
    command = [sys.executable, "-m", "judgec.verbs.cli.demo_tournament"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, timeout=600)
    ranks = json.loads((tmp_path / "demo" / "tournament" / "report.json").read_text())["ranks"]
    assert [ranks[agent]["rank"] for agent in ("broken_retriever", "no_context")] == [7, 8]
    groups = {agent: set(found["group"]) for agent, found in ranks.items()}
    best, broken, mute = groups.pop("rag-bm25"), groups.pop("broken_retriever"), groups.pop("no_context")
    assert not best & (broken | mute)  # of the two nobody can tell which is worse
    assert all(group & best for group in groups.values())


@pytest.mark.full
def test_demo_of_an_agent_gains_is_promoted_and_its_next_command_runs(tmp_path: Path) -> None:
    (tmp_path / "trainsets").symlink_to(ROOT / "trainsets")
    command = [sys.executable, "-m", "judgec.verbs.cli.demo_agent"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600)
    folder = tmp_path / "programs" / "agent-demo-1" / "0001"
    report = json.loads((folder / "report.json").read_text())
    gain = report["difference"]["score"]
    assert gain["low"] > 0
    assert "agent-demo-1@1 promoted to champion: better: mean score +" in done.stderr
    changes = [json.loads(line)["distance"] for line in (folder / "items.jsonl").read_text().splitlines()]
    assert changes[0] > 0
    following = [line for line in done.stderr.splitlines() if line.startswith("Next: ")][-1].removeprefix("Next: ")
    assert following.endswith("--agents rag-knn,agent-demo-1@champion --out answers.jsonl --k 1")
    subprocess.run(following, cwd=tmp_path, shell=True, capture_output=True, check=True)  # noqa: S602  # as a user types it
    rows = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    read = {agent: {len(row["contexts"]) for row in rows if row["agent"] == agent} for agent in ("rag-knn",)}
    assert read == {"rag-knn": {1}}
