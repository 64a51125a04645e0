"""A fault campaign: kills, bad items, outages, slow servers, full disks, locked databases, clocks; what was lost.

``python -m benchmarks.storm [PART ...]``, in the project's root, writes ``storm.md`` and ``storm.json``; a part that is
not run keeps its rows. Every row is the real command in a process of its own against a local endpoint, disturbed and
then run to its end, and compared with an undisturbed run: judgments *lost*, calls *paid twice* though their replies
were in the journal, results *wrong* (of items that always fail: any), runs that *hung*, files and screens into which
the endpoint's key *leaked*. *Tried* counts requests, failed ones included; *in flight* the calls that were on their way
when a process died and were asked again.
"""

import argparse
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, fields
from functools import cache, partial
from importlib.util import find_spec
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from tests.service import hostile
from tests.service.batch_kills import Killer, every_step
from tests.service.fake_batches import FakeBatches
from tests.service.fake_openai import FakeOpenAI
from tests.service.mlflow_server import log_runs
from tests.service.policies import BROKEN, Policy, first
from tests.service.ranking_world import grader, rows
from tests.service.replies import Call, Outcome, Raw, Reset, Status, Text, digest
from tests.verbs.cli.judging import KEY, save_judge, write_items
from tests.verbs.cli.test_probe_models import writer

import judgec
from benchmarks.figures import measured_on, table
from judgec.compile.search.registry import OPTIMIZERS
from judgec.lm.journal.journal import APPLICATION_ID, BUSY_SECONDS, Journal

FILE = Path(__file__).with_suffix(".md")
FIGURES = Path(__file__).with_suffix(".json")
MAIN = "from judgec.verbs.cli.app import main; main()"
JUMPS = (
    "import random, time; real, chance = time.time, random.Random(0); "
    "time.time = lambda: real() + chance.choice([-1e7, -3600.0, 0.0, 3600.0, 1e7]); "
)
LATENCY = 0.02  # seconds a reply: a kill always finds calls in flight
IN_FLIGHT = 32
BATCHED = 30  # items of a batch
HUNG = 300.0  # seconds without a call after which a run counts as hung, however long it has to run
LOOK = 0.25  # seconds between two looks at a run
SAID = "said.txt"  # what the runs of one home printed
POISONED = (0.001, 0.005, 0.01, 0.05)  # shares of items that always fail
POINTS = 10  # at which the disk is full
CATALOGUE = Path(__file__).parents[1] / "trainsets" / "sensors" / "catalogue"
AGENTS = "rag-bm25,rag-fusion-bm25"
CROWD = 256  # calls at once of servers that accept slowly
LASTING = 5  # replies on a connection that is closed as the next request comes
Holds = Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Case:
    """A command, and what must be the same whatever disturbed it.

    Args:
        name: In the table.
        typed: The command, without home and endpoint.
        holds: What it leaves in a home; None where it left nothing.
    """

    name: str
    typed: tuple[str, ...]
    holds: Holds


def start(
    case: Case, home: Path, url: str, *, before: str = "", most_bytes: int | None = None, out: str = "out.jsonl"
) -> subprocess.Popen[bytes]:
    """The command in a process of its own; ``most_bytes`` is what a file of its may hold, as on a disk that is full."""
    typed = [out if one == "OUT" else one for one in case.typed]
    if most_bytes is not None:
        before = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({most_bytes},) * 2); {before}"
    with (home.parent / SAID).open("ab") as said:
        return subprocess.Popen(
            [sys.executable, "-c", before + MAIN, *typed, "--home", str(home), "--api-base", url],
            cwd=home,
            stdout=said,
            stderr=said,
            env={"PATH": "", "OPENAI_API_KEY": KEY, "PYTHONPATH": ":".join(sys.path)},
        )


def ended(process: subprocess.Popen[bytes], server: FakeOpenAI) -> tuple[bool, bool]:
    """Whether a run came to its end well, and whether it hung: asked nothing for long."""
    calls, since = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(LOOK)
        if server.calls != calls:
            calls, since = server.calls, time.monotonic()
        elif time.monotonic() > since + HUNG:
            process.kill()
            process.wait()
            return False, True
    return process.returncode == 0, False


