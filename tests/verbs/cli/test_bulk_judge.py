"""``judgec judge``: what lands in the file, the counts and the journal; two real processes at the end."""

import contextlib
import errno
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import dspy
import pytest

from judgec.errors import ArtifactError, BudgetError, InputError, ServiceError, UserError
from judgec.verbs.cli.app import main
from tests.service import policies
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Hang, Outcome
from tests.verbs.cli.judging import KEY, request, rows, run, save_judge, write_items

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def test_judge_writes_one_row_an_item_in_order_and_again_for_free(tmp_path: Path) -> None:
    file = write_items(tmp_path / "items.jsonl", 700)
    save_judge(tmp_path, evidence_of=file)
    with FakeOpenAI("good") as server:
        first = run(request(tmp_path, file, server.base_url))
        written = (tmp_path / "out.jsonl").read_bytes()
        calls = server.calls
    second = run(request(tmp_path, file, server.base_url))  # nobody listens any more, and nobody is asked
    assert calls == 701  # one of them to see whether somebody is there
    assert (first["lm_calls"], first["journaled"], first["unscored"]) == (701, 0, 0)
    assert (second["lm_calls"], second["journaled"], second["unscored"]) == (0, 701, 0)
    assert (tmp_path / "out.jsonl").read_bytes() == written
    said = rows(tmp_path)
    assert [row["item_id"] for row in said] == [f"i{n}" for n in range(700)]
    assert {row["grade"] for row in said} <= {1, 2, 3, 4, 5}
    spreads = [row["probabilities"] for row in said]
    assert all(isinstance(spread, dict) and sum(spread.values()) == pytest.approx(1) for spread in spreads)
    assert sum(row["accept"] is True for row in said) == first["accepted"]
    assert (first["agreement"], first["notes"]) == (None, [])
    stated = {row["stated_confidence"] for row in said}
    assert stated <= {number / 100 for number in range(101)}  # as the model wrote it, in percent
    assert [row["confidence"] for row in said] != [row["stated_confidence"] for row in said]


def test_judge_whose_prompt_cannot_be_frozen_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = dspy.ChatAdapter.format

    def miles(adapter: object, signature: object, demos: object, inputs: dict[str, str]) -> object:
        return whole(adapter, signature, demos, {name: text.replace("km", "miles") for name, text in inputs.items()})

    file = write_items(tmp_path / "items.jsonl", 3)
    save_judge(tmp_path)
    with FakeOpenAI("good") as server:
        monkeypatch.setattr(dspy.ChatAdapter, "format", miles)
        counts = run(request(tmp_path, file, server.base_url))
        assert [" miles" in str(body["messages"]) for body in server.bodies] == [False, True, True, True]
    assert [str(note)[:37] for note in _list(counts["notes"])] == ["mine@1: DSPy renders each prompt anew"]


def test_judge_over_budget_goes_on_where_it_stopped(tmp_path: Path) -> None:
    file = write_items(tmp_path / "items.jsonl", 60)
    save_judge(tmp_path)
    with FakeOpenAI("good") as server:
        for _ in range(2):
            with pytest.raises(BudgetError):
                run(request(tmp_path, file, server.base_url, budget=25))
            assert not (tmp_path / "out.jsonl").exists()
        counts = run(request(tmp_path, file, server.base_url, budget=25))
        assert server.paid_twice == 0
    assert counts["unscored"] == 0
    assert len(rows(tmp_path)) == 60
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []


