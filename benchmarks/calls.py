"""What a judgment costs this side of the model: prompt, journal, client, embedded engine.

``python benchmarks/calls.py`` prints one line a figure; every figure is the best of five runs, in one process.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import dspy

from judgec.lm.client import JournaledClient, client_of, open_lm
from judgec.lm.executor import Executor, Request
from judgec.lm.frozen import FrozenPrompt, freeze
from judgec.lm.journal.journal import Journal
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage

PASSAGE = "The gauge reads {0} bar at {1} degrees; the valve of line {2} opens at {0} bar and closes at {1}. "


class Grade(dspy.Signature):  # type: ignore[misc]  # DSPy's classes are untyped
    """Grade the answer to the query against the contexts."""

    query: str = dspy.InputField()
    answer: str = dspy.InputField()
    contexts: str = dspy.InputField()
    reason: str = dspy.OutputField()
    grade: Literal[1, 2, 3, 4, 5] = dspy.OutputField()
    confidence: int = dspy.OutputField(desc="0 (not at all) to 100 (certain)")


def item(number: int) -> dict[str, object]:
    """Like clapnq's: a passage of 150 words, an answer of 20."""
    facts = "".join(PASSAGE.format(number * 7 + n, number * 3 + n, number + n) for n in range(8))
    answer = PASSAGE.format(number * 7, number * 3 + 1, number)
    return {"query": f"When does the valve of line {number} open?", "answer": answer, "contexts": facts}


def judge(demos: int) -> dspy.Predict:
    """A judge with some demonstrations."""
    predict = dspy.Predict(Grade)
    predict.demos = [dspy.Example(**item(9000 + n), reason="So.", grade=1 + n % 5, confidence=80) for n in range(demos)]
    return predict


def best(act: Callable[[int], object], calls: int) -> float:
    """Seconds a call: the best of five rounds; ``act`` gets the round's number."""
    seconds = []
    for turn in range(5):
        start = time.perf_counter()
        act(turn)
        seconds.append(time.perf_counter() - start)
    return min(seconds) / calls


def prompts() -> None:
    """The frozen prompt against DSPy's adapter."""
    frozen, inputs = freeze(judge(8), [item(1)]), item(2)
    reply = (
        "[[ ## reason ## ]]\nBecause.\n\n[[ ## grade ## ]]\n4\n\n[[ ## confidence ## ]]\n80\n\n[[ ## completed ## ]]\n"
    )
    adapter = dspy.ChatAdapter()
    for name, ours, theirs in (
        ("format", lambda: frozen.messages(inputs), lambda: frozen.rendered(inputs)),
        ("parse", lambda: frozen.parse(reply), lambda: adapter.parse(Grade, reply)),
    ):
        fast = best(partial(repeat, ours, 2000), 2000) * 1e6
        slow = best(partial(repeat, theirs, 100), 100) * 1e6
        print(f"{name}, 8 demonstrations: adapter {slow:.0f} us, frozen {fast:.2f} us, {slow / fast:.0f}x")


def repeat(act: Callable[[], object], times: int, _turn: int) -> None:
    """Do it again and again."""
    for _ in range(times):
        act()


def engine() -> None:
    """The embedded engine on items it has not seen."""
    for demos in (0, 8, 16):
        lm = open_lm(LMSpec.parse("embedded"), journal=None, budget=Budget(), usage=Usage())
        door, frozen = client_of(lm), freeze(judge(demos), [])

        def answer(turn: int, door: JournaledClient = door, frozen: FrozenPrompt = frozen, demos: int = demos) -> None:
            for n in range(100):
                door.calls.backend.complete(
                    door.plain(frozen.messages(item(1000 * turn + n + demos * 10_000))).request()
                )

        print(f"embedded engine, {demos} demonstrations: {best(answer, 100) * 1e3:.2f} ms a call")


def journal() -> None:
    """Writing and finding replies."""
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "journal.db") as kept:
        lm = open_lm(LMSpec.parse("embedded"), journal=kept, budget=Budget(), usage=Usage())
        frozen = freeze(judge(8), [])
        requests = [Request(n, frozen.messages(item(n))) for n in range(2000)]
        list(Executor(lm).run(requests))
        digests = [client_of(lm).digest(request.messages) for request in requests]
        reply = kept.get(digests[0])
        assert reply is not None

        def write(turn: int) -> None:
            for n in range(1000):
                kept.put(b"%d-%d" % (turn, n), reply)

        put = best(write, 1000)
        one = best(lambda _: [kept.get(digest) for digest in digests], 2000)
        many = best(lambda _: kept.get_many(digests), 2000)
        whole = best(lambda _: list(Executor(lm).run(requests)), 2000)
        judged = best(
            lambda _: [
                frozen.parse(reply.text or "")
                for reply in Executor(lm).run(Request(n, frozen.messages(item(n))) for n in range(2000))
            ],
            2000,
        )
        print(f"journal: put {1 / put:,.0f}/s, get {1 / one:,.0f}/s, get_many {1 / many:,.0f}/s")
        print(f"executor, all journaled: {1 / whole:,.0f}/s; with prompt and parsing {1 / judged:,.0f}/s")


def client() -> None:
    """The executor against a server without latency, in a process of its own."""
    command = [sys.executable, "-m", "tests.service.fake_openai", "--policy", "good"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        spec = LMSpec.parse("openai/x", api_base=url)
        frozen = freeze(judge(0), [])
        try:
            for in_flight in (1, 32):
                lm = open_lm(spec, journal=Journal(":memory:"), budget=Budget(), usage=Usage())

                def run(turn: int, lm: dspy.LM = lm, in_flight: int = in_flight) -> None:
                    made = (Request(n, frozen.messages(item(turn * 1000 + n))) for n in range(400))
                    list(Executor(lm, in_flight=in_flight).run(made))

                print(f"executor, {in_flight} in flight: {1 / best(run, 400):,.0f} calls/s")
        finally:
            server.terminate()


if __name__ == "__main__":
    prompts()
    engine()
    journal()
    client()