def until(calls: float, server: FakeOpenAI, process: subprocess.Popen[bytes]) -> None:
    """Wait until so many calls are answered, or the run is over."""
    while server.answered < calls and process.poll() is None:
        time.sleep(0.005)


def leaked(home: Path) -> int:
    """Files in which the key stands, what the screen showed among them."""
    return sum(KEY.encode() in path.read_bytes() for path in home.parent.rglob("*") if path.is_file())


def paid_twice(home: Path) -> int:
    """Calls of which the journal has more than one reply."""
    with Journal(home / ".judgec" / "journal.db") as journal:
        ((count,),) = journal.select("SELECT COUNT(*) - COUNT(DISTINCT digest) FROM replies")
    return int(count)


def compared(case: Case, home: Path, expected: object, finished: bool) -> tuple[int, int]:
    """What is lost and what is wrong of a disturbed run."""
    found = case.holds(home) if finished else None
    if isinstance(expected, dict) and isinstance(found, dict):
        lost = len(expected.keys() - found.keys())
        return lost, sum(found[key] != value for key, value in expected.items() if key in found)
    return int(found is None), int(found is not None and found != expected)


# ------------------------------------------------------------------------------------------------------------ the world


def grades(home: Path, out: str = "out.jsonl") -> dict[str, tuple[object, object]] | None:
    """Grade by item of a judged file."""
    path = home / out
    if not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    return {row["item_id"]: (row["grade"], row["unscored"]) for row in map(json.loads, lines)}


def version(home: Path) -> object:
    """Tree and split of the version that a compile wrote."""
    folder = home / "programs" / "killed" / "0001"
    names = ("tree.json", "split.json")
    return [json.loads((folder / name).read_text()) for name in names] if folder.is_dir() else None


def audits(home: Path) -> object:
    """Status and effect of each audit on the card."""
    audit = json.loads((home / "programs" / "w" / "0001" / "card.json").read_text())["audit"]
    return None if audit is None else [(one["audit"], one["status"]) for one in audit["findings"]]


def games(home: Path) -> object:
    """Every game of a tournament."""
    path = home / "board" / "games.csv"
    return path.read_text() if path.is_file() else None


def answers(home: Path) -> object:
    """Answer by agent and query."""
    path = home / "out.jsonl"
    found = map(json.loads, path.read_text(encoding="utf-8").rstrip("\n").split("\n")) if path.is_file() else ()
    return {(row["agent"], row["query_id"]): row["answer"] for row in found} or None


def probed(home: Path) -> object:
    """Every question of a probe, and what was said of its answer."""
    path = home / "probed" / "results.jsonl"
    found = list(map(json.loads, path.read_text().rstrip("\n").split("\n"))) if path.is_file() else []
    for one in found:
        one["reply"].pop("seconds", None)
    return found or None


def watched(home: Path) -> object:
    """Grade by trace, and how often it stands in MLflow."""
    path = home / ".judgec" / "watch" / "weather.w@1.json"
    if not path.is_file():
        return None
    with sqlite3.connect(home / "mlruns" / "mlflow.db") as store:
        said = store.execute("SELECT trace_id, value FROM assessments WHERE name = 'w' ORDER BY 1, 2").fetchall()
    store.close()
    found: dict[str, list[str]] = {}
    for trace, value in said:
        found.setdefault(trace, []).append(value)
    return found


def model(call: Call) -> Outcome:
    """A grader that writes questions with their answers, too, where it is asked for some."""
    asks = {output.name for output in call.prompt.outputs} & {"question", "questions"}
    return writer(call) if asks else grader(call)


JUDGE = Case("judge", ("judge", "items.jsonl", "--judge", "w@1", "--out", "OUT", "--in-flight", str(IN_FLIGHT)), grades)


def cases() -> Iterator[Case]:
    """All commands that ask a model for long."""
    yield JUDGE
    for name in sorted(OPTIMIZERS):
        typed = ("compile-judge", "labels.jsonl", "--lm", "openai/fake", "--name", "killed", "--budget", "900")
        yield Case(f"compile-judge --optimizer {name}", (*typed, "--optimizer", name), version)
    yield Case("audit", ("audit", "--judge", "w@1", "--labels", "fresh.jsonl", "--only", "length,injection"), audits)
    typed = ("evaluate", "--queries", "queries.jsonl", "--answers", "answers.jsonl", "--judge", "w@1", "--unproven")
    yield Case("evaluate", (*typed, "--out", "board"), games)
    asks = ("--index", "docs.index", "--lm", "openai/fake")
    yield Case("answer", ("answer", *asks, "--queries", "queries.jsonl", "--agents", AGENTS, "--out", "OUT"), answers)
    probe = ("probe", *asks, "--system", "rag-bm25", "--scenarios", "S1", "--n", "40", "--out", "probed")
    yield Case("probe", probe, probed)
    yield Case("watch", ("watch", "--source", "mlflow:weather", "--judge", "w@1", "--rate", "1"), watched)


