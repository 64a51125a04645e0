"""An evaluation as an MLflow run."""

from collections.abc import Sequence
from math import inf
from pathlib import Path

from judgec.connect.tracking.metrics import all_or_headline
from judgec.connect.tracking.runs import TournamentRun
from judgec.labels.rows.items import digest
from judgec.records.estimate import Estimate
from judgec.report.systems_comparison import comparison_metrics
from judgec.tournament.leaderboard_columns import MOST_PAIRED, LeaderboardRow, leaderboard_columns, win_columns
from judgec.tournament.report.evaluation import Evaluation, judge_agreement
from judgec.tournament.report.rates import LENGTHS, RATES, lengths_of
from judgec.tournament.report.tables import FILES

RATED = 6  # agents whose ratings stand on the run of the judge's version
HEADLINE = ("test.tau_b", "test.accept_agreement", "games", "unscored", "flip_rate")  # before the best agents' ratings
SHOWN = 5  # agents whose ratings the tournament's own run shows: with these, 15 metrics
ARTIFACTS = ("report.html", *(name for name in FILES if name != "report.json"))  # which names the run


def run_of(found: Evaluation, *, folder: Path, started: float, ended: float) -> TournamentRun:
    """The run to log: ratings, Elo, wins and retrieval beside the judge's own agreement with experts.

    Args:
        found: The outcome.
        folder: Where its files are.
        started: POSIX seconds.
        ended: POSIX seconds.
    """
    card, board = found.card, found.board
    version = f"{card.version:04d}"
    rows = board.rows()
    best = sorted(rows, key=lambda row: -(row.rated.value if row.rated.value is not None else -inf))[:RATED]
    numbers = {f"rating.{row.agent}": row.rated.value for row in best} | {f"elo.{row.agent}": row.elo for row in best}
    tested = {f"test.{name}": one for name, one in judge_agreement(card, found.unmeasured).items()}
    metrics = {**tested, **_metrics(found)}
    return TournamentRun(
        name=f"{folder.name} by {card.name} {version}",
        params={"program": card.name, "version": version, "agents": len(board.agents), "games": len(found.played)},
        metrics=metrics,
        headline=all_or_headline(metrics, (*HEADLINE, *_of_agents(best[:SHOWN]))),
        artifacts={name: folder / name for name in ARTIFACTS if (folder / name).is_file()},
        tags={"judgec.judge": f"{card.name}@{card.version}", "judgec.unproven": str(bool(found.unproven)).lower()},
        started=started,
        ended=ended,
        description="\n\n".join([*([found.unproven] if found.unproven else []), *board.notes, *found.notes]),
        judge=card.name,
        judge_version=card.version,
        version_tags=leaderboard_columns(rows).tags(rows if len(rows) <= MOST_PAIRED else best),
        rated={name: value for name, value in numbers.items() if value is not None},
        played=_played(found),
    )


def _played(found: Evaluation) -> str:
    """Digest of the queries that were played and of the agents, in any order."""
    queries = sorted({game.game.query_id for game in found.played})
    return digest([queries, sorted(found.board.agents)])


def _of_agents(best: Sequence[LeaderboardRow]) -> list[str]:
    """Names of the metrics of the best agents; the fewer agents, the more there is room for of each."""
    agents = [row.agent for row in best]
    names = [f"{kind}.{agent}" for agent in agents for kind in ("rating", "elo")]
    return [*names, *(f"rating.{agent}.{end}" for agent in agents for end in ("low", "high"))]


def _metrics(found: Evaluation) -> dict[str, Estimate | float]:
    board, rows = found.board, found.board.rows()
    metrics: dict[str, Estimate | float] = {"games": float(board.games), "unscored": float(board.unscored)}
    metrics |= leaderboard_columns(rows).metrics(rows)
    if len(rows) <= MOST_PAIRED:  # of more, win_percent.csv has them
        metrics |= win_columns(rows).metrics(rows)
    if found.retrieval is not None:
        metrics |= found.retrieval.columns().metrics(list(found.retrieval.by_agent.items()))
    if found.corrected is not None:
        metrics |= RATES.metrics(found.corrected.rates)
    if found.systems is not None:
        metrics |= comparison_metrics(found.systems)
    if found.lengths is not None:
        metrics |= {**LENGTHS.metrics(lengths_of(found.lengths)), "length_effect": found.lengths.length_effect}
    if found.flip_rate is not None:
        metrics["flip_rate"] = found.flip_rate
    return metrics
