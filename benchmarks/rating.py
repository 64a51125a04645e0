"""Ratings against evalica and RAGElo; every ratio is from one run.

    python -m benchmarks.rating [--ragelo-python PATH]

``--ragelo-python`` is the interpreter of an environment with ragelo 0.7.0; without it that row is left out. The tables
are printed and written into benchmarks/README.md.
"""

import argparse
import json
import subprocess
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import median

import evalica
import numpy as np

from benchmarks.figures import all_done, table, write
from judgec.records.game import Games
from judgec.records.label import FloatArray
from judgec.stats.rating.elo import elo
from judgec.stats.rating.pairwise import standings
from judgec.stats.rating.ratings import bradley_terry
from judgec.stats.rating.win_table import win_table

ROUNDS = 5  # medians of
WINNERS = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
# Only RAGElo's own loop is timed: no reading, no experiment.
RAGELO = """
import json, statistics, sys, time
from ragelo.agent_rankers.elo_ranker import EloRanker
from ragelo.types.configurations import EloAgentRankerConfig
games, rounds = json.load(sys.stdin)
seconds = []
for _ in range(rounds):
    ranker = EloRanker(EloAgentRankerConfig(tournaments=500, elo_k=32, initial_score=1000))
    ranker.evaluations = games
    begin = time.process_time()
    for _ in range(500):
        ranker.run_tournament()
    seconds.append(time.process_time() - begin)
print(statistics.median(seconds), ranker.total_games)
"""


def league(strengths: FloatArray, n_queries: int, rng: np.random.Generator, query_effect: float = 0.0) -> Games:
    """Every pair meets on every query; a fifth of close games are ties; an agent's form varies by query."""
    n = len(strengths)
    pairs = np.array(list(combinations(range(n), 2)))
    form = strengths + query_effect * rng.standard_normal((n_queries, n))
    query = np.repeat(np.arange(n_queries), len(pairs))
    a, b = np.tile(pairs.T, n_queries)
    p = 1.0 / (1.0 + np.exp(form[query, b] - form[query, a]))
    tied = 0.2 * np.minimum(p, 1.0 - p)
    draw = rng.random(len(p))
    score = np.where(draw < p - tied, 1.0, np.where(draw < p + tied, 0.5, 0.0))
    return Games(tuple(f"{i:02d}" for i in range(n)), tuple(map(str, range(n_queries))), a, b, query, score)


def seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Median CPU seconds of ``work`` after one run to warm up: other programs on the machine do not count."""
    work()
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return median(times)


def titled(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join([title, "", *table(head, rows), ""])


def speed(ragelo_python: str | None) -> str:
    games = league(np.linspace(-0.6, 0.6, 6), 200, np.random.default_rng(0))
    names = games.agents
    columns = (
        [names[i] for i in games.a],
        [names[i] for i in games.b],
        [WINNERS[float(score)] for score in games.score],
    )
    ours = seconds(lambda: elo(games))
    compat = seconds(lambda: elo(games, ragelo_compat=True))

    def evalica_elo() -> None:
        for _ in range(500):
            rated = evalica.elo(*columns, k=32.0, initial=500.0)
        all_done("evalica.elo", rated.scores.nunique(), len(names))

    theirs = seconds(evalica_elo, 3)
    fit = seconds(lambda: bradley_terry(games))

    def evalica_bootstrap() -> None:
        found = evalica.bootstrap(
            evalica.bradley_terry, *columns, n_resamples=1000, bootstrap_method="percentile", random_state=0
        )
        all_done("evalica.bootstrap", int((found.high > found.low).sum()), len(names))

    boot = seconds(evalica_bootstrap, 1)
    rows = [
        ["Elo, 500 tournaments: `evalica.elo` 500 times", _ms(ours), _ms(theirs), f"{theirs / ours:.1f}", "5"],
        ["Bradley-Terry, 1,000 bootstraps: `evalica.bootstrap`", _ms(fit), _ms(boot), f"{boot / fit:.0f}", "50"],
    ]
    if ragelo_python:
        ragelo = _ragelo(ragelo_python, columns, games)
        rows.append(["Elo, 500 tournaments: ragelo 0.7.0", _ms(ours), _ms(ragelo), f"{ragelo / ours:.1f}", "15"])
        label = "Elo with `--ragelo-compat`: ragelo 0.7.0"
        rows.append([label, _ms(compat), _ms(ragelo), f"{ragelo / compat:.1f}", ""])
    title = (
        f"{len(games.a):,} games of {len(names)} agents on {len(games.queries)} queries, CPU time, median of {ROUNDS}."
    )
    if not ragelo_python:
        title += " ragelo is left out: give `--ragelo-python`."
    return titled(title, ["what: compared with", "judgec", "other", "times as fast", "aim"], rows)


def _ragelo(python: str, columns: tuple[list[str], list[str], list[evalica.Winner]], games: Games) -> float:
    words = {1.0: "A", 0.0: "B", 0.5: "C"}
    rows = [["q", a, b, words[float(s)]] for a, b, s in zip(*columns[:2], games.score, strict=True)]
    done = subprocess.run(
        [python, "-c", RAGELO], input=json.dumps([rows, 3]), capture_output=True, text=True, check=True
    )
    median_seconds, played = done.stdout.split()
    all_done("ragelo", int(played), 500 * len(rows))
    return float(median_seconds)


def scale() -> str:
    games = league(np.linspace(-1.0, 1.0, 50), 817, np.random.default_rng(0))
    begin = time.process_time()
    ratings = bradley_terry(games)
    fitted = time.process_time()
    standings(games, ratings)
    win_table(games)
    rows = [
        ["Bradley-Terry, 1,000 bootstraps over queries", f"{fitted - begin:.1f}"],
        ["ranks, significance of 1,225 pairs, win table", f"{time.process_time() - fitted:.1f}"],
    ]
    for tournaments in (1, 500):
        begin = time.process_time()
        elo(games, tournaments=tournaments)
        rows.append([f"Elo, {tournaments} tournament{'s' * (tournaments > 1)}", f"{time.process_time() - begin:.1f}"])
    title = f"{len(games.a):,} games of 50 agents on 817 queries, one run each, seconds of CPU."
    return titled(title, ["what", "CPU seconds"], rows)


def _ms(value: float) -> str:
    return f"{1e3 * value:,.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ragelo-python", help="interpreter of an environment with ragelo 0.7.0")
    options = parser.parse_args()
    text = "\n".join([speed(options.ragelo_python), scale()])
    print(text)
    write("rating", text)


if __name__ == "__main__":
    main()
