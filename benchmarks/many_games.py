"""Rates very many games: seconds of processor and clock, and peak memory, of ``judgec rank``.

``python -m benchmarks.many_games [--games 1000000 10000000] [--agents 50]``: simulated games of agents of known
strength, fifty a query, in a Parquet file; the order of the ratings is compared with the strengths. The command runs
as a process of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import stats

from benchmarks.figures import measured_on, table
from judgec.records.label import FloatArray

PER_QUERY = 50
TIES = 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--agents", type=int, default=50)
    options = parser.parse_args()
    rows, load = [], os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        for games in options.games:
            file = Path(folder) / f"{games}.parquet"
            truth = write_games(file, games, options.agents)
            rows.append((f"{games:,}", str(options.agents), *ranked(file, truth)))
            file.unlink()
    head = ("games", "agents", "CPU s", "seconds", "peak MB", "tau-b with the strengths")
    print("\n".join([*table(head, rows), "", measured_on(load)]))


def write_games(file: Path, games: int, agents: int) -> FloatArray:
    """A file of simulated games; the agents' strengths."""
    rng = np.random.default_rng(0)
    strength = rng.normal(size=agents)
    a = rng.integers(agents, size=games)
    b = (a + rng.integers(1, agents, size=games)) % agents
    won = rng.random(games) < 1.0 / (1.0 + np.exp(strength[b] - strength[a]))
    winner = np.where(rng.random(games) < TIES, "tie", np.where(won, "a", "b"))
    names = np.array([f"agent-{number:04d}" for number in range(agents)])
    queries = pa.array([f"q{number}" for number in np.arange(games) // PER_QUERY])
    pq.write_table(pa.table({"query_id": queries, "agent_a": names[a], "agent_b": names[b], "winner": winner}), file)
    return strength


def ranked(file: Path, truth: FloatArray) -> tuple[str, str, str, str]:
    """What rating took, and whether the order is right."""
    begun = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "judgec", "rank", str(file), "--json"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{file}: judgec rank ended with {process.returncode}.")
    rating = {agent: one["rating"] for agent, one in json.loads(printed)["bradley_terry"].items()}
    known = [rating[name] for name in sorted(rating)]
    tau = float(stats.kendalltau(known, truth).statistic)
    return (
        f"{usage.ru_utime + usage.ru_stime:,.0f}",
        f"{time.perf_counter() - begun:,.0f}",
        f"{usage.ru_maxrss / 1024:,.0f}",
        f"{tau:.3f}",
    )


if __name__ == "__main__":
    main()
