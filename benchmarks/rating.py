"""Ratings against evalica and RAGElo, and adaptive against random schedules; every ratio is from one run.

    python benchmarks/rating.py [--ragelo-python PATH] [--leagues 100]

``--ragelo-python`` is the interpreter of an environment with ragelo 0.7.0; without it that row is left out. The tables
are printed and written into benchmarks/README.md.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median

import evalica
import numpy as np
from scipy import stats

from judgec.records.game import Games
from judgec.records.label import FloatArray
from judgec.stats.rating.bradley_terry import ELO_PER_LOGIT
from judgec.stats.rating.elo import elo
from judgec.stats.rating.pairwise import standings
from judgec.stats.rating.ratings import bradley_terry
from judgec.stats.rating.win_table import win_table
from judgec.tournament.adaptive import Proposal, Until, propose
from judgec.tournament.schedule import Fixtures

ROUNDS = 5  # medians of
SHARES = (0.25, 0.5, 0.75)
GRID = np.arange(1, 41) / 40
RESOLUTIONS = (20.0, 50.0, 100.0)
README = Path(__file__).with_name("README.md")
START, END = "<!-- rating: start -->", "<!-- rating: end -->"
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
    """Median CPU seconds of ``work`` after one run to warm up: other programs on the machine do not count."""
    work()
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return median(times)


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
    return f"{title}\n\n" + "\n".join(lines) + "\n"


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
            evalica.elo(*columns, k=32.0, initial=500.0)

    theirs = seconds(evalica_elo, 3)
    fit = seconds(lambda: bradley_terry(games))
    boot = seconds(
        lambda: evalica.bootstrap(
            evalica.bradley_terry, *columns, n_resamples=1000, bootstrap_method="percentile", random_state=0
        ),
        1,
    )
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
    return table(title, ["what: compared with", "judgec", "other", "times as fast", "aim"], rows)


def _ragelo(python: str, columns: tuple[list[str], list[str], list[evalica.Winner]], games: Games) -> float:
    words = {1.0: "A", 0.0: "B", 0.5: "C"}
    rows = [["q", a, b, words[float(s)]] for a, b, s in zip(*columns[:2], games.score, strict=True)]
    done = subprocess.run(
        [python, "-c", RAGELO], input=json.dumps([rows, 3]), capture_output=True, text=True, check=True
    )
    return float(done.stdout)


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
    return table(title, ["what", "CPU seconds"], rows)


class Run:
    """One simulated league: every result is known beforehand, and games are asked for one batch at a time."""

    def __init__(self, seed: int, n_agents: int, n_queries: int, spread: float = 0.6) -> None:
        rng = np.random.default_rng(seed)
        self.seed = seed
        self.truth = spread * rng.standard_normal(n_agents)
        self.all = league(self.truth, n_queries, rng, query_effect=0.5)
        self.shuffled = rng.permutation(len(self.all.a))

    def curve(self, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[float]:
        """Rating tau against the truth after every 2.5 % of all games, in this order."""
        total = len(self.all.a)
        return [self._tau(order[: round(share * total)]) for share in GRID]

    def _tau(self, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
        kept = np.zeros(len(self.all.a), dtype=bool)
        kept[rows] = True
        rating = bradley_terry(self.all.only(kept), resamples=0).rating
        return float(stats.kendalltau(rating, self.truth).statistic)

    def adaptive(
        self, resolution: float, until: Until = "order"
    ) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], Proposal]:
        """Rows in the order in which the schedule asks for them, and its last word."""
        fixtures = Fixtures.of(dict.fromkeys(self.all.queries, self.all.agents))
        row = {
            (self.all.queries[q], frozenset((self.all.agents[a], self.all.agents[b]))): position
            for position, (q, a, b) in enumerate(zip(self.all.query, self.all.a, self.all.b, strict=True))
        }
        asked: list[int] = []
        while True:
            chosen = np.array(asked, dtype=np.int64)
            played = Games(
                self.all.agents,
                self.all.queries,
                self.all.a[chosen],
                self.all.b[chosen],
                self.all.query[chosen],
                self.all.score[chosen],
            )
            proposal = propose(fixtures, played, until=until, seed=self.seed, resolution=resolution)
            if not proposal.pairings:
                return chosen, proposal
            asked += [row[p.query_id, frozenset((p.agent_a, p.agent_b))] for p in proposal.pairings]

    def false(self, proposal: Proposal, resolution: float) -> bool:
        """Whether a statement about two neighbours is wrong."""
        elo_of = dict(zip(self.all.agents, self.truth * ELO_PER_LOGIT, strict=True))
        gaps = [(pair, elo_of[pair.better] - elo_of[pair.worse]) for pair in proposal.neighbours]
        return any(
            (pair.settled == "separated" and gap < 0) or (pair.settled == "close" and abs(gap) > resolution)
            for pair, gap in gaps
        )


def adaptive(leagues: int) -> str:
    runs = [Run(seed, 10, 60) for seed in range(leagues)]
    chance = np.array([run.curve(run.shuffled) for run in runs])
    chosen = np.array([run.curve(run.adaptive(20.0)[0]) for run in runs])
    rng = np.random.default_rng(0)
    draws = rng.integers(leagues, size=(2000, leagues))
    rows = []
    for share in SHARES:
        at = int(np.argmin(np.abs(GRID - share)))
        saved = _saved(chance.mean(axis=0), chosen.mean(axis=0), share)
        resampled = [_saved(chance[draw].mean(axis=0), chosen[draw].mean(axis=0), share) for draw in draws]
        low, high = np.quantile(resampled, [0.025, 0.975])
        gain = _mean(chosen[:, at] - chance[:, at])
        needs = f"{saved:.0%} [{low:.0%}, {high:.0%}]"
        rows.append([f"{share:.0%}", _mean(chance[:, at]), _mean(chosen[:, at]), gain, needs])
    title = (
        f"`--adaptive`: {leagues} leagues of 10 agents (strengths N(0, .6) logits, an agent's form by query N(0, .5)), "
        "60 queries, 2,700 games. Rating tau against the true strengths, 95 % intervals over leagues; the last column "
        "is how many games fewer adaptive needs for the tau that random games have there (aim 20 %)."
    )
    return table(title, ["share of games", "random", "adaptive", "gain", "fewer games"], rows)


def stopping(leagues: int) -> str:
    rows = []
    for resolution in RESOLUTIONS:
        stopped, shares, false = 0, [], 0
        for seed in range(leagues):
            run = Run(seed, 6, 200)
            asked, last = run.adaptive(resolution)
            false += run.false(last, resolution)
            if last.reason == "settled":
                stopped += 1
                shares.append(len(asked) / len(run.all.a))
        rows.append(
            [
                f"{resolution:.0f}",
                f"{stopped} of {leagues}",
                f"{np.mean(shares):.0%}" if shares else "-",
                f"{false} of {leagues}",
            ]
        )
    title = (
        f"Where `--adaptive` stops: {leagues} leagues of 6 agents, 200 queries, 3,000 games, drawn as above. It stops "
        "when every two neighbours are separated or known to be closer than the resolution, at 95 % for all statements "
        "ever made together."
    )
    head = ["resolution, Elo", "stopped early", "games played by then", "leagues with a false statement"]
    return table(title, head, rows)


def _mean(values: FloatArray) -> str:
    half = stats.t.isf(0.025, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():+.3f} [{values.mean() - half:+.3f}, {values.mean() + half:+.3f}]"


def _ms(value: float) -> str:
    return f"{1e3 * value:,.0f} ms"


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


def put(text: str, start_marker: str, end_marker: str) -> None:
    """Put tables between two markers of the README."""
    whole = README.read_text(encoding="utf-8")
    before, start, rest = whole.partition(start_marker)
    _, end, after = rest.partition(end_marker)
    if not start or not end:
        sys.exit(f"{README}: {start_marker} and {end_marker} are not both there. Put them where the tables belong.")
    README.write_text(f"{before}{start_marker}\n{text}{end_marker}{after}", encoding="utf-8")


def tables(ragelo_python: str | None, leagues: int) -> Iterator[str]:
    yield speed(ragelo_python)
    yield scale()
    yield adaptive(leagues)
    yield stopping(max(1, leagues // 5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ragelo-python", help="interpreter of an environment with ragelo 0.7.0")
    parser.add_argument(
        "--leagues", type=int, default=100, help="of the comparison with random games; the rest take a fifth"
    )
    options = parser.parse_args()
    parts = []
    for part in tables(options.ragelo_python, options.leagues):
        parts.append(part)
        print(part, flush=True)
    put("\n".join(parts), START, END)


if __name__ == "__main__":
    main()
