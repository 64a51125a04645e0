"""Measures how time and memory grow with the rows: each verb at n, 2n, 4n and 8n, and the exponent.

``python -m benchmarks.growth [--only VERB ...] [--largest 1.0]``, in the project's root, writes ``growth.md``; a verb
that is not measured keeps its line. Each run is a command of its own. The exponent is the slope of log(CPU seconds
without those of start-up) on log(rows), of the runs that took ten times the start-up, or of the largest two.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.figures import measured_on, table

PAGE = Path(__file__).with_suffix(".md")
FIGURES = Path(__file__).with_suffix(".json")
STEPS = (1, 2, 4, 8)
WORTH_FITTING = 10.0  # times the start-up: below it the exponent is that of imports
TARGET = 1.15
TINY = 200  # rows of the run that start-up is taken from
TINY_COMPILE = 1_200  # of 300 queries: a recorded compile of fewer than 150 has five folds, which takes longer
GRADES = 5
JUDGES = 5
GAMES_PER_QUERY = 50
TIES = 0.1
NOTES = """\
Start-up is imports, for the most part, and one command: 1.6 to 10 CPU s, as others take the cores and caches. Where no
run takes ten times as much, its error moves the exponent of the two largest by .1 and more.

`rank` had 1.50 here at 125,000 to a million games (start-up 5.1 of 6.2 to 13.1 s; a second less of it makes that 1.24).
At 250,000 to two million it is .43, 1.16 and .85 from step to step, 1.01 from the second to the last: no square, and
still below ten times the start-up (7.1 s). `agreement of scores` had 1.17 at 31,250 to 250,000 (start-up 3.6 of 12.8
s).

