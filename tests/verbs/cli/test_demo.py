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
from tests.docs import demo_tables
from tests.verbs.cli.process import ROOT


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


class Demos:
    """All demos in one clone, in the order of README: each finds what those before it left."""

    order = ("judgec demo --json", "demo.writers", "demo.tournament", "demo.agent", "demo.probe")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "trainsets").symlink_to(ROOT / "trainsets")
        (folder / "programs" / f"{FAMILY}-1" / "0001").mkdir(parents=True)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
        self._done = {
            demo: subprocess.run(
                [sys.executable, "-m", *demo.split()],
                cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600,
            )
            for demo in self.order
        }  # fmt: skip

    def ran(self, demo: str) -> subprocess.CompletedProcess[str]:
        """What a demo said, which succeeded."""
        done = self._done[demo]
        assert done.returncode == 0, done.stderr
        return done


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Demos:
    return Demos(tmp_path_factory.mktemp("clone"))


@pytest.mark.full
def test_demo_compiles_fresh_families_says_what_compiling_brought_and_is_tested_on_what_is_new(demos: Demos) -> None:
    report = json.loads(demos.ran("judgec demo --json").stdout)
    compared = report["compared"]
    typical, compiled, _, together = (compared[name]["qwk"]["value"] for name in compared)
    assert typical < compiled < together
    assert report["program"] == f"{FAMILY}-2"
    assert report["lm_calls"] == 0
    versions = demos.folder / "programs"
    alone = json.loads((versions / f"{FAMILY}-2-chatgpt" / "0001" / "report.json").read_text())
    assert alone["test"]["uncompiled"]["qwk"]["value"] == typical
    whole = json.loads((versions / f"{FAMILY}-2" / "0001" / "report.json").read_text())
    assert report["promoted"] is (whole["difference"]["objective"]["low"] > 0)  # its fourth look at 29 test queries
    assert (versions / f"{FAMILY}-2" / "0001" / "report.html").is_file()


@pytest.mark.full
def test_demo_ranks_writers_as_people_do_better_compiled(demos: Demos) -> None:
    done = demos.ran("demo.writers")
    said = " ".join(done.stderr.split())
    found = re.search(r"tau-b (\.\d+); ChatGPT as it is with (\.\d+)\.", said)
    assert found is not None
    assert float(found[1]) > float(found[2])
    best = re.search(r"(\w+) is best by the compiled judge", said)
    assert best is not None, said
    assert re.search(rf"^ +{best[1]} .* 1\. ", done.stdout, re.MULTILINE)
    assert len(re.findall(r"^ .*?(?: +\d+\. \d\.\d\d){3}", done.stdout, re.MULTILINE)) == 11


@pytest.mark.full
def test_demo_of_agents_tells_the_broken_systems_from_the_others(demos: Demos) -> None:
    demos.ran("demo.tournament")
    page = demo_tables.PAGE.read_text(encoding="utf-8")
    assert demo_tables.filled(page, demos.folder) == page  # else: python -m tests.docs.demo_tables FOLDER
    ranks = json.loads((demos.folder / "demo-out" / "tournament" / "report.json").read_text())["ranks"]
    assert [ranks[agent]["rank"] for agent in ("broken_retriever", "no_context")] == [7, 8]
    groups = {agent: set(found["group"]) for agent, found in ranks.items()}
    best, broken, mute = groups.pop("rag-bm25"), groups.pop("broken_retriever"), groups.pop("no_context")
    assert not best & (broken | mute)  # of the two nobody can tell which is worse
    assert all(group & best for group in groups.values())


@pytest.mark.full
def test_demo_of_an_agent_gains_is_promoted_where_that_is_shown_and_its_next_command_runs(demos: Demos) -> None:
    done = demos.ran("demo.agent")
    folder = demos.folder / "programs" / "agent-demo-1" / "0001"
    report = json.loads((folder / "report.json").read_text())
    gain = report["difference"]["score"]
    assert gain["value"] > 0.03
    shown = gain["low"] > 0
    said = "promoted to champion: better" if shown else "saved as challenger: not shown to be better"
    assert f"agent-demo-1@1 {said}: mean score +" in done.stderr
    changes = [json.loads(line)["distance"] for line in (folder / "items.jsonl").read_text().splitlines()]
    assert changes[0] > 0
    following = [line for line in done.stderr.splitlines() if line.startswith("Next: ")][-1].removeprefix("Next: ")
    assert following.endswith(f"--agents rag-knn,agent-demo-1@{'champion' if shown else 1} --out answers.jsonl --k 1")
    subprocess.run(following, cwd=demos.folder, shell=True, capture_output=True, check=True)  # noqa: S602  # as a user types it
    rows = [json.loads(line) for line in (demos.folder / "answers.jsonl").read_text().splitlines()]
    read = {agent: {len(row["contexts"]) for row in rows if row["agent"] == agent} for agent in ("rag-knn",)}
    assert read == {"rag-knn": {1}}


@pytest.mark.full
def test_demo_of_probes_finds_every_planted_fault(demos: Demos) -> None:
    assert "Every scenario found the fault that was planted" in demos.ran("demo.probe").stderr
    assert (demos.folder / "demo-out" / "probe" / "report.html").is_file()
