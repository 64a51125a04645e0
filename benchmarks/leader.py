"""Where ``--adaptive --until leader`` stops: games saved and false leaders, on simulated leagues.

    python -m benchmarks.leader [--leagues 1000] [--jobs 2] [--data ../shared/data]

The tables are printed and written into benchmarks/README.md. A thousand leagues take half an hour on two cores. With
``--data`` the leagues of recorded games there are replayed too: GPT-4's verdicts on MT-bench and RAGElo's example.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.rating import Run, put, table
from judgec.records.game import Game, Games
from judgec.stats.rating.bradley_terry import ELO_PER_LOGIT
from judgec.stats.rating.ratings import bradley_terry
from judgec.tournament.adaptive import propose
from judgec.tournament.files.games import read_games
from judgec.tournament.schedule import Fixtures

START, END = "<!-- leader: start -->", "<!-- leader: end -->"
AGENTS = 6
MOST_FALSE = 0.065


@dataclass(frozen=True, slots=True)
class World:
    """How leagues are drawn: strengths N(0, ``spread``) logits, ``queries`` queries, stop at ``resolution`` Elo."""

    spread: float
    queries: int
    resolution: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """One league: whether it stopped early, the share of games played, how many Elo its leader lacks to the best."""

    stopped: bool
    played: float
    behind: float


SEEDS = 50  # orders in which a recorded league is replayed
WORLDS = (World(0.6, 200, 50.0), World(0.15, 60, 50.0), World(0.6, 200, 20.0), World(0.15, 60, 20.0))


def play(world: World, seed: int) -> Outcome:
    """Play a league until its leader is known or no game is left."""
    run = Run(seed, AGENTS, world.queries, world.spread)
    asked, last = run.adaptive(world.resolution, "leader")
    leader = run.all.agents.index(last.neighbours[0].better)
    behind = ELO_PER_LOGIT * float(run.truth.max() - run.truth[leader])
    return Outcome(last.reason == "settled", len(asked) / len(run.all.a), behind)


def row(world: World, found: Sequence[Outcome]) -> list[str]:
    """A row of the table: shares with Clopper-Pearson limits."""
    n, stopped = len(found), [one for one in found if one.stopped]
    false = sum(one.behind > world.resolution for one in stopped)
    other = sum(one.behind > 0 for one in stopped)
    upper = stats.binomtest(false, n).proportion_ci(0.95, "exact").high
    saved = np.array([1.0 - one.played for one in found])
    half = 1.96 * saved.std(ddof=1) / np.sqrt(n)
    return [
        f"{world.spread:g}",
        f"{world.queries}",
        f"{world.resolution:.0f}",
        f"{len(stopped)} of {n}",
        f"{saved.mean():.0%} [{saved.mean() - half:.0%}, {saved.mean() + half:.0%}]",
        f"{np.median([one.played for one in stopped]):.0%}" if stopped else "-",
        f"{false} of {n}, at most {upper:.1%}{'' if upper <= MOST_FALSE else ' (AIM MISSED)'}",
        f"{other}",
    ]


def recorded(data: Path) -> Iterator[tuple[str, Games]]:
    """Leagues of recorded games, one game a pair and query."""
    verdicts = pd.read_parquet(data / "recorded" / "mtbench_preference.verdicts.parquet")
    told = dict(zip(verdicts.item_id, verdicts.preference, strict=True))
    lines = (data / "recorded" / "mtbench_preference.jsonl").read_text(encoding="utf-8").splitlines()
    items = {row["item_id"]: row for row in map(json.loads, lines)}
    yield (
        "MT-bench, GPT-4's verdicts",
        Games.of(
            (
                Game(f"{row['query_id']}/{row['group']}", row["agent_a"], row["agent_b"], told[item_id])
                for item_id, row in items.items()
                if told.get(item_id) in ("a", "b", "tie")
            )
        ),
    )
    yield "RAGElo's example", read_games(str(data / "ragelo_example" / "pairwise_answers_evaluations.csv"))


def replay(games: Games, resolution: float, seed: int) -> Outcome:
    """A recorded league, asked one batch at a time; the truth is the rating of all of its games."""
    open_ = np.zeros((len(games.queries), len(games.agents), len(games.agents)), dtype=bool)
    low, high = np.minimum(games.a, games.b), np.maximum(games.a, games.b)
    open_[games.query, low, high] = True
    place = {cell: row for row, cell in enumerate(zip(games.query.tolist(), low.tolist(), high.tolist(), strict=True))}
    query = {name: code for code, name in enumerate(games.queries)}
    agent = {name: code for code, name in enumerate(games.agents)}
    rows: list[int] = []
    while True:
        kept = np.array(rows, dtype=np.int64)
        columns = (games.a[kept], games.b[kept], games.query[kept], games.score[kept])
        found = propose(
            Fixtures(games.agents, games.queries, open_),
            Games(games.agents, games.queries, *columns),
            until="leader",
            resolution=resolution,
            seed=seed,
        )
        if not found.pairings:
            break
        for pairing in found.pairings:
            pair = sorted((agent[pairing.agent_a], agent[pairing.agent_b]))
            rows.append(place[query[pairing.query_id], pair[0], pair[1]])
    rating = bradley_terry(games, resamples=0).rating
    leader = games.agents.index(found.neighbours[0].better)
    return Outcome(found.reason == "settled", len(rows) / len(place), float(rating.max() - rating[leader]))


def replayed(data: Path) -> str:
    """The table of recorded leagues."""
    rows = []
    for name, games in recorded(data):
        shape = f"{name}: {len(games.agents)} agents, {len(games.queries)} queries"
        for resolution in (20.0, 50.0, 100.0):
            found = [replay(games, resolution, seed) for seed in range(SEEDS)]
            stopped = [one for one in found if one.stopped]
            saved = f"{1.0 - np.mean([one.played for one in found]):.0%}"
            false = f"{sum(one.behind > resolution for one in stopped)} of {SEEDS}"
            rows.append([shape, f"{resolution:.0f}", f"{len(stopped)} of {SEEDS}", saved, false])
    title = (
        f"Recorded games, asked in {SEEDS} orders; a false leader is one that the rating of all games puts more "
        "than the resolution below its first."
    )
    return table(title, ["league", "resolution, Elo", "stopped early", "games saved", "false leaders"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--leagues", type=int, default=1000)
    parser.add_argument("--worlds", type=int, default=len(WORLDS), help="only the first rows of the table")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=Path, help="folder of recorded and ragelo_example")
    options = parser.parse_args()
    rows = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for world in WORLDS[: options.worlds]:
            found = list(pool.map(partial(play, world), range(options.leagues), chunksize=10))
            rows.append(row(world, found))
            print(rows[-1], flush=True)
    title = (
        f"`--adaptive --until leader`: {options.leagues:,} leagues of {AGENTS} agents a row, an agent's form by query "
        "N(0, .5) logits. A false leader is more than the resolution worse than the best when it stops; the "
        f"upper end of the 95 % Clopper-Pearson interval may be {MOST_FALSE:.1%}. A leader that is not the best, but "
        "within the resolution of it, is what the resolution allows."
    )
    head = [
        *("strengths, sd", "queries", "resolution, Elo", "stopped early", "games saved, all leagues"),
        *("games played where it stopped, median", "false leaders", "leaders that are not the best"),
    ]
    text = table(title, head, rows)
    if options.data is not None:
        text += f"\n{replayed(options.data)}"
    print(text)
    put(text, START, END)


if __name__ == "__main__":
    main()