`compile-judge`, recorded, of 200,000 items: 599 CPU s and 1,750 MB under Python's profiler, 8 times those of 20,000 (75
s). Of these .61 are the cross-validation of calibrators (logistic maps .30, forests of 0.9 .18, predictions .11), .08
reads evidence, .05 makes the page's items. Below 150 queries a compile has five folds (200 items: 40.7 CPU s), so that
its start-up is taken from 1,200 items: 30 CPU s, so that no row above is ten times it, and 1.24 is of its error (a
second less makes that 1.18); from 20,000 to 200,000 it is 1.10 with 30 s of start-up, 1.16 with 36 s under the
profiler. On a busy machine a run had a sixth of a processor (51 CPU s in 305 s).
"""
HEADER = ("verb", *(f"{step if step > 1 else ''}n: s, MB" for step in STEPS), "n", "exponent")


@dataclass(frozen=True, slots=True)
class Case:
    """One verb on files of any size.

    Args:
        rows: How many n are.
        make: Writes files of so many rows into a folder; gives the arguments of ``judgec``.
        tiny: Rows of the run that start-up is taken from: the fewest that are worked on as n are.
    """

    rows: int
    make: Callable[[Path, int], Sequence[str]]
    tiny: int = TINY


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=sorted(CASES), default=list(CASES))
    parser.add_argument("--largest", type=float, default=1.0, help="a factor of n, for a first look")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    known = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    for name in options.only:
        known[name] = measured(CASES[name], options.largest)
        print(line(name, known[name]), flush=True)
    FIGURES.write_text(json.dumps(known, indent=1) + "\n")
    rows = [line(name, known[name]) for name in CASES if name in known]
    about = (
        "Each cell: CPU seconds (user and system) and peak memory of one command, start-up included. The exponent is "
        f"fitted without it; {TARGET} or less is the aim. {JUDGES} judges, {GRADES} grades."
    )
    lines = ["# Growth with the rows", "", "Written by `python -m benchmarks.growth`.", "", about, ""]
    PAGE.write_text("\n".join([*lines, *table(HEADER, rows), "", NOTES, measured_on(load), ""]))


def measured(case: Case, factor: float) -> dict[str, object]:
    """Rows, CPU seconds and megabytes of each step, and of start-up."""
    sizes = [int(case.rows * factor) * step for step in STEPS]
    runs = [used(case, size) for size in (case.tiny, *sizes)]
    return {"rows": sizes, "start_up": runs[0][0], "seconds": [s for s, _ in runs[1:]], "mb": [m for _, m in runs[1:]]}


def used(case: Case, rows: int) -> tuple[float, float]:
    """CPU seconds and peak megabytes of one command."""
    with tempfile.TemporaryDirectory() as folder:
        # Apart, since a child's peak begins with what its parent holds.
        with ProcessPoolExecutor(1, get_context("spawn")) as apart:
            arguments = apart.submit(case.make, Path(folder), rows).result()
        with subprocess.Popen(
            [sys.executable, "-m", "judgec", *arguments], stdout=subprocess.DEVNULL, cwd=folder
        ) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"judgec {' '.join(arguments)} ended with {process.returncode}.")
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def line(name: str, found: Mapping[str, object]) -> tuple[str, ...]:
    sizes, seconds, mb = (found[key] for key in ("rows", "seconds", "mb"))
    assert isinstance(sizes, list)
    assert isinstance(seconds, list)
    assert isinstance(mb, list)
    cells = [f"{s:,.1f}, {m:,.0f}" for s, m in zip(seconds, mb, strict=True)]
    return name, *cells, f"{sizes[0]:,}", f"{exponent(sizes, seconds, float(str(found['start_up']))):.2f}"


def exponent(rows: Sequence[int], seconds: Sequence[float], start_up: float) -> float:
    """The slope of log(seconds - start-up) on log(rows), of the runs above ten times the start-up."""
    long = [(n, s) for n, s in zip(rows, seconds, strict=True) if s >= WORTH_FITTING * start_up]
    n, s = zip(*(long if len(long) > 1 else list(zip(rows, seconds, strict=True))[-2:]), strict=True)
    return float(np.polyfit(np.log(n), np.log(np.maximum(np.array(s) - start_up, 1e-3)), 1)[0])


# ------------------------------------------------------------------------------------------------------- the files


def graded(rows: int, each: int, *, scores: bool = False) -> pd.DataFrame:
    """Rows with a person's grade and five judges', ``each`` of them a query."""
    rng = np.random.default_rng(0)
    people = rng.integers(1, GRADES + 1, size=rows)
    columns: dict[str, object] = {"query_id": [f"q{number}" for number in np.arange(rows) // each], "human": people}
    for judge in range(1, JUDGES + 1):
        noise = rng.normal(scale=0.5 * judge, size=rows)
        said = (people + noise) / GRADES if scores else np.clip(np.rint(people + noise), 1, GRADES).astype(int)
        columns[f"judge_{judge}"] = said
    return pd.DataFrame(columns)


def agreement(folder: Path, rows: int, *, each: int, scores: bool = False) -> Sequence[str]:
    """Five judges beside a person, by cluster."""
    graded(rows, each, scores=scores).to_parquet(folder / "rows.parquet")
    judges = ",".join(f"judge_{judge}" for judge in range(1, JUDGES + 1))
    columns = ["--annotators", "human", "--judges", judges, "--best", str(GRADES), "--cluster", "query_id"]
    return ["agreement", "rows.parquet", *columns, "--json"]


def labelled(folder: Path, rows: int) -> pd.DataFrame:
    """A file of items with grades, four a query."""
    number = np.arange(rows)
    items = pd.DataFrame(
        {
            "item_id": [f"i{n}" for n in number],
            "query_id": [f"q{n}" for n in number // 4],
            "query": [f"What does section {n} of the manual say about part {n % 97}?" for n in number // 4],
            "answer": [
                f"Section {n // 4} says that part {n % 97} is to be checked every {n % 31} days." for n in number
            ],
            "grade": np.random.default_rng(0).integers(1, GRADES + 1, size=rows),
        }
    )
    items.to_json(folder / "labels.jsonl", orient="records", lines=True)
    return items


def labels(folder: Path, rows: int) -> Sequence[str]:
    labelled(folder, rows)
    return ["labels", "labels.jsonl", "--json"]


def recorded(folder: Path, rows: int) -> Sequence[str]:
    """Labels and the verdicts of three judges."""
    items, rng = labelled(folder, rows), np.random.default_rng(1)
    said = [
        items[["item_id"]].assign(
            judge=f"m{judge}",
            grade=np.clip(np.rint(items["grade"] + rng.normal(scale=0.7 * judge, size=rows)), 1, GRADES).astype(int),
        )
        for judge in (1, 2, 3)
    ]
    pd.concat(said).to_json(folder / "verdicts.jsonl", orient="records", lines=True)
    return ["compile-judge", "labels.jsonl", "--candidate", "recorded:verdicts.jsonl", "--name", "grown", "--json"]


def rank(folder: Path, rows: int) -> Sequence[str]:
    write_games(folder / "games.parquet", rows, 50)
    return ["rank", "games.parquet", "--json"]


CASES: Mapping[str, Case] = {
    "agreement, 10 rows a cluster": Case(62_500, partial(agreement, each=10)),
    "agreement, a cluster a row": Case(31_250, partial(agreement, each=1)),
    "agreement of scores, 10 rows a cluster": Case(125_000, partial(agreement, each=10, scores=True)),
    "labels": Case(75_000, labels),
    "rank": Case(250_000, rank),
    "compile-judge, recorded": Case(2_500, recorded, TINY_COMPILE),
}


def write_games(file: Path, games: int, agents: int) -> None:
    """A file of simulated games of agents of known strength, fifty a query."""
    rng = np.random.default_rng(0)
    strength = rng.normal(size=agents)
    a = rng.integers(agents, size=games)
    b = (a + rng.integers(1, agents, size=games)) % agents
    won = rng.random(games) < 1.0 / (1.0 + np.exp(strength[b] - strength[a]))
    winner = np.where(rng.random(games) < TIES, "tie", np.where(won, "a", "b"))
    names = np.array([f"agent-{number:04d}" for number in range(agents)])
    queries = pa.array([f"q{number}" for number in np.arange(games) // GAMES_PER_QUERY])
    pq.write_table(pa.table({"query_id": queries, "agent_a": names[a], "agent_b": names[b], "winner": winner}), file)


if __name__ == "__main__":
    main()