def make_home(folder: Path, items: int) -> Path:
    """A home with the judge ``w``, labels, items, and a tournament."""
    home = folder / "home"
    home.mkdir()
    labels, fresh = rows(120, seed=3), rows(60, seed=9)
    for row in (*labels, *fresh):
        del row["contexts"]  # neither leagues nor traces have any
    for row in fresh:
        row |= {name: f"fresh {row[name]}" for name in ("item_id", "query_id", "query")}
    files: dict[str, list[dict[str, object]]] = {
        "labels.jsonl": labels,
        "fresh.jsonl": fresh,
        "items.jsonl": [
            {
                "item_id": f"i{n}",
                "query": f"What is {n}?",
                "answer": f"Reply {n} is worth {'*' * (2 + n % 4)} by the north desk.",
            }
            for n in range(items)
        ],
        "queries.jsonl": [{"query_id": f"q{n}", "query": f"Which, {n}?"} for n in range(40)],
        "answers.jsonl": [
            {
                "query_id": f"q{n}",
                "agent": agent,
                "answer": f"Reply {n} is worth {'*' * (1 + (n * step) % 5)} by the {agent} desk.",
            }
            for n in range(40)
            for agent, step in (("north", 2), ("south", 3), ("east", 4))
        ],
    }
    for name, made in files.items():
        (home / name).write_text("".join(json.dumps(row) + "\n" for row in made))
    (home / "labels.datasheet.toml").write_text('task = "grade"\n[scale]\ngrades = [1, 2, 3, 4, 5]\naccept_at = 4\n')
    first = Case(
        "", ("compile-judge", "labels.jsonl", "--lm", "openai/fake", "--name", "w", "--optimizer", "labeled"), games
    )
    with FakeOpenAI(grader) as server:
        if not ended(start(first, home, server.base_url), server)[0]:
            raise RuntimeError("the judge of the campaign was not compiled")
    judgec.index(CATALOGUE, out=home / "docs.index")
    runs: list[dict[str, object]] = [
        {"query": f"What is {n}?", "steps": [], "answer": f"It is worth {'*' * (2 + n % 4)}."} for n in range(100)
    ]
    log_runs(f"sqlite:///{home / 'mlruns' / 'mlflow.db'}", "weather", runs)
    return home


@dataclass(frozen=True, slots=True)
class World:
    """Where campaigns run.

    Args:
        folder: For copies of the home.
        home: Copied for every run.
        port: Of the endpoint: another one would be another judge.
        chance: When kills come.
    """

    folder: Path
    home: Path
    port: int
    chance: random.Random

    def copy(self) -> Path:
        """A home of its own."""
        to = Path(tempfile.mkdtemp(dir=self.folder)) / "home"
        shutil.copytree(self.home, to)
        shutil.rmtree(to / ".judgec", ignore_errors=True)
        return to

    def server(
        self, policy: Policy = model, *, queue: int = 100, http: str = "1.1", served: int | None = None
    ) -> FakeOpenAI:
        """The endpoint, see ``FakeOpenAI``."""
        return FakeOpenAI(policy, latency=LATENCY, port=self.port, queue=queue, http=http, served=served)


@cache
def undisturbed(world: World, case: Case) -> tuple[object, int]:
    """What a case leaves, and how many calls it takes."""
    home = world.copy()
    with world.server() as server:
        if not ended(start(case, home, server.base_url), server)[0]:
            raise RuntimeError(f"{case.name} failed undisturbed: {(home.parent / SAID).read_text()}")
        return case.holds(home), server.answered


# ---------------------------------------------------------------------------------------------------------- campaigns


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    campaign: str
    disturbances: str
    tried: int
    answered: int
    lost: int
    paid_twice: int
    wrong: int
    hung: int
    leaked: int
    in_flight: int
    seconds: int


