"""What few human votes make of a judge's league (``rank --experts``): error and coverage, simulated and recorded.

    python -m benchmarks.votes [--leagues 300] [--data ../shared/data]

The tables are printed and written into benchmarks/README.md. With ``--data`` the verdicts of real judges on MT-bench
and PandaLM's pairs are corrected by samples of the human votes there, all of which are the truth.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.rating import put, table
from judgec.records.game import SCORE_OF_A, Game, Games, Winner
from judgec.records.label import FloatArray
from judgec.stats.rating.bradley_terry import ELO_PER_LOGIT, fit_near, win_matrix
from judgec.stats.rating.corrected_ratings import SPREAD, CorrectedRatings, corrected_ratings
from judgec.stats.rating.ratings import MEAN_RATING

START, END = "<!-- votes: start -->", "<!-- votes: end -->"
AGENTS, QUERIES = 6, 60
MANY = 20_000  # queries whose verdicts are the truth
BIASES = {  # of the judge's score of each agent, in the units of a quality of about 3
    "none": np.zeros(AGENTS),
    "flatters the last": np.array([0, 0, 0, 0, 0, 1.5]),
    "flatters every other": np.array([-0.8, 0.8, -0.8, 0.8, -0.8, 0.8]),
}
VOTES = (50, 100, 200)
SAMPLES = 200  # of human votes, from recorded games


@dataclass(frozen=True, slots=True)
class Outcome:
    """One league: errors of three ratings, shape (n_agents,), and the shares of intervals that hold the truth."""

    judge: FloatArray
    votes: FloatArray
    corrected: FloatArray
    covered: float
    weight: float


def league(bias: FloatArray, queries: int, seed: int) -> tuple[Games, FloatArray]:
    """A judge's games and people's verdicts on all of them: both see quality, form and luck, and have their own."""
    rng = np.random.default_rng(seed)
    strength = np.linspace(0.8, -0.8, AGENTS)
    pairs = np.array(list(combinations(range(AGENTS), 2)))
    query, (a, b) = np.repeat(np.arange(queries), len(pairs)), np.tile(pairs.T, queries)
    form = strength + rng.normal(0, 0.8, (queries, AGENTS))
    seen = 1.5 * (form[query, a] - form[query, b]) + 0.7 * rng.logistic(size=len(a))
    people, judge = (seen + extra + 0.6 * rng.logistic(size=len(a)) for extra in (0.0, bias[a] - bias[b]))
    score, votes = (np.where(np.abs(one) < 0.25, 0.5, one > 0) for one in (judge, people))
    names = tuple(f"m{number}" for number in range(AGENTS))
    return Games(names, tuple(map(str, range(queries))), a, b, query, score), votes


def ratings(games: Games, points: FloatArray) -> FloatArray:
    """Of all games, in Elo points around 0."""
    whole = Games(games.agents, games.queries, games.a, games.b, games.query, points)
    scored = whole.only(whole.scored)
    found: FloatArray = ELO_PER_LOGIT * fit_near(win_matrix(scored)[None], SPREAD)[0]
    return found


def outcome(games: Games, people: FloatArray, truth: FloatArray, votes: int, seed: int) -> Outcome:
    """Correct a league by a random sample of people's verdicts."""
    rng = np.random.default_rng(seed)
    kept = rng.choice(np.flatnonzero(~np.isnan(people)), votes, replace=False)
    sample = np.full(len(people), np.nan)
    sample[kept] = people[kept]
    found = corrected_ratings(games, sample)
    values = [
        [one.value - MEAN_RATING for one in row if one.value is not None] for row in (found.voted, found.corrected)
    ]
    return Outcome(
        ratings(games, games.score) - truth,
        np.array(values[0]) - truth,
        np.array(values[1]) - truth,
        _covered(found, truth + MEAN_RATING),
        found.weight,
    )


def _covered(found: CorrectedRatings, truth: FloatArray) -> float:
    pairs = [(one, at) for one, at in zip(found.corrected, truth, strict=True) if one.low is not None]
    return float(np.mean([one.low <= at <= one.high for one, at in pairs])) if pairs else float("nan")


