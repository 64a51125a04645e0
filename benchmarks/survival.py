"""Killed at any moment, or in a storm: what is lost, what is paid twice, what is wrong."""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from tests.service.policies import good
from tests.service.replies import Text, read_call

from benchmarks import judging_world as world
from judgec.labels.stream.pieces import open_items
from judgec.lm.frozen import freeze
from judgec.lm.journal.journal import Journal
from judgec.raters import programs
from judgec.raters.judge import load_judge
from judgec.raters.signatures import fenced_inputs

ITEMS_A_KILL = 300  # more than are judged between two kills: there is always something left to kill
IN_FLIGHT = 32
LATENCY = 0.02  # seconds: a kill always finds calls in flight


def kills(options: argparse.Namespace) -> Iterator[str]:
    """SIGKILL at a random moment, again and again, then once to the end."""
    chance = random.Random(0)
    count = ITEMS_A_KILL * options.kills
    with tempfile.TemporaryDirectory() as folder, _fake("good", LATENCY) as url:
        home, file = _world(Path(folder), count)
        killed = worst = twice = 0
        while killed < options.kills and _killed(home, file, url, chance, at_work=killed % 5 > 0):
            killed += 1
            before, twice = twice, _stats(url)["paid_twice"]
            worst = max(worst, twice - before)
        answered = _stats(url)["answered"]
        counts = world.run(world.request(home, file, url, IN_FLIGHT))
        again = _stats(url)["paid_twice"]
        with Journal(home / ".judgec" / "journal.db") as journal:
            ((kept, superseded),) = journal.select("SELECT COUNT(*), COUNT(*) - COUNT(DISTINCT digest) FROM replies")
        lost = count - sum(grade == ruled for grade, ruled in _verdicts(home, file))
    yield (
        f"{killed} kills -9 over {answered} answered calls: {lost} of {count} judgments lost or wrong, {superseded} of "
        f"{kept} finished calls paid twice; {again} calls in flight at a kill were paid again, at most {worst} a kill "
        f"({IN_FLIGHT} in flight); the last run made {counts['lm_calls']} calls."
    )


def storm(options: argparse.Namespace) -> Iterator[str]:
    """Bursts of 429, 5 % resets, 5 % garbage, 5 % malformed replies."""
    with tempfile.TemporaryDirectory() as folder, _fake("storm", 0.0) as url:
        home, file = _world(Path(folder), options.storm)
        begun = time.perf_counter()
        counts = world.run(world.request(home, file, url, IN_FLIGHT))
        seconds, stats = time.perf_counter() - begun, _stats(url)
        verdicts = list(_verdicts(home, file))
    unscored = sum(grade is None for grade, _ in verdicts)
    wrong = sum(grade != ruled for grade, ruled in verdicts) - unscored
    yield (
        f"Bursts of 429, 5 % resets, 5 % garbage, 5 % malformed replies over {options.storm} judgments: "
        f"{options.storm - unscored} scored, {unscored} unscored with a reason "
        f"({counts['unscored_reasons']}), {wrong} wrong; {stats['calls']} calls, {seconds:.0f} s."
    )


def _world(folder: Path, count: int, mark: int = 0) -> tuple[Path, Path]:
    home = folder / "home"
    if not home.exists():
        home.mkdir()
        world.make_judge(home, calibrated=False)
    file = folder / f"items-{mark}.jsonl"
    with file.open("w") as out:
        for number in range(count):
            out.write(
                json.dumps({"query": f"How far is {number}?", "answer": f"{number} of {mark}", "contexts": ["?"]})
            )
            out.write("\n")
    return home, file


def _verdicts(home: Path, file: Path) -> Iterator[tuple[object, object]]:
    """Each grade, None where unscored, and what the endpoint's rule says it is."""
    predict = load_judge(programs.load(home, world.NAME)).module.predictors()[0]
    prompt = freeze(predict, [])
    items = [item for piece in open_items(str(file), task="grade").pieces() for item in piece.read()]
    with (home / "out.jsonl").open() as rows:
        for item, row in zip(items, map(json.loads, rows), strict=True):
            ruled = good(read_call(1, {"messages": prompt.messages(fenced_inputs(predict, item))}))
            assert isinstance(ruled, Text)
            assert (row["grade"] is None) == (row["unscored"] is not None)
            yield row["grade"], int(str(prompt.parse(ruled.text)["grade"]))


def _killed(home: Path, file: Path, url: str, chance: random.Random, *, at_work: bool) -> bool:
    """Judge in a child process and kill it, ``at_work`` after its first answers; False when it was done before."""
    before = _stats(url)["answered"]
    child = os.fork()
    if child == 0:
        try:
            world.run(world.request(home, file, url, IN_FLIGHT))
        finally:
            os._exit(0)
    while at_work and _stats(url)["answered"] < before + 2:
        time.sleep(0.01)
    time.sleep(chance.uniform(0.0, 0.5))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@contextmanager
def _fake(policy: str, latency: float) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.service.fake_openai", "--policy", policy, "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _stats(url: str) -> dict[str, int]:
    with urlopen(f"{url}/stats") as reply:  # noqa: S310 - our own server
        found: dict[str, int] = json.load(reply)
    return found
