"""Ratings against evalica and RAGElo, and adaptive against random schedules; every ratio is from one run.

    python benchmarks/rating.py [--ragelo-python PATH] [--leagues 100]

``--ragelo-python`` is the interpreter of an environment with ragelo 0.7.0; without it that row is left out.
"""

import argparse
import json
import subprocess
import time
from collections.abc import Callable
from itertools import combinations
from statistics import median

import evalica
import numpy as np
from scipy import stats

from judgec.records.game import Games
from judgec.records.label import FloatArray
from judgec.stats.rating.elo import elo
from judgec.stats.rating.pairwise import standings
from judgec.stats.rating.ratings import bradley_terry
from judgec.stats.rating.win_table import win_table
from judgec.tournament.adaptive import propose
from judgec.tournament.schedule import Fixtures

ROUNDS = 5  # medians of
SHARES = (0.25, 0.5, 0.75)
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
    begin = time.perf_counter()
    for _ in range(500):
        ranker.run_tournament()
    seconds.append(time.perf_counter() - begin)
print(statistics.median(seconds))
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
    """Median time of ``work`` after one run to warm up."""
    work()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return median(times)


def speed(ragelo_python: str | None) -> None:
    games = league(np.linspace(-0.6, 0.6, 6), 200, np.random.default_rng(0))
    names = games.agents
    columns = (
        [names[i] for i in games.a],
        [names[i] for i in games.b],
        [WINNERS[float(score)] for score in games.score],
    )
    print(f"{len(games.a)} games of {len(names)} agents on {len(games.queries)} queries, median of {ROUNDS}")
    ours = seconds(lambda: elo(games))
    compat = seconds(lambda: elo(games, ragelo_compat=True))
    print(f"  Elo, 500 tournaments                {ours * 1e3:9.1f} ms   (ragelo_compat {compat * 1e3:.1f} ms)")

    def evalica_elo() -> None:
        for _ in range(500):
            evalica.elo(*columns, k=32.0, initial=500.0)

    theirs = seconds(evalica_elo, 3)
    print(f"  evalica.elo called 500 times        {theirs * 1e3:9.1f} ms   {theirs / ours:6.1f} x  (aim 5)")
    if ragelo_python:
        words = {1.0: "A", 0.0: "B", 0.5: "C"}
        rows = [["q", a, b, words[float(s)]] for a, b, s in zip(*columns[:2], games.score, strict=True)]
        done = subprocess.run(
            [ragelo_python, "-c", RAGELO],
            input=json.dumps([rows, 3]),
            capture_output=True,
            text=True,
            check=True,
        )
        ragelo = float(done.stdout)
        print(
            f"  ragelo 0.7.0's loop, 500 tournaments{ragelo * 1e3:9.1f} ms   {ragelo / ours:6.1f} x  "
            f"(aim 15; against ragelo_compat {ragelo / compat:.1f} x)"
        )
    else:
        print("  ragelo: left out, give --ragelo-python")
    fit = seconds(lambda: bradley_terry(games))
    print(f"  Bradley-Terry, 1,000 bootstraps     {fit * 1e3:9.1f} ms   (by query)")
    boot = seconds(
        lambda: evalica.bootstrap(
            evalica.bradley_terry, *columns, n_resamples=1000, bootstrap_method="percentile", random_state=0
        ),
        1,
    )
    print(f"  evalica.bootstrap, 1,000            {boot * 1e3:9.1f} ms   {boot / fit:6.1f} x  (aim 50; by game)")


def scale() -> None:
    games = league(np.linspace(-1.0, 1.0, 50), 817, np.random.default_rng(0))
    print(f"{len(games.a):,} games of 50 agents on 817 queries, one run each")
    begin = time.perf_counter()
    ratings = bradley_terry(games)
    fitted = time.perf_counter()
    standings(games, ratings)
    win_table(games)
    done = time.perf_counter()
    print(f"  Bradley-Terry, 1,000 bootstraps     {fitted - begin:9.2f} s")
    print(f"  ranks, 1,225 pairs, win table       {done - fitted:9.2f} s")
    for tournaments in (1, 500):
        begin = time.perf_counter()
        elo(games, tournaments=tournaments)
        print(f"  Elo, {tournaments:3d} tournament(s)             {time.perf_counter() - begin:9.2f} s")