def test_judge_on_a_full_disk_names_the_file_leaves_the_old_one_and_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = write_items(tmp_path / "items.jsonl", 3), tmp_path / "out.jsonl"
    save_judge(tmp_path)
    out.write_text("old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with FakeOpenAI("good") as server:
        typed = ["judge", file, "--judge", "mine", "--home", tmp_path, "--api-base", server.base_url, "--out", out]
        monkeypatch.setattr(sys, "argv", ["judgec", *map(str, typed)])
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", full)
            with pytest.raises(SystemExit) as ended:
                main()
        assert (ended.value.code, out.read_text()) == (2, "old")
        assert f"error: {out}: No space left on device; " in capsys.readouterr().err
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []
        with contextlib.suppress(SystemExit):
            main()
        assert (len(rows(tmp_path)), server.calls) == (3, 4)


def test_judge_with_a_dead_endpoint_leaves_the_old_file_alone(tmp_path: Path) -> None:
    file = write_items(tmp_path / "items.jsonl", 3)
    save_judge(tmp_path)
    (tmp_path / "out.jsonl").write_text("old")
    with pytest.raises(ServiceError, match="nobody answers"):
        run(request(tmp_path, file, "http://127.0.0.1:9/v1"))
    assert (tmp_path / "out.jsonl").read_text() == "old"


def test_judge_whose_every_reply_is_unreadable_writes_the_reasons_and_fails(tmp_path: Path) -> None:
    file = write_items(tmp_path / "items.jsonl", 3)
    save_judge(tmp_path)
    with FakeOpenAI("refusing") as server, pytest.raises(ServiceError, match="none of 3 items"):
        run(request(tmp_path, file, server.base_url))
    assert all(str(row["unscored"]).startswith("refusal") and row["grade"] is None for row in rows(tmp_path))


def test_judge_of_a_weak_model_gets_its_second_reply_under_a_schema(tmp_path: Path) -> None:
    file = write_items(tmp_path / "items.jsonl", 5)
    save_judge(tmp_path)
    with FakeOpenAI("only_schema") as server:
        counts = run(request(tmp_path, file, server.base_url))
        schemas = ["response_format" in body for body in server.bodies]
    assert (counts["unscored"], sum(schemas), len(schemas)) == (0, 5, 11)
    with FakeOpenAI("only_schema") as server:
        run(request(tmp_path, file, server.base_url, structured=True))
        schemas = ["response_format" in body for body in server.bodies]
    assert schemas == [False] + [True] * 5


@pytest.mark.parametrize("policy", ["no_schema", "no_logprobs"])
def test_judge_with_an_endpoint_that_knows_less_scores_all_the_same(tmp_path: Path, policy: str) -> None:
    file = write_items(tmp_path / "items.jsonl", 12)
    save_judge(tmp_path)
    with FakeOpenAI(policy) as server:
        counts = run(request(tmp_path, file, server.base_url, structured=True))
    assert counts["unscored"] == 0
    sure = [max(row["probabilities"].values()) for row in rows(tmp_path)]  # type: ignore[attr-defined]  # a dict
    assert all(p == 1.0 for p in sure) is (policy == "no_logprobs")


def test_judge_with_samples_asks_for_distinct_ones_at_a_temperature(tmp_path: Path) -> None:
    file = write_items(tmp_path / "items.jsonl", 6)
    save_judge(tmp_path)
    with FakeOpenAI("good") as server:
        counts = run(request(tmp_path, file, server.base_url, samples=3))
        temperatures = {body["temperature"] for body in server.bodies[1:]}
        assert server.calls == 1 + 3 * 6
        again = run(request(tmp_path, file, server.base_url, samples=3))
        more = run(request(tmp_path, file, server.base_url, samples=3, temperature=1.0))
    assert temperatures == {0.7}
    assert (again["lm_calls"], again["journaled"]) == (0, 19)
    assert more["lm_calls"] == 19
    agreement = counts["agreement"]
    assert isinstance(agreement, dict)
    assert [pair["n"] for pair in agreement["pairs"]] == [6, 6, 6]


def test_judge_with_samples_of_a_judge_without_a_model_is_refused(tmp_path: Path) -> None:
    save_judge(tmp_path, lm={"model": "embedded", "temperature": 0.0})
    with pytest.raises(UserError, match="--samples"):
        run(request(tmp_path, write_items(tmp_path / "items.jsonl", 2), None, samples=2))


def test_jury_of_two_judges_reports_both_and_how_they_agree(tmp_path: Path) -> None:
    file = write_items(tmp_path / "items.jsonl", 40)
    save_judge(tmp_path)
    save_judge(tmp_path, "other", instructions="Be strict.")
    with FakeOpenAI("good") as server:
        counts = run(request(tmp_path, file, server.base_url, judge=None, jury=("mine@champion", "other")))
        assert server.calls == 81
        again = run(request(tmp_path, file, server.base_url, judge=None, jury=("other", "mine")))
        assert server.calls == 81
    assert counts["judge"] is None
    assert counts["jury"] == [{"program": "mine", "version": 1}, {"program": "other", "version": 1}]
    agreement = counts["agreement"]
    assert isinstance(agreement, dict)
    assert [(pair["a"], pair["b"], pair["n"]) for pair in agreement["pairs"]] == [("mine@1", "other@1", 40)]
    assert (again["lm_calls"], again["journaled"], again["accepted"]) == (0, 81, counts["accepted"])


def test_jury_with_the_same_judge_twice_is_refused(tmp_path: Path) -> None:
    save_judge(tmp_path)
    with pytest.raises(UserError, match="mine@1 more than once"):
        run(request(tmp_path, tmp_path / "items.jsonl", None, judge=None, jury=("mine@champion", "mine@1")))


def test_judge_with_a_damaged_journal_is_refused_with_what_to_do(tmp_path: Path) -> None:
    save_judge(tmp_path)
    (tmp_path / ".judgec").mkdir(exist_ok=True)
    (tmp_path / ".judgec" / "journal.db").write_bytes(b"not a database" * 100)
    with pytest.raises(ArtifactError, match="Move the file away"):
        run(request(tmp_path, write_items(tmp_path / "items.jsonl", 2), None))


def test_judge_of_a_faulty_file_pays_for_nothing(tmp_path: Path) -> None:
    file = write_items(tmp_path / "items.jsonl", 600)
    with file.open("a") as more:
        more.write('{"answer": "no query"}\n')
    save_judge(tmp_path)
    with FakeOpenAI("good") as server:
        with pytest.raises(InputError, match=r"items\.jsonl:601: no query"):
            run(request(tmp_path, file, server.base_url))
        assert server.calls == 0


def started(folder: Path, server: FakeOpenAI) -> subprocess.Popen[str]:
    asked = ["judge", folder / "items.jsonl", "--home", folder, "--judge", "mine", "--out", folder / "out.jsonl"]
    typed = [sys.executable, ROOT / "cli.py", *asked, "--api-base", server.base_url]
    return subprocess.Popen(list(map(str, typed)), stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_judge_interrupted_keeps_what_is_in_flight_says_how_to_go_on_and_does(
    tmp_path: Path, signum: signal.Signals, code: int
) -> None:
    file = write_items(tmp_path / "items.jsonl", 900)
    save_judge(tmp_path)

    def interrupting(call: Call) -> Outcome:
        if call.number == 40:
            running.send_signal(signum)
        return policies.good(call)

    with FakeOpenAI(interrupting, latency=0.05) as server:
        running = started(tmp_path, server)
        _, said = running.communicate(timeout=280)
        paid = server.answered
        assert (running.returncode, "the same command goes on" in said) == (code, True), said
        assert paid < 900
        assert not (tmp_path / "out.jsonl").exists()
        counts = run(request(tmp_path, file, server.base_url))
        assert server.paid_twice == 0
    assert counts["unscored"] == 0
    assert counts["journaled"] == paid


@pytest.mark.parametrize("pause", [0.3, *(pytest.param(pause, marks=pytest.mark.soak) for pause in (0.02, 1.5))])
def test_judge_interrupted_again_does_not_wait_and_shows_no_traceback(tmp_path: Path, pause: float) -> None:
    write_items(tmp_path / "items.jsonl", 900)
    save_judge(tmp_path)

    began = [time.monotonic()]

    def impatient() -> None:
        began[0] = time.monotonic()  # what came before is the start of a process, which takes what it takes
        running.send_signal(signal.SIGINT)
        while running.poll() is None:  # two that come at once are one
            time.sleep(pause)
            running.send_signal(signal.SIGINT)

    def interrupting(call: Call) -> Outcome:
        if call.number == 40:
            threading.Thread(target=impatient, daemon=True).start()
        return policies.good(call) if call.number < 40 else Hang()

    with FakeOpenAI(interrupting, latency=0.02) as server:
        running = started(tmp_path, server)
        _, said = running.communicate(timeout=280)
    assert (running.returncode, "the same command goes on" in said) == (130, True), said
    assert not re.search(r"Traceback|asyncio|Unclosed|Exception ignored|Error", said), said
    assert time.monotonic() - began[0] < 25  # GRACE_SECONDS is 30
    assert sorted(path.name for path in tmp_path.glob("*out*")) == []
