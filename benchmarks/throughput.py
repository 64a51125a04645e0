"""How many judgments a second, against others and against the client alone; memory.

``python -m benchmarks.throughput [clients latency evidence first journal]``, in the project's root, writes
a section a part into ``throughput.md``, each figure measured in the same run as what it is compared with. ragelo needs
an environment of its own: ``--ragelo PYTHON`` names one that has ragelo 0.7.0.
"""

import argparse
import asyncio
import contextlib
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import aiohttp
import dspy
import httpx
import openai
import orjson

from benchmarks import judging_world as world
from benchmarks.figures import all_done, measured_on, table, write
from benchmarks.journaled import evidence, first_pass, from_journal
from judgec.lm.client import JournaledClient, client_of, open_lm
from judgec.lm.endpoint.exchange import Plain
from judgec.lm.endpoint.pool import PooledBackend
from judgec.lm.executor import Executor
from judgec.lm.frozen import freeze
from judgec.lm.journal.journal import Journal
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from judgec.raters.judge import JudgeTree
from judgec.raters.predictors import module_of
from judgec.raters.prompt import verdicts
from judgec.raters.signatures import fenced_inputs
from judgec.records.label import Item

HOST_KEY = "none"
BUSY = 256  # in flight
FILE = Path(__file__).with_name("throughput.md")
MLFLOW_ITEMS = 40
MLFLOW_WORKERS = "4"  # its default of 10 exhausts the connections of its own SQLite store
Chat = list[dict[str, str]]


def new_lm(url: str, journal: Journal | None) -> dspy.LM:
    spec = LMSpec.parse(world.MODEL, api_base=url)
    return open_lm(spec, journal=journal, budget=Budget(), usage=Usage(), environ={"OPENAI_API_KEY": HOST_KEY})


class Paid(NamedTuple):
    """How many judgments succeeded, how many a second, and microseconds of processor time a judgment."""

    judged: float
    a_second: float
    cpu: float


def paid_for(who: str, act: Callable[[], int], count: int) -> Paid:
    """What was asked for; ``act`` says how many succeeded, and must have done all."""
    start, used = time.perf_counter(), time.process_time()
    done = all_done(who, act(), count)
    return Paid(done, done / (time.perf_counter() - start), 1e6 * (time.process_time() - used) / done)


# ---------------------------------------------------------------------------------------------------- the client


async def crowd(chats: Sequence[object], in_flight: int, act: Callable[[object], Awaitable[str | None]]) -> int:
    """A plain loop: so many workers, each asking the next one; how many got a text."""
    left = iter(chats)

    async def worker() -> int:
        return sum([bool(await act(chat)) for chat in left])

    return sum(await asyncio.gather(*(worker() for _ in range(in_flight))))


def text_in(reply: dict[str, Any]) -> str:  # parsed JSON
    return str(reply["choices"][0]["message"]["content"])


async def plain(door: JournaledClient, chats: list[Chat], in_flight: int) -> int:
    """Judgec's own client without anything around it."""
    backend = door.calls.backend
    assert isinstance(backend, PooledBackend)

    async def say(asked: object) -> str | None:
        assert isinstance(asked, Plain)
        return (await backend.say(asked)).text

    done = await crowd([door.plain(chat) for chat in chats], in_flight, say)
    await backend.aclose()
    return done


def body(chat: object) -> bytes:
    return orjson.dumps({"model": "instant", "messages": chat, "temperature": 0, "max_tokens": 2048})


async def bare_aiohttp(url: str, chats: list[Chat], in_flight: int) -> int:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {HOST_KEY}"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers) as session:

        async def post(chat: object) -> str:
            async with session.post(f"{url}/chat/completions", data=body(chat)) as reply:
                return text_in(orjson.loads(await reply.read()))

        return await crowd(chats, in_flight, post)


async def bare_httpx(url: str, chats: list[Chat], in_flight: int) -> int:
    limits = httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
    async with httpx.AsyncClient(limits=limits, headers={"Content-Type": "application/json"}) as client:

        async def post(chat: object) -> str:
            return text_in((await client.post(f"{url}/chat/completions", content=body(chat))).json())

        return await crowd(chats, in_flight, post)


