"""``judgec judge FOLDER --engine ray``: killed and run again, caps of all workers together, buckets."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from judgec.table.shards.place import ShardPlace
from tests.service.fake_openai import FakeOpenAI
from tests.service.test_ray import PATIENCE, ROOT
from tests.service.test_survival import ruled
from tests.verbs.cli.judging import KEY, save_judge, write_items

SHARDS, ITEMS = 4, 150  # of each shard
BUCKETS = ("s3://judged", "gs://judged")

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="make soak installs Ray from the package index")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("RAY_worker_niceness", "0")  # its 15 starves workers beside other load


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """A file of all items, and a folder of shards with the same in the same order; a judge."""
    file = write_items(tmp_path / "items.jsonl", SHARDS * ITEMS)
    (tmp_path / "items").mkdir()
    lines = file.read_text().splitlines(keepends=True)
    for number in range(SHARDS):
        (tmp_path / "items" / f"part-{number}.jsonl").write_text("".join(lines[number * ITEMS : (number + 1) * ITEMS]))
    save_judge(tmp_path)
    return file


def judging(home: Path, url: str, source: str, out: str, *options: str) -> "subprocess.Popen[str]":
    command = [sys.executable, str(ROOT / "cli.py"), "judge", source, "--judge", "mine", "--json", "--engine", "ray"]
    command += ["--home", str(home), "--out", out, "--api-base", url, "--workers", "2", "--in-flight", "32", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def grades(out: str) -> list[object]:
    place = ShardPlace(out)
    return [json.loads(line)["grade"] for n in range(SHARDS) for line in place.read(f"part-{n}.jsonl").splitlines()]


def test_a_killed_run_goes_on_with_the_missing_shards_and_pays_a_batch_again(items: Path, tmp_path: Path) -> None:
    out, source = tmp_path / "out", str(tmp_path / "items")
    with FakeOpenAI("good", latency=0.05) as server:
        running = judging(tmp_path, server.base_url, source, str(out))
        last = time.monotonic() + PATIENCE
        while not list(out.glob("_manifests/*")):
            assert running.poll() is None, running.communicate()[1]
            assert time.monotonic() < last
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        time.sleep(1.0)  # Ray's workers see that nobody wants them any more
        before = server.calls
        said, error = judging(tmp_path, server.base_url, source, str(out)).communicate(timeout=PATIENCE)
        after, twice = server.calls - before, server.paid_twice
    counts = json.loads(said)
    assert (counts["items"], counts["unscored"]) == (SHARDS * ITEMS, 0), error
    assert 1 <= counts["shards"]["judged_before"] < SHARDS
    assert after < SHARDS * ITEMS
    assert twice <= 2 * (256 + 32 + 1)
    assert grades(str(out)) == ruled(tmp_path, items)


def test_a_cluster_without_a_worker_says_how_far_it_is_and_the_command_goes_on(items: Path, tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster

    out, source = tmp_path / "out", str(tmp_path / "items")
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    only = nodes.add_node(num_cpus=1, object_store_memory=100_000_000)
    try:
        with FakeOpenAI("good", latency=0.05) as server:
            running = judging(tmp_path, server.base_url, source, str(out), "--ray-address", nodes.address)
            last = time.monotonic() + PATIENCE
            while server.answered < ITEMS + 30 or not list(out.glob("_manifests/*")):
                assert running.poll() is None, running.communicate()[1]
                assert time.monotonic() < last
                time.sleep(0.02)
            nodes.remove_node(only, allow_graceful=False)
            said, error = running.communicate(timeout=PATIENCE)
            assert (running.returncode, said) == (3, "")
            found = re.search(rf"(\d) of {SHARDS} shards are judged, and the same command goes on", error)
            assert found, error
            assert "Traceback" not in error
            nodes.add_node(num_cpus=1, object_store_memory=100_000_000)
            again = judging(tmp_path, server.base_url, source, str(out), "--ray-address", nodes.address)
            said, error = again.communicate(timeout=PATIENCE)
    finally:
        nodes.shutdown()
    # A worker may end a shard after its node is dead, which nobody hears of.
    assert 1 <= int(found[1]) <= json.loads(said)["shards"]["judged_before"] < SHARDS, error
    assert grades(str(out)) == ruled(tmp_path, items)


def test_caps_hold_for_all_workers_together_and_a_higher_one_goes_on(items: Path, tmp_path: Path) -> None:
    source, out, cap = str(tmp_path / "items"), str(tmp_path / "out"), 400
    with FakeOpenAI("good") as server:
        run = judging(tmp_path, server.base_url, source, out, "--budget", str(cap))
        _, error = run.communicate(timeout=PATIENCE)
        made = server.calls
        assert run.returncode == 3, error
        assert "--budget 400: " in error
        said, error = judging(tmp_path, server.base_url, source, out).communicate(timeout=PATIENCE)
        assert json.loads(said)["unscored"] == 0, error
    # Never above the cap; below it what a worker gives back when the others have ended, which depends on timing.
    assert 0.95 * cap <= made <= cap
    assert grades(out) == ruled(tmp_path, items)


@pytest.fixture(params=BUCKETS)
def bucket(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket of S3 by moto or of Google by its emulator, in a thread of this process: its URL."""
    with (_s3 if request.param.startswith("s3") else _gcs)(monkeypatch):
        yield request.param


@contextmanager
def _s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = pytest.importorskip("moto.server", reason="make soak installs moto from the package index")
    import boto3

    served = server.ThreadedMotoServer(port=0)
    served.start()
    url = "http://{}:{}".format(*served.get_host_and_port())
    for name, value in {"ACCESS_KEY_ID": "none", "SECRET_ACCESS_KEY": "none", "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    boto3.client("s3", endpoint_url=url).create_bucket(Bucket="judged")
    yield
    served.stop()


@contextmanager
def _gcs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    reason = "make soak installs the emulator of Google's buckets from the package index"
    server = pytest.importorskip("gcp_storage_emulator.server", reason=reason)
    served = server.create_server("localhost", 0, in_memory=True, default_bucket="judged")
    served.start()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://localhost:{served._api._httpd.server_address[1]}")
    yield
    served.stop()


def test_shards_of_a_bucket_are_judged_into_a_bucket(items: Path, tmp_path: Path, bucket: str) -> None:
    source = ShardPlace(f"{bucket}/in")
    for path in (tmp_path / "items").iterdir():
        source.store(path, path.name)
    with FakeOpenAI("good") as server:
        out = f"{bucket}/out"
        run = judging(tmp_path, server.base_url, f"{bucket}/in/part-*.jsonl", out)
        said, error = run.communicate(timeout=PATIENCE)
        assert json.loads(said)["items"] == SHARDS * ITEMS, error
        calls = server.calls
        said, error = judging(tmp_path, server.base_url, f"{bucket}/in", out).communicate(timeout=PATIENCE)
        assert json.loads(said)["shards"] == {"total": SHARDS, "judged_before": SHARDS}, error
        assert server.calls == calls
    assert grades(out) == ruled(tmp_path, items)