def simulated(bias: str, truth: FloatArray, votes: int, seed: int) -> Outcome:
    """A league of its own."""
    games, people = league(BIASES[bias], QUERIES, seed)
    return outcome(games, people, truth, votes, seed)


def row(name: str, votes: int, agreement: float, found: Sequence[Outcome]) -> list[str]:
    """Root mean squared errors, coverage, weight."""
    errors = (
        np.sqrt(np.mean(np.square([getattr(one, which) for one in found]))) for which in ("judge", "votes", "corrected")
    )
    covered = np.nanmean([one.covered for one in found])
    weight = np.mean([one.weight for one in found])
    shown = [f"{error:.0f}" for error in errors]
    return [name, f"{agreement:.0%}", f"{votes}", *shown, f"{covered:.1%}", f"{weight:.2f}"]


def recorded(data: Path) -> Iterator[tuple[str, Games, FloatArray]]:
    """Real judges' games, and the mean of people's points on each."""
    verdicts = pd.read_parquet(data / "recorded" / "mtbench_preference.verdicts.parquet")
    told = {name: _winner(said) for name, said in zip(verdicts.item_id, verdicts.preference, strict=True)}
    yield "MT-bench, GPT-4", *_beside(data / "recorded" / "mtbench_preference.jsonl", told)
    lines = (data / "recorded" / "pandalm_judges.jsonl").read_text(encoding="utf-8").splitlines()
    for judge in ("gpt-3.5-turbo", "pandalm-7b"):
        said = {one["item_id"]: _winner(one[judge]) for one in map(json.loads, lines)}
        yield f"PandaLM's pairs, {judge}", *_beside(data / "labels" / "pandalm_preference.jsonl", said)


def _winner(said: str | None) -> Winner | None:
    return next((word for word in SCORE_OF_A if word == said), None)


def _beside(path: Path, told: dict[str, Winner | None]) -> tuple[Games, FloatArray]:
    items: dict[str, dict[str, str]] = {}
    points: dict[str, list[float]] = {}
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        if line["item_id"] in told and line.get("preference") in SCORE_OF_A:
            items[line["item_id"]] = line
            points.setdefault(line["item_id"], []).append(SCORE_OF_A[line["preference"]])
    games = [Game(one["query_id"], one["agent_a"], one["agent_b"], told[name]) for name, one in items.items()]
    return Games.of(games), np.array([np.mean(points[name]) for name in items])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--leagues", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=Path, help="folder of recorded and labels")
    options = parser.parse_args()
    head = ["judge", "agrees", "votes", "error: judge alone", "votes alone", "corrected"]
    head += ["intervals that hold", "weight"]
    rows = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for name, bias in BIASES.items():
            games, people = league(bias, MANY, 0)
            truth = ratings(games, people)
            agreement = 1.0 - float(np.mean(np.abs(games.score - people)))
            for votes in VOTES:
                run = partial(simulated, name, truth, votes)
                rows.append(row(name, votes, agreement, list(pool.map(run, range(1, options.leagues + 1)))))
    size = f"{AGENTS} agents, {QUERIES} queries, {QUERIES * AGENTS * (AGENTS - 1) // 2} games"
    text = table(
        f"{options.leagues} simulated leagues a row: {size}. Errors are root mean squares over agents, in Elo points, "
        "against the ratings that people give to all agents on 20,000 queries.",
        head,
        rows,
    )
    if options.data is not None:
        rows = []
        for name, games, people in recorded(options.data):
            truth, known = ratings(games, people), ~np.isnan(games.score)
            agreement = 1.0 - float(np.mean(np.abs(games.score - people)[known]))
            found = {n: [outcome(games, people, truth, n, seed) for seed in range(SAMPLES)] for n in VOTES}
            rows += [row(f"{name}, {len(games.a)} games", n, agreement, found[n]) for n in VOTES]
        text += "\n" + table(
            f"Recorded verdicts of real judges, {SAMPLES} samples of human votes a row; the truth is what all human "
            "votes say of the same games, so that intervals, which are meant for further queries, hold more often than "
            "95 %.",
            head,
            rows,
        )
    print(text)
    put(text, START, END)


if __name__ == "__main__":
    main()