async def bare_openai(url: str, chats: list[Chat], in_flight: int) -> int:
    async with openai.AsyncOpenAI(api_key=HOST_KEY, base_url=url) as client:

        async def create(chat: object) -> str | None:
            reply = await client.chat.completions.create(model="instant", messages=chat)  # type: ignore[call-overload]
            return str(reply.choices[0].message.content)

        return await crowd(chats, in_flight, create)


def prompt_of(judge: JudgeTree) -> dspy.Predict:
    """Its only prompt, as DSPy calls it."""
    return module_of(judge.prompts[0], judge.scale)


def ours(url: str, items: Sequence[Item], judge: JudgeTree, in_flight: int, *, kept: bool = True) -> int:
    """Rendered, asked, journaled, read: what ``judgec judge`` does before it calibrates."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as opened:
        journal = opened.enter_context(Journal(Path(folder) / "journal.db")) if kept else None
        ask = Executor(new_lm(url, journal), in_flight=in_flight).run
        said = verdicts(prompt_of(judge), items, ask=ask, scale=judge.scale, aspects=judge.aspects)
    return int(said.scored.sum())


# ------------------------------------------------------------------------------------------------------ the others


def by_dspy(url: str, items: Sequence[Item], judge: JudgeTree, way: str) -> int:
    predict = prompt_of(judge)
    lm = dspy.LM(world.MODEL, api_base=url, api_key=HOST_KEY, cache=False, temperature=0.0)
    examples = [
        dspy.Example(**fenced_inputs(predict, item)).with_inputs(*predict.signature.input_fields) for item in items
    ]
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        if way == "Evaluate":
            score = dspy.Evaluate(devset=examples, metric=lambda _gold, said, *_: float(said.grade > 0), num_threads=8)
            return sum(scored > 0 for *_, scored in score(predict).results)
        said = dspy.Parallel(num_threads=8, disable_progress_bar=True)([(predict, example) for example in examples])
        return sum(one is not None and one.grade > 0 for one in said)


def by_mlflow(url: str, items: Sequence[Item], judge: JudgeTree) -> Paid:
    """Without the making of its database, and with what it imports at first use in memory."""
    import mlflow
    from mlflow.genai.judges import make_judge

    predict = prompt_of(judge)
    scorer = make_judge(
        name="grade",
        instructions=predict.signature.instructions + "\n\nThe item: {{ inputs }}\nThe answer: {{ outputs }}",
        model="openai:/instant",
        base_url=f"{url}/chat/completions",
        feedback_value_type=str,
    )
    rows = [
        {"inputs": {k: v for k, v in fields.items() if k != "answer"}, "outputs": fields["answer"]}
        for fields in (fenced_inputs(predict, item) for item in items)
    ]
    environ = {"MLFLOW_GENAI_EVAL_MAX_WORKERS": MLFLOW_WORKERS, "OPENAI_API_KEY": HOST_KEY}
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, environ):
        mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
        mlflow.genai.evaluate(data=rows[:1], scorers=[scorer])

        def act() -> int:
            found = mlflow.genai.evaluate(data=rows, scorers=[scorer]).result_df
            return int(found["grade/value"].notna().sum()) if "grade/value" in found else 0

        return paid_for("mlflow.genai.evaluate", act, len(rows))


RAGELO = """
import json, sys, time
from ragelo import Document, Experiment, get_llm_provider, get_retrieval_evaluator
url, path, folder = sys.argv[1:]
chats = json.load(open(path))
experiment = Experiment(experiment_name="b", save_path=folder + "/experiment.json")
for number, chat in enumerate(chats):
    experiment.add_query(f"q{number}", f"q{number}")
    experiment.add_retrieved_doc(chat[-1]["content"], query_id=f"q{number}", doc_id=f"d{number}")
