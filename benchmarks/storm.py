"""A fault campaign: kills, a full disk, a clock that jumps, two processes at once, hostile replies; what was lost.

``python -m benchmarks.storm [kills disk clock two hostile batch]``, in the project's root, writes ``storm.md``. Every
row is the real command in a process of its own against a local endpoint, disturbed and then run to its end, and
compared with an undisturbed run: judgments *lost*, calls *paid twice* though their replies were in the journal, results
*wrong*, runs that *hung*. *In flight* counts the calls that were on their way when a process died and were asked again.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, repeat
from pathlib import Path

from tests.service import hostile
from tests.service.batch_kills import Killer, every_step
from tests.service.fake_batches import FakeBatches
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import BROKEN, Policy, first
from tests.service.ranking_world import grader, rows
from tests.service.replies import Call, Outcome, Raw
from tests.verbs.cli.judging import KEY, save_judge, write_items

from benchmarks.figures import measured_on, table
from judgec.compile.search.registry import OPTIMIZERS
from judgec.lm.journal.journal import Journal

FILE = Path(__file__).with_name("storm.md")
MAIN = "from judgec.verbs.cli.app import main; main()"
JUMPS = (
    "import random, time; real, chance = time.time, random.Random(0); "
    "time.time = lambda: real() + chance.choice([-1e7, -3600.0, 0.0, 3600.0, 1e7]); "
)
LATENCY = 0.02  # seconds a reply: a kill always finds calls in flight
IN_FLIGHT = 32
BATCHED = 30  # items of a batch
HUNG = 300.0  # seconds without a call after which a run counts as hung, however long it has to run
LOOK = 1.0  # seconds between two looks at a run
HEADER = ("campaign", "disturbances", "calls answered", "lost", "paid twice", "wrong", "hung", "in flight", "seconds")
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
    return subprocess.Popen(
        [sys.executable, "-c", before + MAIN, *typed, "--home", str(home), "--api-base", url],
        cwd=home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={"PATH": "", "OPENAI_API_KEY": "none", "PYTHONPATH": ":".join(sys.path)},
    )


def ended(process: subprocess.Popen[bytes], server: FakeOpenAI) -> tuple[bool, bool]:
    """Whether a run came to its end well, and whether it hung: asked nothing for long."""
    calls, since = -1, time.monotonic()
    while True:
        try:
            _, error = process.communicate(timeout=LOOK)
            break
        except subprocess.TimeoutExpired:
            if server.calls != calls:
                calls, since = server.calls, time.monotonic()
            elif time.monotonic() > since + HUNG:
                process.kill()
                process.communicate()
                return False, True
    if process.returncode:
        print(error.decode()[-2000:], file=sys.stderr)
    return process.returncode == 0, False


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
    lines = path.read_text(encoding="utf-8").splitlines()
    return {row["item_id"]: (row["grade"], row["unscored"]) for row in map(json.loads, lines)}


def version(home: Path) -> object:
    """The prompt, calibration and split of the version that a compile wrote."""
    folder = home / "programs" / "killed" / "0001"
    names = ("program.json", "calibration.json", "split.json")
    return [json.loads((folder / name).read_text()) for name in names] if folder.is_dir() else None


def audits(home: Path) -> object:
    """Status and effect of each audit on the card."""
    audit = json.loads((home / "programs" / "w" / "0001" / "card.json").read_text())["audit"]
    return None if audit is None else [(one["audit"], one["status"]) for one in audit["findings"]]


def games(home: Path) -> object:
    """Every game of a tournament."""
    path = home / "board" / "games.csv"
    return path.read_text() if path.is_file() else None


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


def make_home(folder: Path, items: int) -> Path:
    """A home with the judge ``w``, labels, items, and a tournament."""
    home = folder / "home"
    home.mkdir()
    labels, fresh = rows(120, seed=3), rows(60, seed=9)
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

    def server(self, policy: Policy = grader) -> FakeOpenAI:
        """The endpoint."""
        return FakeOpenAI(policy, latency=LATENCY, port=self.port)

    def undisturbed(self, case: Case) -> tuple[object, int]:
        """What a case leaves, and how many calls it takes."""
        home = self.copy()
        with self.server() as server:
            if not ended(start(case, home, server.base_url), server)[0]:
                raise RuntimeError(f"{case.name} failed undisturbed")
            return case.holds(home), server.answered


# ---------------------------------------------------------------------------------------------------------- campaigns


def row(name: str, disturbed: object, server: FakeOpenAI, counts: Sequence[int], begun: float) -> tuple[str, ...]:
    """A line of the table; counts are lost, paid twice, wrong, hung."""
    again = max(0, server.paid_twice - counts[1])
    seconds = f"{time.perf_counter() - begun:.0f}"
    return (name, str(disturbed), f"{server.answered:,}", *map(str, counts), str(again), seconds)


def kills(world: World, options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """SIGKILL at random moments of each command, then once to its end."""
    for case in cases():
        if options.only and not any(word in case.name.split() for word in options.only):
            continue
        begun = time.perf_counter()
        expected, calls = world.undisturbed(case)
        home = world.copy()
        with world.server() as server:
            for moment in sorted(world.chance.uniform(0, 1) for _ in range(options.kills)):
                process = start(case, home, server.base_url)
                while server.answered < moment * calls and process.poll() is None:
                    time.sleep(0.005)
                time.sleep(world.chance.uniform(0, 0.1))
                process.kill()
                process.communicate()
                while server.in_flight:  # it still answers what a dead client asked
                    time.sleep(0.005)
            finished, hung = ended(start(case, home, server.base_url), server)
            lost, wrong = compared(case, home, expected, finished)
            yield row(f"kill: {case.name}", options.kills, server, (lost, paid_twice(home), wrong, int(hung)), begun)


def disk(world: World, options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """No file may grow beyond so many bytes, then room again."""
    begun, hung = time.perf_counter(), 0
    expected, _ = world.undisturbed(JUDGE)
    home = world.copy()
    with world.server() as server:
        for _ in range(options.kills):
            process = start(JUDGE, home, server.base_url, most_bytes=world.chance.randint(20_000, 400_000))
            with contextlib.redirect_stderr(None):
                hung += ended(process, server)[1]
        finished, late = ended(start(JUDGE, home, server.base_url), server)
        lost, wrong = compared(JUDGE, home, expected, finished)
        yield row("disk full: judge", options.kills, server, (lost, paid_twice(home), wrong, hung + late), begun)


def clock(world: World, _: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """The clock shows another time whenever it is read, up to four months off."""
    begun = time.perf_counter()
    expected, _calls = world.undisturbed(JUDGE)
    home = world.copy()
    with world.server() as server:
        finished, hung = ended(start(JUDGE, home, server.base_url, before=JUMPS), server)
        lost, wrong = compared(JUDGE, home, expected, finished)
        yield row("clock jumps: judge", "each reading", server, (lost, paid_twice(home), wrong, int(hung)), begun)


def two(world: World, _: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """The same items in one home at once; then again, and one of the two is killed half-way."""
    expected, calls = world.undisturbed(JUDGE)
    for killed in (False, True):
        begun, home = time.perf_counter(), world.copy()
        with world.server() as server:
            one, other = (start(JUDGE, home, server.base_url, out=name) for name in ("first.jsonl", "out.jsonl"))
            while killed and server.answered < calls / 2 and one.poll() is None:
                time.sleep(0.005)
            if killed:
                one.kill()
            finished, hung = ended(other, server)
            one.communicate()
            lost, wrong = compared(JUDGE, home, expected, finished)
            if not killed:
                wrong += grades(home, "first.jsonl") != grades(home)
            twice = server.paid_twice if not killed else paid_twice(home)  # nothing was in flight at a kill
            name = "two processes: judge" + (", one killed" if killed else "")
            yield row(name, 1 + killed, server, (lost, twice, wrong, int(hung)), begun)


def hostile_replies(world: World, options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
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
        counts = (count - len(said), paid_twice(home), wrong, int(hung))
        yield row(f"hostile replies: judge ({scored:,} scored)", f"{count:,}", server, counts, begun)


def batches(world: World, _: argparse.Namespace) -> Iterator[tuple[str, ...]]:
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
            said = grades(home) or {}
            twice = server.paid_twice + paid_twice(home)
            counts = (BATCHED - len(said), twice, sum(why is not None for _, why in said.values()), 0)
            seconds = f"{time.perf_counter() - begun:.0f}"
            yield f"kill: judge --batch, {model}", str(killer.kills), str(server.paid), *map(str, counts), "0", seconds


PARTS: dict[str, Callable[[World, argparse.Namespace], Iterator[tuple[str, ...]]]] = {
    "kills": kills,
    "disk": disk,
    "clock": clock,
    "two": two,
    "hostile": hostile_replies,
    "batch": batches,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[*PARTS], help=", ".join(PARTS))
    parser.add_argument("--kills", type=int, default=6, help="of each command")
    parser.add_argument("--only", nargs="*", help="commands or optimizers that are killed: audit, mipro; default: all")
    parser.add_argument("--items", type=int, default=1000, help="that are judged")
    parser.add_argument("--hostile", type=int, default=100_000, help="hostile replies")
    parser.add_argument("--size", type=int, default=5_000, help="characters of a hostile text, at most")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        home = make_home(Path(folder), options.items)
        with FakeOpenAI(grader) as server:
            port = int(server.base_url.rsplit(":", 1)[1].split("/")[0])
        world, found = World(Path(folder), home, port, random.Random(0)), list[tuple[str, ...]]()
        for part in options.parts:
            for each in PARTS[part](world, options):
                print(" | ".join(each), flush=True)
                found.append(each)
                options.out.write_text(page(found, load), encoding="utf-8")  # now: a campaign takes hours


def page(found: Sequence[tuple[str, ...]], load: float) -> str:
    """The rows so far as Markdown."""
    about = (__doc__ or "").split("\n\n")[1].replace("``", "`")
    typed = f"`python -m benchmarks.storm {' '.join(sys.argv[1:])}`"
    lines = ["# A fault campaign", "", *about.splitlines(), "", typed, "", *table(HEADER, found), "", measured_on(load)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
