"""``judgec judge --engine ray``: a local cluster of two nodes, a worker killed and a node removed in the middle."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judgec.errors import UserError
from judgec.lm.journal.journal import Journal
from tests.service.fake_openai import FakeOpenAI
from tests.service.test_survival import ruled
from tests.verbs.cli.judging import KEY, request, rows, run, save_judge, write_items

ROOT = Path(__file__).parents[2]
IN_FLIGHT = 100
ITEMS = 1500
PATIENCE = 240.0  # seconds

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")


@pytest.fixture
def cluster() -> Iterator[Any]:  # Ray's own class
    """Two nodes of this machine, one processor each."""
    pytest.importorskip("ray", reason="make soak installs Ray from the package index")
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 100_000_000}
    nodes = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    nodes.second = nodes.add_node(**node)
    yield nodes
    nodes.shutdown()


def judging(folder: Path, url: str, *options: str) -> "subprocess.Popen[str]":
    command = [sys.executable, str(ROOT / "cli.py"), "judge", str(folder / "items.jsonl"), "--judge", "mine", "--json"]
    command += ["--home", str(folder), "--out", str(folder / "out.jsonl"), "--api-base", url, "--engine", "ray"]
    return subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until(server: FakeOpenAI, answered: int, running: "subprocess.Popen[str]") -> None:
    last = time.monotonic() + PATIENCE
    while server.answered < answered:
        assert running.poll() is None, running.communicate()[1]
        assert time.monotonic() < last, f"{server.answered} answered"
        time.sleep(0.02)


def workers() -> list[int]:
    """The actors' processes below this one."""
    parents, actors = {}, []
    for entry in Path("/proc").iterdir():
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if (entry / "cmdline").read_bytes().startswith(b"ray::_Actor"):
                actors.append(int(entry.name))
        except (OSError, ValueError):
            continue

    def below(process: int) -> bool:
        while process > 1 and process != os.getpid():
            process = parents.get(process, 0)
        return process == os.getpid()

    return [process for process in actors if below(process)]


def test_killed_worker_and_removed_node_lose_nothing_and_cost_only_what_they_had(
    cluster: Any,
    tmp_path: Path,
) -> None:
    file = write_items(tmp_path / "items.jsonl", ITEMS)
    save_judge(tmp_path)
    with FakeOpenAI("good", latency=0.3) as server:
        options = ["--ray-address", cluster.address, "--in-flight", str(IN_FLIGHT)]
        running = judging(tmp_path, server.base_url, *options)
        until(server, 200, running)
        os.kill(workers()[0], signal.SIGKILL)
        until(server, 600, running)
        cluster.remove_node(cluster.second, allow_graceful=False)
        said, error = running.communicate(timeout=PATIENCE)
        twice = server.paid_twice
    assert running.returncode == 0, error
    counts = json.loads(said)
    assert (counts["items"], counts["unscored"]) == (ITEMS, 0)
    assert [row["grade"] for row in rows(tmp_path)] == ruled(tmp_path, file)
    assert 0 < twice <= 2 * IN_FLIGHT
    with Journal(tmp_path / ".judgec" / "journal.db") as journal:
        assert journal.select("SELECT COUNT(*), COUNT(DISTINCT digest) FROM replies") == [(ITEMS + 1, ITEMS + 1)]
    assert KEY not in said + error
    again = run(request(tmp_path, file, server.base_url))  # nobody listens any more, and nobody is asked
    assert (again["lm_calls"], again["unscored"]) == (0, 0)


def test_one_command_on_a_laptop_starts_a_cluster_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="make soak installs Ray from the package index")
    file = write_items(tmp_path / "items.jsonl", 120)
    save_judge(tmp_path)
    with FakeOpenAI("good") as server:
        said, error = judging(tmp_path, server.base_url).communicate(timeout=PATIENCE)
        assert (server.calls, server.paid_twice) == (121, 0)
    assert json.loads(said)["unscored"] == 0, error
    assert [row["grade"] for row in rows(tmp_path)] == ruled(tmp_path, file)


def test_unknown_engine_and_an_address_without_ray_are_refused(tmp_path: Path) -> None:
    file = write_items(tmp_path / "items.jsonl", 1)
    save_judge(tmp_path)
    for options, seen in (({"engine": "dask"}, "--engine dask"), ({"ray_address": "x:1"}, "--ray-address")):
        with pytest.raises(UserError, match=seen):
            run(request(tmp_path, file, None, **options))
