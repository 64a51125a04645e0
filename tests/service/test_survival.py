"""Killed again and again, and in a storm: nothing lost, nothing paid twice beyond what was in flight, nothing wrong."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judgec.labels.bulk.items import open_items
from judgec.lm.frozen import freeze
from judgec.lm.journal.journal import Journal
from judgec.raters import programs
from judgec.raters.judge import load_judge
from judgec.raters.predictors import module_of
from judgec.raters.signatures import fenced_inputs
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import good
from tests.service.replies import Text, read_call
from tests.verbs.cli.judging import KEY, request, rows, run, save_judge, write_items

ROOT = Path(__file__).parents[2]
IN_FLIGHT = 16


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def ruled(home: Path, file: Path) -> list[object]:
    """The grades by the endpoint's own rule."""
    judge = load_judge(programs.load(home, "mine"))
    predict = module_of(judge.prompts[0], judge.scale)
    prompt, grades = freeze(predict, []), []
    for item in open_items(str(file), task="grade").items:
        reply = good(read_call(1, {"messages": prompt.messages(fenced_inputs(predict, item))}))
        assert isinstance(reply, Text)
        grades.append(prompt.parse(reply.text)["grade"])
    return grades


@pytest.mark.parametrize("kills", [pytest.param(3, marks=pytest.mark.full), pytest.param(8, marks=pytest.mark.soak)])
def test_judge_killed_at_random_moments_pays_only_what_was_in_flight_again(tmp_path: Path, kills: int) -> None:
    file = write_items(tmp_path / "items.jsonl", 1500)
    save_judge(tmp_path)
    chance = random.Random(0)
    command = [sys.executable, str(ROOT / "cli.py"), "judge", str(file), "--judge", "mine", "--home", str(tmp_path)]
    command += ["--out", str(tmp_path / "out.jsonl"), "--in-flight", str(IN_FLIGHT), "--api-base"]
    with FakeOpenAI("good", latency=0.02) as server:
        for _ in range(kills):
            before, twice = server.answered, server.paid_twice
            child = subprocess.Popen([*command, server.base_url], stderr=subprocess.DEVNULL)
            while server.answered < before + 2:
                assert child.poll() is None
                time.sleep(0.005)
            time.sleep(chance.uniform(0.0, 0.3))
            child.send_signal(signal.SIGKILL)
            assert child.wait(30) == -signal.SIGKILL
            assert server.paid_twice - twice <= IN_FLIGHT
        counts = run(request(tmp_path, file, server.base_url))
    with Journal(tmp_path / ".judgec" / "journal.db") as journal:
        found = journal.select("SELECT COUNT(*), COUNT(DISTINCT digest) FROM replies")
        assert found == [(1501, 1501)]  # one of them to see whether somebody is there
    assert counts["unscored"] == 0
    assert [row["grade"] for row in rows(tmp_path)] == ruled(tmp_path, file)


@pytest.mark.soak
def test_judge_in_a_storm_scores_or_says_why_and_is_never_wrong(tmp_path: Path) -> None:
    file = write_items(tmp_path / "items.jsonl", 1000)
    save_judge(tmp_path)
    with FakeOpenAI("storm") as server:
        counts = run(request(tmp_path, file, server.base_url))
    said = rows(tmp_path)
    assert len(said) == 1000
    assert all((row["grade"] is None) == (row["unscored"] is not None) for row in said)
    wrong = [row for row, grade in zip(said, ruled(tmp_path, file), strict=True) if row["grade"] not in {grade, None}]
    assert wrong == []
    assert isinstance(counts["unscored"], int)
    assert counts["unscored"] < 30


@pytest.mark.full
@pytest.mark.parametrize("killed", [False, True])
def test_two_processes_on_the_same_items_pay_once(tmp_path: Path, killed: bool) -> None:
    file, count = write_items(tmp_path / "items.jsonl", 1000), 1000
    save_judge(tmp_path)
    command = [sys.executable, str(ROOT / "cli.py"), "judge", str(file), "--judge", "mine", "--home", str(tmp_path)]
    command += ["--in-flight", str(IN_FLIGHT)]
    with FakeOpenAI("good", latency=0.02) as server:
        typed = [
            [*command, "--api-base", server.base_url, "--out", str(tmp_path / name)]
            for name in ("a.jsonl", "out.jsonl")
        ]
        one, other = (subprocess.Popen(each, stderr=subprocess.PIPE, text=True) for each in typed)
        if killed:
            while server.answered < count / 4:
                assert one.poll() is None
                time.sleep(0.005)
            one.send_signal(signal.SIGKILL)
        said = [each.communicate(timeout=200)[1] for each in (one, other)]
        twice, answered = server.paid_twice, server.answered
    assert (one.returncode, other.returncode) == (-signal.SIGKILL if killed else 0, 0), said
    assert twice <= (IN_FLIGHT if killed else 0)
    assert answered == count + 1 + twice
    with Journal(tmp_path / ".judgec" / "journal.db") as journal:
        assert journal.select("SELECT COUNT(*), COUNT(DISTINCT digest) FROM replies") == [(count + 1, count + 1)]
        assert journal.select("SELECT COUNT(*) FROM leases") == [(0,)]
    assert [row["grade"] for row in rows(tmp_path)] == ruled(tmp_path, file)
    assert killed or (tmp_path / "a.jsonl").read_text() == (tmp_path / "out.jsonl").read_text()