def row(
    name: str, disturbed: object, server: FakeOpenAI, home: Path, counts: tuple[int, int, int], begun: float
) -> Row:
    """A line; counts are lost, wrong, hung."""
    lost, wrong, hung = counts
    twice = paid_twice(home)
    again, seconds = max(0, server.paid_twice - twice), round(time.perf_counter() - begun)
    return Row(
        name, str(disturbed), server.calls, server.answered, lost, twice, wrong, hung, leaked(home), again, seconds
    )


def nothing(_home: Path, _server: FakeOpenAI, _process: subprocess.Popen[bytes]) -> None:
    """Leaves a run alone."""


During = Callable[[Path, FakeOpenAI, "subprocess.Popen[bytes]"], object]


def weathered(
    world: World,
    name: str,
    disturbed: object,
    server: FakeOpenAI,
    *,
    case: Case = JUDGE,
    before: str = "",
    during: During = nothing,
    failing: frozenset[str] = frozenset(),
    again: bool = False,
) -> Row:
    """One run in bad weather, which ``during`` makes; ``failing`` items never get a reply: a grade of one is wrong.

    ``again``: the run may end badly; then the same command goes on.
    """
    expected, _ = undisturbed(world, case)
    begun, home = time.perf_counter(), world.copy()
    with server:
        process = start(case, home, server.base_url, before=before)
        during(home, server, process)
        finished, hung = ended(process, server)
        if again and not finished and not hung:
            finished, hung = ended(start(case, home, server.base_url), server)
        graded = 0
        if failing and isinstance(expected, dict):
            found = case.holds(home) if finished else None
            said = {one: found[one] for one in failing if one in found} if isinstance(found, dict) else {}
            graded = sum(grade is not None for grade, _ in said.values())
            expected = expected | said
        lost, wrong = compared(case, home, expected, finished)
        wrong += graded
        return row(name, disturbed, server, home, (lost, wrong, int(hung)), begun)


def kills(world: World, options: argparse.Namespace) -> Iterator[Row]:
    """SIGKILL at random moments of each command, then once to its end."""
    for case in cases():
        if options.only and not any(word in case.name.split() for word in options.only):
            continue
        expected, calls = undisturbed(world, case)
        begun, home = time.perf_counter(), world.copy()
        with world.server() as server:
            for moment in sorted(world.chance.uniform(0, 1) for _ in range(options.kills)):
                process = start(case, home, server.base_url)
                until(moment * calls, server, process)
                time.sleep(world.chance.uniform(0, 0.1))
                process.kill()
                process.wait()
                while server.in_flight:  # it still answers what a dead client asked
                    time.sleep(0.005)
            finished, hung = ended(start(case, home, server.base_url), server)
            lost, wrong = compared(case, home, expected, finished)
            yield row(f"kill: {case.name}", options.kills, server, home, (lost, wrong, int(hung)), begun)


def poison(world: World, options: argparse.Namespace) -> Iterator[Row]:
    """Items that always answer 500."""
    for share in POISONED:
        failing = frozenset(f"i{n}" for n in range(0, options.items, round(1 / share)))

        def policy(call: Call, failing: frozenset[str] = failing) -> Outcome:
            return BROKEN if _item(call) in failing else grader(call)

        yield weathered(
            world, f"poison, {share:.1%} of items: judge", len(failing), world.server(policy), failing=failing
        )


def _item(call: Call) -> str:
    """Whose answer is graded."""
    found = re.search(r"Reply (\d+) is", call.prompt.inputs.get("answer", ""))
    return f"i{found[1]}" if found else ""


class Outage:
    """A policy under which every call fails for a while, once so many were answered."""

    def __init__(self, after: float, seconds: float, fault: Outcome) -> None:
        self._left, self._seconds, self._fault = after, seconds, fault
        self._over: float | None = None

    def __call__(self, call: Call) -> Outcome:
        """As a ``Policy``."""
        self._left -= 1
        if self._left < 0 and self._over is None:
            self._over = time.monotonic() + self._seconds
        return self._fault if self._over is not None and time.monotonic() < self._over else grader(call)


