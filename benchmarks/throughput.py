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

import aiohttp
import dspy
import httpx
import openai
import orjson

from benchmarks import judging_world as world
from benchmarks.figures import measured_on, table, write
from benchmarks.journaled import evidence, first_pass, from_journal
from judgec.lm.client import JournaledClient, client_of, open_lm
from judgec.lm.endpoint.exchange import Plain
from judgec.lm.endpoint.pool import PooledBackend
from judgec.lm.executor import Executor
from judgec.lm.frozen import freeze
from judgec.lm.journal.journal import Journal
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from judgec.raters.judge import CompiledJudge
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


def rate(act: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    act()
    return count / (time.perf_counter() - start)


# ---------------------------------------------------------------------------------------------------- the client


async def crowd(chats: Sequence[object], in_flight: int, act: Callable[[object], Awaitable[object]]) -> None:
    """A plain loop: so many workers, each asking the next one."""
    left = iter(chats)

    async def worker() -> None:
        for chat in left:
            await act(chat)

    await asyncio.gather(*(worker() for _ in range(in_flight)))


async def plain(door: JournaledClient, chats: list[Chat], in_flight: int) -> None:
    """Judgec's own client without anything around it."""
    backend = door.calls.backend
    assert isinstance(backend, PooledBackend)

    async def say(asked: object) -> object:
        assert isinstance(asked, Plain)
        return await backend.say(asked)

    await crowd([door.plain(chat) for chat in chats], in_flight, say)
    await backend.aclose()


def body(chat: object) -> bytes:
    return orjson.dumps({"model": "instant", "messages": chat, "temperature": 0, "max_tokens": 2048})


async def bare_aiohttp(url: str, chats: list[Chat], in_flight: int) -> None:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {HOST_KEY}"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers) as session:

        async def post(chat: object) -> object:
            async with session.post(f"{url}/chat/completions", data=body(chat)) as reply:
                return orjson.loads(await reply.read())

        await crowd(chats, in_flight, post)


async def bare_httpx(url: str, chats: list[Chat], in_flight: int) -> None:
    limits = httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
    async with httpx.AsyncClient(limits=limits, headers={"Content-Type": "application/json"}) as client:

        async def post(chat: object) -> object:
            return (await client.post(f"{url}/chat/completions", content=body(chat))).json()

        await crowd(chats, in_flight, post)


async def bare_openai(url: str, chats: list[Chat], in_flight: int) -> None:
    async with openai.AsyncOpenAI(api_key=HOST_KEY, base_url=url) as client:

        async def create(chat: object) -> object:
            return await client.chat.completions.create(model="instant", messages=chat)  # type: ignore[call-overload]

        await crowd(chats, in_flight, create)


def ours(url: str, items: Sequence[Item], judge: CompiledJudge, in_flight: int, *, kept: bool = True) -> int:
    """Rendered, asked, journaled, read: what ``judgec judge`` does before it calibrates."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as opened:
        journal = opened.enter_context(Journal(Path(folder) / "journal.db")) if kept else None
        ask = Executor(new_lm(url, journal), in_flight=in_flight).run
        said = verdicts(judge.module, items, ask=ask, scale=judge.scale, aspects=judge.aspects)
    return int(said.scored.sum())


# ------------------------------------------------------------------------------------------------------ the others


def by_dspy(url: str, items: Sequence[Item], judge: CompiledJudge, way: str) -> None:
    predict = judge.module.predictors()[0]
    lm = dspy.LM(world.MODEL, api_base=url, api_key=HOST_KEY, cache=False, temperature=0.0)
    examples = [
        dspy.Example(**fenced_inputs(predict, item)).with_inputs(*predict.signature.input_fields) for item in items
    ]
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        if way == "Evaluate":
            score = dspy.Evaluate(devset=examples, metric=lambda _gold, said, *_: float(said.grade > 0), num_threads=8)
            score(judge.module)
        else:
            dspy.Parallel(num_threads=8, disable_progress_bar=True)([(predict, example) for example in examples])


def by_mlflow(url: str, items: Sequence[Item], judge: CompiledJudge) -> None:
    import mlflow
    from mlflow.genai.judges import make_judge

    predict = judge.module.predictors()[0]
    scorer = make_judge(
        name="grade",
        instructions=predict.signature.instructions + "\n\nThe item: {{ inputs }}\nThe answer: {{ outputs }}",
        model="openai:/instant",
        base_url=url,
        feedback_value_type=str,
    )
    rows = [
        {"inputs": {k: v for k, v in fields.items() if k != "answer"}, "outputs": fields["answer"]}
        for fields in (fenced_inputs(predict, item) for item in items)
    ]
    os.environ["MLFLOW_GENAI_EVAL_MAX_WORKERS"] = MLFLOW_WORKERS
    with tempfile.TemporaryDirectory() as folder:
        mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
        mlflow.genai.evaluate(data=rows, scorers=[scorer])


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
start = time.perf_counter()
judge.evaluate_experiment(experiment)
print(time.perf_counter() - start, sum(len(query.retrieved_docs) for query in experiment))
"""


def by_ragelo(python: str, url: str, chats: list[Chat]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chats.json"
        path.write_text(json.dumps(chats))
        command = [python, "-c", RAGELO, url, str(path), folder]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": ""})
        if ran.returncode:
            raise RuntimeError(ran.stderr[-500:])
        return len(chats) / float(ran.stdout.split()[-2])


def clients(options: argparse.Namespace) -> Iterator[str]:
    """No latency: what this side of the endpoint costs."""
    with tempfile.TemporaryDirectory() as home, world.server() as url:
        items, judge = world.make_judge(Path(home))
        many = [world.item(items, n) for n in range(options.items)]
        predict = judge.module.predictors()[0]
        frozen = freeze(predict, [])
        chats = [frozen.messages(fenced_inputs(predict, item)) for item in many]
        fewer, few = many[: options.items // 10], many[:MLFLOW_ITEMS]
        found: dict[str, list[float]] = {}
        gc.freeze()  # as judgec judge does; for all
        for turn in range(options.repeats):
            for name, asked, act in _contestants(url, many, chats, judge, options.in_flight):
                found.setdefault(name, []).append(rate(act, asked))
            for way in ("Evaluate", "Parallel"):
                act = partial(by_dspy, url, fewer, judge, way)
                found.setdefault(f"dspy.{way}", []).append(rate(act, len(fewer)))
            if options.ragelo:
                found.setdefault("ragelo", []).append(by_ragelo(options.ragelo, url, chats[: len(fewer)]))
            if turn == 0:  # it takes as long as all the others together
                found["mlflow.genai.evaluate"] = [rate(partial(by_mlflow, url, few, judge), len(few))]
    yield f"{options.in_flight} in flight, {options.items} judgments ({len(fewer)} for the others), medians of repeats."
    yield ""
    mid = {name: statistics.median(rates) for name, rates in found.items()}
    best = max(value for name, value in mid.items() if name.startswith(("dspy", "mlflow", "ragelo")))
    loop = mid["client in a plain loop"]
    header = ("", "judgments/s", "of the same client in a plain loop", "of the best of DSPy, MLflow, ragelo")
    rows = [(name, f"{value:,.0f}", f"{value / loop:.2f}", f"{value / best:.2f}") for name, value in mid.items()]
    yield from table(header, rows)


def _contestants(
    url: str, many: Sequence[Item], chats: list[Chat], judge: CompiledJudge, in_flight: int
) -> Iterator[tuple[str, int, Callable[[], object]]]:
    door = client_of(new_lm(url, None))
    yield "judgec, journaled", len(many), lambda: ours(url, many, judge, in_flight)
    yield "judgec, no journal", len(many), lambda: ours(url, many, judge, in_flight, kept=False)
    yield "client in a plain loop", len(many), lambda: asyncio.run(plain(door, chats, in_flight))
    yield "bare aiohttp loop", len(many), lambda: asyncio.run(bare_aiohttp(url, chats, in_flight))
    tenth = chats[: len(chats) // 5]
    yield "bare httpx loop", len(tenth), lambda: asyncio.run(bare_httpx(url, tenth, in_flight))
    yield "openai loop", len(tenth), lambda: asyncio.run(bare_openai(url, tenth, in_flight))


def paid_for(act: Callable[[], object], count: int) -> tuple[float, float]:
    """A second's calls, and the microseconds of processor time a call."""
    begun = time.process_time()
    by_clock = rate(act, count)
    return by_clock, 1e6 * (time.process_time() - begun) / count


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
            predict = judge.module.predictors()[0]
            frozen = freeze(predict, [])
            chats = [frozen.messages(fenced_inputs(predict, item)) for item in many]
            door = client_of(new_lm(url, None))
            acts: dict[str, Callable[[], object]] = {
                "judgec": partial(ours, url, many, judge, BUSY),
                "aiohttp": lambda: asyncio.run(bare_aiohttp(url, chats, BUSY)),  # noqa: B023 - called here
                "loop": lambda: asyncio.run(plain(door, chats, BUSY)),  # noqa: B023 - called here
            }
            gc.freeze()  # as judgec judge does; for all
            with braked(options.brakes):
                found = [{who: paid_for(act, len(many)) for who, act in acts.items()} for _ in range(options.repeats)]
        speeds, used = ({who: [one[who][at] for one in found] for who in acts} for at in (0, 1))
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
