"""Plays an adaptive tournament of very many agents: processor seconds, memory, and the size of what it leaves.

``python -m benchmarks.many_agents [--agents 100 1000] [--games 40000] [--queries 40]``: questions on invented sensors
(``trainsets/sensors``) and agents of known skill. An agent answers with the reference, in words of its own, or with
another question's reference where the question is too hard for it. ``judgec evaluate --adaptive`` plays the answers
with a judge without a language model, compiled first; the order of the ratings is compared with the skills. The
command runs as a process of its own. *run MB* is what MLflow's folder grows by.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.figures import measured_on, table

LABELS = Path("trainsets/sensors/labels.jsonl")
KEPT = ("query_id", "query", "reference")
OPENINGS = ("", "It is ", "The data sheet says ", "According to the manual: ", "In short, ")
HARD = 0.5  # spread of what a question asks of an agent, in the unit of the skills
HEADER = ("agents", "queries", "games", "CPU s", "seconds", "peak MB", "tau-b with the skills", "page MB", "run MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--games", type=int, default=40_000, help="at most")
    parser.add_argument("--queries", type=int, default=40)
    options = parser.parse_args()
    rows, load = [], os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        run([*["compile-judge", "--lm", "embedded", "--name", "sensors", "--home"], folder, str(LABELS)])
        for agents in options.agents:
            skill = write_league(home, agents, options.queries)
            rows.append((f"{agents:,}", f"{options.queries}", *played(home, skill, options.games)))
            print("\n".join([*table(HEADER, rows), "", measured_on(load)]), flush=True)


def write_league(home: Path, agents: int, queries: int) -> dict[str, float]:
    """Files of questions and answers; the skill of each agent."""
    rng = np.random.default_rng(0)
    labelled = map(json.loads, LABELS.read_text(encoding="utf-8").splitlines())
    asked = list({one["query_id"]: {name: one[name] for name in KEPT} for one in labelled}.values())[:queries]
    skill = {f"agent-{number:04d}": float(value) for number, value in enumerate(rng.normal(size=agents))}
    hard = rng.normal(scale=HARD, size=len(asked))
    with (home / "queries.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in asked)
    with (home / "answers.jsonl").open("w", encoding="utf-8") as file:
        for agent, value in skill.items():
            right = rng.random(len(asked)) < 1.0 / (1.0 + np.exp(hard - value))
            for place, one in enumerate(asked):
                known = asked[place if right[place] else int(rng.integers(len(asked)))]["reference"]
                said = f"{OPENINGS[int(rng.integers(len(OPENINGS)))]}{known}"
                file.write(json.dumps({"query_id": one["query_id"], "agent": agent, "answer": said}) + "\n")
    return skill


def played(home: Path, skill: dict[str, float], games: int) -> tuple[str, ...]:
    """What the tournament took, and whether the order is right."""
    typed = ["evaluate", "--adaptive", "--unproven", "--judge", "sensors@latest", "--json"]
    typed += ["--games", str(games), "--home", str(home), "--out", str(home / "board")]
    typed += ["--queries", str(home / "queries.jsonl"), "--answers", str(home / "answers.jsonl")]
    before, begun = size_of(home / "mlruns"), time.perf_counter()
    usage = run(typed)
    seconds = time.perf_counter() - begun
    report = json.loads((home / "board" / "report.json").read_text(encoding="utf-8"))
    rating = [report["bradley_terry"][name]["rating"] for name in skill]
    tau = float(stats.kendalltau(rating, list(skill.values())).statistic)
    return (
        f"{report['games']:,}",
        f"{usage.ru_utime + usage.ru_stime:,.0f}",
        f"{seconds:,.0f}",
        f"{usage.ru_maxrss / 1024:,.0f}",
        f"{tau:.3f}",
        f"{(home / 'board' / 'report.html').stat().st_size / 2**20:.1f}",
        f"{(size_of(home / 'mlruns') - before) / 2**20:.1f}",
    )


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def run(typed: list[str]) -> resource.struct_rusage:
    """``judgec`` in a process of its own; what it took."""
    with subprocess.Popen([sys.executable, "-m", "judgec", *typed], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"judgec {' '.join(typed)} ended with {process.returncode}.")
    return usage


if __name__ == "__main__":
    main()