class Run:
    """One simulated league, played adaptively and at random."""

    def __init__(self, seed: int, n_agents: int = 10, n_queries: int = 60) -> None:
        rng = np.random.default_rng(seed)
        self.truth = 0.6 * rng.standard_normal(n_agents)
        self.all = league(self.truth, n_queries, rng, query_effect=0.5)
        total = len(self.all.a)
        self.marks = [round(share * total) for share in SHARES]
        self.random = self._curve(rng.permutation(total))
        adaptive, self.stopped_at = self._adaptive(seed, total)
        self.adaptive = self._curve(adaptive)

    def _curve(self, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[float]:
        """Rating tau against the truth after every 2.5 % of all games, in this order."""
        total = len(self.all.a)
        return [self._tau(order[: round(share * total)]) for share in GRID]

    def _tau(self, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
        kept = np.zeros(len(self.all.a), dtype=bool)
        kept[rows] = True
        rating = bradley_terry(self.all.only(kept), resamples=0).rating
        return float(stats.kendalltau(rating, self.truth).statistic)

    def _adaptive(self, seed: int, total: int) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int | None]:
        """Rows in the order in which the schedule asks for them, and where it would stop."""
        fixtures = Fixtures.of(dict.fromkeys(self.all.queries, self.all.agents))
        row = {
            (self.all.queries[q], frozenset((self.all.agents[a], self.all.agents[b]))): position
            for position, (q, a, b) in enumerate(zip(self.all.query, self.all.a, self.all.b, strict=True))
        }
        asked: list[int] = []
        while len(asked) < total:
            chosen = np.array(asked, dtype=np.int64)
            played = Games(
                self.all.agents,
                self.all.queries,
                self.all.a[chosen],
                self.all.b[chosen],
                self.all.query[chosen],
                self.all.score[chosen],
            )
            proposal = propose(fixtures, played, seed=seed)
            if not proposal.pairings:
                return chosen, len(asked)
            asked += [row[p.query_id, frozenset((p.agent_a, p.agent_b))] for p in proposal.pairings]
        return np.array(asked, dtype=np.int64), None


GRID = np.arange(1, 41) / 40


def adaptive(leagues: int) -> None:
    begin = time.perf_counter()
    runs = [Run(seed) for seed in range(leagues)]
    chance = np.array([run.random for run in runs])
    chosen = np.array([run.adaptive for run in runs])
    print(
        f"{leagues} leagues of 10 agents (strengths N(0, .6) logits, form by query N(0, .5)), 60 queries, "
        f"2,700 games; {time.perf_counter() - begin:.0f} s"
    )
    print("  rating tau against the true strengths, mean [95 % interval over leagues]")
    for share in SHARES:
        at = int(np.argmin(np.abs(GRID - share)))
        gain = chosen[:, at] - chance[:, at]
        print(
            f"  {share:4.0%} of games   random {_mean(chance[:, at])}   adaptive {_mean(chosen[:, at])}   "
            f"gain {_mean(gain)}"
        )
    rng = np.random.default_rng(0)
    draws = rng.integers(leagues, size=(2000, leagues))
    for share in SHARES:
        saved = _saved(chance.mean(axis=0), chosen.mean(axis=0), share)
        resampled = [_saved(chance[draw].mean(axis=0), chosen[draw].mean(axis=0), share) for draw in draws]
        low, high = np.quantile(resampled, [0.025, 0.975])
        print(
            f"  tau of random at {share:4.0%}: adaptive needs {saved:4.0%} fewer games "
            f"[{low:.0%}, {high:.0%}] (aim 20 %)"
        )
    stopped = [run.stopped_at for run in runs if run.stopped_at is not None]
    print(f"  stopped before the last game, order settled: {len(stopped)} of {leagues}")


def _mean(values: FloatArray) -> str:
    half = stats.t.isf(0.025, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():+.3f} [{values.mean() - half:+.3f}, {values.mean() + half:+.3f}]"


def _saved(chance: FloatArray, chosen: FloatArray, share: float) -> float:
    """Share of games saved at the tau that random games reach at ``share``; curves made monotone first."""
    target = float(np.interp(share, GRID, np.maximum.accumulate(chance)))
    rising = np.maximum.accumulate(chosen)
    if rising[-1] < target:
        return 0.0
    first = int(np.argmax(rising >= target))
    if first == 0:
        return float(1.0 - GRID[0] / share)
    part = (target - rising[first - 1]) / (rising[first] - rising[first - 1])
    needed = GRID[first - 1] + part * (GRID[first] - GRID[first - 1])
    return float(1.0 - needed / share)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ragelo-python", help="interpreter of an environment with ragelo 0.7.0")
    parser.add_argument("--leagues", type=int, default=100)
    options = parser.parse_args()
    speed(options.ragelo_python)
    scale()
    adaptive(options.leagues)


if __name__ == "__main__":
    main()
