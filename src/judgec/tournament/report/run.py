"""An evaluation as an MLflow run."""

from pathlib import Path

from judgec.records.estimate import Estimate
from judgec.tournament.leaderboard_columns import leaderboard_columns, win_columns
from judgec.tournament.report.evaluation import Evaluation, judge_agreement
from judgec.tournament.report.rates import LENGTHS, RATES, lengths_of, rates_of
from judgec.tournament.report.tables import FILES
from judgec.tracking.runs import TournamentRun

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
    tested = {f"test.{name}": one for name, one in judge_agreement(card).items()}
    rows = board.rows()
    return TournamentRun(
        name=f"{folder.name} by {card.name} {version}",
        params={"program": card.name, "version": version, "agents": len(board.agents), "games": len(found.played)},
        metrics={**tested, **_metrics(found)},
        artifacts={name: folder / name for name in ARTIFACTS if (folder / name).is_file()},
        tags={"judgec.judge": f"{card.name}@{card.version}", "judgec.unproven": str(bool(found.unproven)).lower()},
        started=started,
        ended=ended,
        description="\n\n".join([*([found.unproven] if found.unproven else []), *board.notes, *found.notes]),
        judge=card.name,
        judge_version=card.version,
        version_tags=leaderboard_columns(rows).tags(rows),
    )


def _metrics(found: Evaluation) -> dict[str, Estimate | float]:
    board, rows = found.board, found.board.rows()
    metrics: dict[str, Estimate | float] = {"games": float(board.games), "unscored": float(board.unscored)}
    metrics |= leaderboard_columns(rows).metrics(rows) | win_columns(rows).metrics(rows)
    if found.retrieval is not None:
        metrics |= found.retrieval.columns().metrics(list(found.retrieval.by_agent.items()))
    if found.corrected is not None:
        metrics |= RATES.metrics(rates_of(found.corrected.rates))
    if found.lengths is not None:
        metrics |= {**LENGTHS.metrics(lengths_of(found.lengths)), "length_effect": found.lengths.length_effect}
    if found.flip_rate is not None:
        metrics["flip_rate"] = found.flip_rate
    return metrics
