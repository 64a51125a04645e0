"""``judgec demo``: a judge on the labels that ship, a fresh family each time; the demos of a checkout."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import judgec as package
from judgec.labels.shipped import shipped
from judgec.verbs.cli.demo import FAMILY
from tests.verbs.cli.process import ROOT, judgec


def test_labels_that_ship_are_the_one_file_of_the_checkout() -> None:
    for name, labels in (("sensors", "labels.jsonl"), ("hanna", "labels.csv")):
        assert (shipped(name) / labels).samefile(ROOT / "trainsets" / name / labels)
        assert (shipped(name) / "datasheet.toml").is_file()
        assert not [path for path in (ROOT / "src").rglob(labels) if "build" not in path.parts]


def test_labels_that_ship_are_those_inside_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "site-packages" / "judgec" / "trainsets" / "sensors" / "labels.jsonl"
    inside.parent.mkdir(parents=True)
    inside.touch()
    monkeypatch.setattr(package, "__file__", str(tmp_path / "site-packages" / "judgec" / "__init__.py"))
    assert shipped("sensors") == inside.parent


def test_make_demo_runs_the_command_of_its_own_environment() -> None:
    recipe = re.search(r"^demo: \$\(STAMP\)\n\t@(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    assert recipe[1] == "$(BIN)/judgec demo"


@pytest.mark.full
def test_demo_compiles_fresh_families_says_what_compiling_brought_and_is_tested_on_what_is_new(tmp_path: Path) -> None:
    (tmp_path / "programs" / f"{FAMILY}-1" / "0001").mkdir(parents=True)
    done = judgec(tmp_path, "demo", "--json")
    report = json.loads(done.stdout)
    compared = report["compared"]
    typical, compiled, _, together = (compared[name]["qwk"]["value"] for name in compared)
    assert typical < compiled < together
    assert report["program"] == f"{FAMILY}-2"
    assert report["promoted"]
    assert report["lm_calls"] == 0
    alone = json.loads((tmp_path / "programs" / f"{FAMILY}-2-chatgpt" / "0001" / "report.json").read_text())
    assert alone["test"]["uncompiled"]["qwk"]["value"] == typical
    assert (tmp_path / "programs" / f"{FAMILY}-2" / "0001" / "report.html").is_file()


def ran(name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A demo of the folder `demo`, run beside the train sets."""
    (folder / "trainsets").symlink_to(ROOT / "trainsets")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    command = [sys.executable, "-m", f"demo.{name}"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=600)


@pytest.mark.full
def test_demo_ranks_writers_as_people_do_better_compiled(tmp_path: Path) -> None:
    done = ran("writers", tmp_path)
    said = " ".join(done.stderr.split())
    found = re.search(r"tau-b (\.\d+); ChatGPT as it is with (\.\d+)\.", said)
    assert found is not None
    assert float(found[1]) > float(found[2])
    best = re.search(r"(\w+) is best by the compiled judge", said)
    assert best is not None, said
    assert re.search(rf"^ +{best[1]} .* 1\. ", done.stdout, re.MULTILINE)
    assert len(re.findall(r"^ .*?(?: +\d+\. \d\.\d\d){3}", done.stdout, re.MULTILINE)) == 11


@pytest.mark.full
def test_demo_of_agents_tells_the_broken_systems_from_the_others(tmp_path: Path) -> None:
    ran("tournament", tmp_path)
    ranks = json.loads((tmp_path / "demo-out" / "tournament" / "report.json").read_text())["ranks"]
    assert [ranks[agent]["rank"] for agent in ("broken_retriever", "no_context")] == [7, 8]
    groups = {agent: set(found["group"]) for agent, found in ranks.items()}
    best, broken, mute = groups.pop("rag-bm25"), groups.pop("broken_retriever"), groups.pop("no_context")
    assert not best & (broken | mute)  # of the two nobody can tell which is worse
    assert all(group & best for group in groups.values())


@pytest.mark.full
def test_demo_of_an_agent_gains_is_promoted_and_its_next_command_runs(tmp_path: Path) -> None:
    done = ran("agent", tmp_path)
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


@pytest.mark.full
def test_demo_of_probes_finds_every_planted_fault(tmp_path: Path) -> None:
    assert "Every scenario found the fault that was planted" in ran("probe", tmp_path).stderr
    assert (tmp_path / "demo-out" / "probe" / "report.html").is_file()