provider = get_llm_provider("openai", api_key="none", api_base=url, model="instant", max_tokens=2048)
judge = get_retrieval_evaluator(
    "domain_expert", llm_provider=provider, expert_in="everything", use_progress_bar=False, n_processes=32
)
start, used = time.perf_counter(), time.process_time()
judge.evaluate_experiment(experiment)
print(time.perf_counter() - start, time.process_time() - used)
print(sum(bool(one.evaluations) for query in experiment for one in query.retrieved_docs.values()))
"""


def by_ragelo(python: str, url: str, chats: list[Chat]) -> Paid:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chats.json"
        path.write_text(json.dumps(chats))
        command = [python, "-c", RAGELO, url, str(path), folder]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": ""})
        if ran.returncode:
            raise RuntimeError(ran.stderr[-500:])
        seconds, used, done = ran.stdout.split()[-3:]
        count = all_done("ragelo", int(done), len(chats))
        return Paid(count, count / float(seconds), 1e6 * float(used) / count)


def clients(options: argparse.Namespace) -> Iterator[str]:
    """No latency: what this side of the endpoint costs."""
    with tempfile.TemporaryDirectory() as home, world.server() as url:
        items, judge = world.make_judge(Path(home))
        many = [world.item(items, n) for n in range(options.items)]
        predict = prompt_of(judge)
        frozen = freeze(predict, [])
        chats = [frozen.messages(fenced_inputs(predict, item)) for item in many]
        fewer, few = many[: options.items // 10], many[:MLFLOW_ITEMS]
        found: dict[str, list[Paid]] = {}
        gc.freeze()  # as judgec judge does; for all
        for turn in range(options.repeats):
            for name, asked, act in _contestants(url, many, chats, judge, options.in_flight):
                found.setdefault(name, []).append(paid_for(name, act, asked))
            for way in ("Evaluate", "Parallel"):
                name, act = f"dspy.{way}", partial(by_dspy, url, fewer, judge, way)
                found.setdefault(name, []).append(paid_for(name, act, len(fewer)))
            if options.ragelo:
                found.setdefault("ragelo", []).append(by_ragelo(options.ragelo, url, chats[: len(fewer)]))
            if turn == 0:  # it takes as long as all the others together
                found["mlflow.genai.evaluate"] = [by_mlflow(url, few, judge)]
    yield f"{options.in_flight} in flight; medians of repeats, but for MLflow, which judged once. CPU is processor time"
    yield "a judgment of the process that asks, in microseconds. Ratios above 1: this line is faster, or needs less."
    yield ""
    mid = {name: Paid(*map(statistics.median, zip(*each, strict=True))) for name, each in found.items()}
    peers = [mid[name] for name in mid if name.startswith(("dspy", "mlflow", "ragelo"))]
    fastest, cheapest = max(one.a_second for one in peers), min(one.cpu for one in peers)
    loop, rows = mid["client in a plain loop"], []
    for name, one in mid.items():
        counts = (f"{one.judged:,.0f}", f"{one.a_second:,.0f}")
        ratios = (f"{one.a_second / loop.a_second:.2f}", f"{one.a_second / fastest:.2f}")
        rows.append((name, *counts, *ratios, f"{one.cpu:,.0f}", f"{cheapest / one.cpu:.2f}"))
    compared = ("of the client in a plain loop", "of the fastest peer", "CPU", "of the cheapest peer")
    yield from table(("", "judged", "judgments/s", *compared), rows)


def _contestants(
    url: str, many: Sequence[Item], chats: list[Chat], judge: JudgeTree, in_flight: int
) -> Iterator[tuple[str, int, Callable[[], int]]]:
    door = client_of(new_lm(url, None))
    yield "judgec, journaled", len(many), lambda: ours(url, many, judge, in_flight)
    yield "judgec, no journal", len(many), lambda: ours(url, many, judge, in_flight, kept=False)
    yield "client in a plain loop", len(many), lambda: asyncio.run(plain(door, chats, in_flight))
    yield "bare aiohttp loop", len(many), lambda: asyncio.run(bare_aiohttp(url, chats, in_flight))
    tenth = chats[: len(chats) // 5]
    yield "bare httpx loop", len(tenth), lambda: asyncio.run(bare_httpx(url, tenth, in_flight))
    yield "openai loop", len(tenth), lambda: asyncio.run(bare_openai(url, tenth, in_flight))


@contextlib.contextmanager
def braked(others: int) -> Iterator[None]:
    """As on a slower machine: on one core, which this process shares with so many others that never rest."""
    if not others:
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(others)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
        os.sched_setaffinity(0, cores)


def latency(options: argparse.Namespace) -> Iterator[str]:
    """An endpoint that takes its time: is there always something in flight?"""
    rows = []
    for seconds in map(float, options.latencies.split(",")):
        with tempfile.TemporaryDirectory() as home, world.server(seconds) as url:
            items, judge = world.make_judge(Path(home), calibrated=False)
            many = [world.item(items, n) for n in range(options.items)]
            predict = prompt_of(judge)
            frozen = freeze(predict, [])
            chats = [frozen.messages(fenced_inputs(predict, item)) for item in many]
            door = client_of(new_lm(url, None))
            acts: dict[str, Callable[[], int]] = {
                "judgec": partial(ours, url, many, judge, BUSY),
                "aiohttp": lambda: asyncio.run(bare_aiohttp(url, chats, BUSY)),  # noqa: B023 - called here
                "loop": lambda: asyncio.run(plain(door, chats, BUSY)),  # noqa: B023 - called here
            }
            gc.freeze()  # as judgec judge does; for all
            with braked(options.brakes):
                found = [
                    {who: paid_for(who, act, len(many)) for who, act in acts.items()} for _ in range(options.repeats)
                ]
        speeds, used = ({who: [one[who][at] for one in found] for who in acts} for at in (1, 2))
        shown = [f"{statistics.median(speeds[who]):,.0f}" for who in ("aiohttp", "loop", "judgec")]
        for other in ("aiohttp", "loop"):
            ratios = [mine / its for mine, its in zip(speeds["judgec"], speeds[other], strict=True)]
            shown += [f"{statistics.median(ratios):.2f}", f"{min(ratios):.2f}-{max(ratios):.2f}"]
        cpu = [f"{statistics.median(used[who]):,.0f}" for who in ("aiohttp", "loop", "judgec")]
        rows.append((f"{1000 * seconds:.0f} ms", f"{BUSY / seconds:,.0f}" if seconds else "-", *shown, *cpu))
    yield f"{BUSY} in flight, {options.items} judgments, journaled; medians of {options.repeats} repeats, in turn."
    yield "CPU is processor time a call, in microseconds; judgec's includes prompts, journal and verdicts. The aiohttp"
    yield "loop is what one would write by hand; the client loop is `lm/endpoint` with nothing around it."
    yield f"Both of the latter open their connections one every 5 ms, which takes {BUSY * 0.005:.1f} s of each run."
    if options.brakes:
        share = f"1/{options.brakes + 1} of its speed"
        yield f"The client's process shares one core with {options.brakes} that never rest: {share}."
    yield ""
    header = ("a call", "possible/s", "aiohttp loop/s", "client loop/s", "judgec/s")
    compared = ("of the aiohttp loop", "from-to", "of the client loop", "from-to")
    yield from table((*header, *compared, "CPU, aiohttp loop", "CPU, client loop", "CPU, judgec"), rows)


PARTS: dict[str, tuple[str, Callable[[argparse.Namespace], Iterator[str]]]] = {
    "clients": ("An endpoint without latency", clients),
    "latency": ("An endpoint that takes its time", latency),
    "evidence": ("Evidence alone", evidence),
    "first": ("A first pass: evidence, calls, calibration", first_pass),
    "journal": ("Everything in the journal; memory", from_journal),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[*PARTS], help=", ".join(PARTS))
    parser.add_argument("--items", type=int, default=4000, help="judgments a repeat, of clients and latency")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--latencies", default="0,.05,.2,.4", help="seconds a call, of latency")
    parser.add_argument("--brakes", type=int, default=0, help="busy processes on the client's one core, of latency")
    parser.add_argument("--sizes", default="10000,100000,1000000", help="of the files that are judged from the journal")
    parser.add_argument("--folder", help="where large files go; 2.5 GB for a million items")
    parser.add_argument("--ragelo", metavar="PYTHON", help="an interpreter that has ragelo 0.7.0")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in options.parts:
        title, measure = PARTS[part]
        load, lines = os.getloadavg()[0], []
        for line in measure(options):
            print(line, flush=True)
            lines.append(line)
        write(part, "\n".join([f"## {title}", "", *lines, "", measured_on(load)]), FILE)


if __name__ == "__main__":
    main()