def outages(world: World, options: argparse.Namespace) -> Iterator[Row]:
    """Nothing succeeds for 5 to 300 s; the last one lasts longer than ``--max-wait``, and the command is run again."""
    _, calls = undisturbed(world, JUDGE)
    throttled = Status(429, "busy", "rate_limit_exceeded")
    faults: dict[str, Outcome] = {"500": BROKEN, "resets": Reset(), "429": throttled, "503": Status(503, "down")}
    for (name, fault), full in zip(faults.items(), (5, 30, 100, 300), strict=True):
        seconds = full * options.scale
        case = Case(JUDGE.name, (*JUDGE.typed, "--max-wait", str(2 * seconds + 60)), grades)
        yield weathered(
            world,
            f"outage, {name}: judge",
            f"{seconds:g} s",
            world.server(Outage(calls / 2, seconds, fault)),
            case=case,
        )

    def away(seconds: float, _home: Path, server: FakeOpenAI, process: subprocess.Popen[bytes]) -> None:
        until(calls / 2, server, process)
        server.away(seconds)

    def over(_home: Path, _server: FakeOpenAI, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        time.sleep(seconds)

    seconds = 30 * options.scale
    yield weathered(world, "outage, refused: judge", f"{seconds:g} s", world.server(), during=partial(away, seconds))
    case = Case(JUDGE.name, (*JUDGE.typed, "--max-wait", str(seconds / 6)), grades)
    yield weathered(
        world,
        "outage longer than --max-wait, run again: judge",
        f"{seconds:g} s",
        world.server(Outage(calls / 2, seconds, BROKEN)),
        case=case,
        during=over,
        again=True,
    )


def servers(world: World, _: argparse.Namespace) -> Iterator[Row]:
    """Endpoints that accept slowly, or close what they said they keep."""
    crowd = Case(JUDGE.name, (*JUDGE.typed[:-1], str(CROWD)), grades)
    for http in ("1.1", "1.0"):
        name, server = f"queue of 5 connections, HTTP/{http}: judge", world.server(queue=5, http=http)
        yield weathered(world, name, f"{CROWD} at once", server, case=crowd)
    name, server = "connections closed as the next request comes: judge", world.server(served=LASTING)
    yield weathered(world, name, f"every {LASTING} replies", server)


def secrets(world: World, options: argparse.Namespace) -> Iterator[Row]:
    """Every reply echoes the endpoint's key: in texts, names, errors, headers."""
    echoed = frozenset(f"i{n}" for n in range(0, options.items, 25))

    def policy(call: Call) -> Outcome:
        if _item(call) in echoed:  # for good
            return Status(400, f"no: {KEY}", kind=KEY, headers={"X-Echo": KEY})
        if digest(str(call.number)) % 20 == 0:
            return Status(500, f"Authorization: Bearer {KEY}", headers={"Retry-After": "0.05", "Location": KEY})
        said = grader(call)
        assert isinstance(said, Text)
        return Text(said.text.replace("as the rules say", f"as {KEY} says"), said.chances)

    yield weathered(world, "key echoed: judge", "every reply", world.server(policy), failing=echoed)


def disk(world: World, _: argparse.Namespace) -> Iterator[Row]:
    """No file may grow beyond so many bytes, at ten points, then room again."""
    hung = 0
    expected, _calls = undisturbed(world, JUDGE)
    begun, home = time.perf_counter(), world.copy()
    with world.server() as server:
        for point in range(1, POINTS + 1):
            hung += ended(start(JUDGE, home, server.base_url, most_bytes=40_000 * point), server)[1]
        finished, late = ended(start(JUDGE, home, server.base_url), server)
        lost, wrong = compared(JUDGE, home, expected, finished)
        yield row("disk full: judge", POINTS, server, home, (lost, wrong, hung + late), begun)


def databases(world: World, options: argparse.Namespace) -> Iterator[Row]:
    """The journal locked by another process for less and for more than a writer waits; files that are no journal."""
    _, calls = undisturbed(world, JUDGE)

    def locked(seconds: float, home: Path, server: FakeOpenAI, process: subprocess.Popen[bytes]) -> None:
        until(calls / 2, server, process)
        other = sqlite3.connect(home / ".judgec" / "journal.db", timeout=60, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        limit = time.monotonic() + seconds
        while time.monotonic() < limit and process.poll() is None:
            time.sleep(LOOK)
        other.execute("ROLLBACK")
        other.close()

    for seconds in (10, 90):
        yield weathered(
            world,
            f"journal locked for {seconds} s: judge",
            1,
            world.server(),
            during=partial(locked, seconds),
            again=seconds > BUSY_SECONDS,
        )
    expected, _ = undisturbed(world, JUDGE)
    begun, home = time.perf_counter(), world.copy()
    journal = home / ".judgec" / "journal.db"
    journal.parent.mkdir()
    with world.server() as server:
        wrong = 0
        for script in (
            None,
            "CREATE TABLE theirs (x)",
            f"PRAGMA user_version = 999; PRAGMA application_id = {APPLICATION_ID}",
        ):
            if script is None:
                journal.write_text("dear diary, " * 100)
            else:
                with sqlite3.connect(journal) as other:
                    other.executescript(script)
                other.close()
            before = journal.read_bytes()
            finished, hung = ended(start(JUDGE, home, server.base_url), server)
            wrong += finished or hung or journal.read_bytes() != before  # it is refused, and not touched
            journal.unlink()
        finished, hung = ended(start(JUDGE, home, server.base_url), server)
        lost, more = compared(JUDGE, home, expected, finished)
        yield row("foreign journals: judge", 3, server, home, (lost, wrong + more, int(hung)), begun)
    yield from _locked_tracking(world, options)


def _locked_tracking(world: World, _: argparse.Namespace) -> Iterator[Row]:
    """MLflow's database locked by another process while a compile ends; the same command goes on."""
    case = next(one for one in cases() if one.name.endswith("labeled"))

    def locked(home: Path, server: FakeOpenAI, process: subprocess.Popen[bytes]) -> None:
        other = sqlite3.connect(home / "mlruns" / "mlflow.db", timeout=60, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        ended(process, server)
        other.execute("ROLLBACK")
        other.close()

    yield weathered(
        world, "MLflow's database locked: compile-judge", 1, world.server(), case=case, during=locked, again=True
    )


def clock(world: World, _: argparse.Namespace) -> Iterator[Row]:
    """The clock shows another time whenever it is read, up to four months off."""
    yield weathered(world, "clock jumps: judge", "each reading", world.server(), before=JUMPS)


def two(world: World, _: argparse.Namespace) -> Iterator[Row]:
    """The same items in one home at once; then again, and one of the two is killed half-way."""
    expected, calls = undisturbed(world, JUDGE)
    for killed in (False, True):
        begun, home = time.perf_counter(), world.copy()
        with world.server() as server:
            one, other = (start(JUDGE, home, server.base_url, out=name) for name in ("first.jsonl", "out.jsonl"))
            if killed:
                until(calls / 2, server, one)
                one.kill()
            finished, hung = ended(other, server)
            one.wait()
            lost, wrong = compared(JUDGE, home, expected, finished)
            if not killed:
                wrong += grades(home, "first.jsonl") != grades(home)
            name = "two processes: judge" + (", one killed" if killed else "")
            yield row(name, 1 + killed, server, home, (lost, wrong, int(hung)), begun)


def hostile_replies(world: World, options: argparse.Namespace) -> Iterator[Row]:
    """Replies of which every field has every wrong kind, slow texts, cut bodies, noise."""
    begun, home, count = time.perf_counter(), world.copy(), options.hostile
    with (home / "items.jsonl").open("w") as file:
        file.writelines(json.dumps({"item_id": f"h{n}", "query": f"{n}?", "answer": "x"}) + "\n" for n in range(count))
    bodies = chain(hostile.shapes(count, size=options.size), repeat(json.dumps(hostile.body()).encode()))
    first = iter([json.dumps(hostile.body()).encode()])  # to the call that looks whether somebody is there

    def policy(_: Call) -> Outcome:
        return Raw(next(first, None) or next(bodies))

    with FakeOpenAI(policy, port=world.port) as server:
        process = start(JUDGE, home, server.base_url)
        finished, hung = ended(process, server)
        said = (grades(home) if finished else None) or {}
        wrong = sum(
            (grade is None) == (why is None) or grade not in {None, 1, 2, 3, 4, 5} for grade, why in said.values()
        )
        scored = sum(grade is not None for grade, _ in said.values())
        counts = (count - len(said), wrong, int(hung))
        yield row(f"hostile replies: judge ({scored:,} scored)", f"{count:,}", server, home, counts, begun)


def batches(world: World, _: argparse.Namespace) -> Iterator[Row]:
    """SIGKILL before, after and behind the reply to every step of two batches, one after the other."""
    for model in ("openai/fake", *(["anthropic/fake"] if find_spec("anthropic") else [])):
        begun, home = time.perf_counter(), Path(tempfile.mkdtemp(dir=world.folder))
        file = write_items(home / "items.jsonl", BATCHED)
        save_judge(home, lm={"model": model, "temperature": 0.0})
        killer, out = Killer(), home / "out.jsonl"
        os.environ |= {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
        # Some calls fail at first, so that there is a second batch.
        with FakeBatches(first(5, BROKEN), hook=killer.hook, answered=killer.answered) as server:
            typed = ["judge", str(file), "--judge", "mine", "--home", str(home), "--out", str(out), "--batch"]
            for point in [*every_step(uploads=model.startswith("openai")), None]:
                killer.run([*typed, "--api-base", server.base_url], point, quick=False)
            said, twice = grades(home) or {}, server.paid_twice + paid_twice(home)
            yield Row(
                f"kill: judge --batch, {model}",
                str(killer.kills),
                server.paid,
                server.paid,
                lost=BATCHED - len(said),
                paid_twice=twice,
                wrong=sum(why is not None for _, why in said.values()),
                hung=0,
                leaked=leaked(home),
                in_flight=0,
                seconds=round(time.perf_counter() - begun),
            )


PARTS: dict[str, Callable[[World, argparse.Namespace], Iterator[Row]]] = {
    "kills": kills,
    "two": two,
    "poison": poison,
    "outages": outages,
    "servers": servers,
    "secrets": secrets,
    "disk": disk,
    "databases": databases,
    "clock": clock,
    "hostile": hostile_replies,
    "batch": batches,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[*PARTS], help=", ".join(PARTS))
    parser.add_argument("--kills", type=int, default=6, help="of each command")
    parser.add_argument(
        "--only",
        nargs="*",
        help="what is killed: audit, mipro; the rest keeps its rows; default: all",
    )
    parser.add_argument("--items", type=int, default=1000, help="that are judged")
    parser.add_argument("--scale", type=float, default=1.0, help="of outages: .1 makes 300 s of them 30")
    parser.add_argument("--hostile", type=int, default=100_000, help="hostile replies")
    parser.add_argument("--size", type=int, default=5_000, help="characters of a hostile text, at most")
    parser.add_argument("--folder", type=Path, default=FILE.parent, help="where storm.md and storm.json are")
    options = parser.parse_args()
    figures, load = options.folder / FIGURES.name, os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        home = make_home(Path(folder), options.items)
        with FakeOpenAI(grader) as server:
            port = int(server.base_url.rsplit(":", 1)[1].split("/")[0])
        world = World(Path(folder), home, port, random.Random(0))
        for part in options.parts:
            found: list[dict[str, object]] = []
            for each in PARTS[part](world, options):
                print(" | ".join(map(str, astuple(each))), flush=True)
                found.append(asdict(each))
            known = json.loads(figures.read_text()) if figures.exists() else {}  # now: a campaign takes hours
            kept = {one["campaign"]: one for one in known.get(part, {}).get("rows", ()) if options.only}
            rows = list((kept | {one["campaign"]: one for one in found}).values())
            known[part] = {"items": options.items, "measured": measured_on(load), "rows": rows}
            figures.write_text(json.dumps({name: known[name] for name in PARTS if name in known}, indent=1) + "\n")
            (options.folder / FILE.name).write_text(page(known), encoding="utf-8")


def page(known: Mapping[str, Any]) -> str:  # parsed JSON, as ``main`` wrote it
    """The rows so far as Markdown."""
    about = (__doc__ or "").split("\n\n")[1].replace("``", "`")
    lines = ["# A fault campaign", "", *about.splitlines()]
    for part in [one for one in PARTS if one in known]:
        rows = [
            tuple(f"{one:,}" if isinstance(one, int) else one for one in row.values()) for row in known[part]["rows"]
        ]
        header = tuple(one.name.replace("_", " ") for one in fields(Row))
        lines += [
            "",
            f"## {part}",
            "",
            *table(header, rows),
            "",
            f"{known[part]['items']} items. {known[part]['measured']}",
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
