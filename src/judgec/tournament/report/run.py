"""An evaluation as an MLflow run."""

from math import isnan
from pathlib import Path

from judgec.records.estimate import Estimate
from judgec.tournament.report.evaluation import Evaluation, judge_agreement
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
    tags = {
        **{f"rating.{agent}": f"{board.ratings.rating[i]:.1f}" for i, agent in enumerate(board.agents)},
        **{f"elo.{agent}": f"{board.elo.rating[i]:.1f}" for i, agent in enumerate(board.agents)},
    }
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
        version_tags={name: text for name, text in tags.items() if text != "nan"},
    )


def _metrics(found: Evaluation) -> dict[str, Estimate | float]:
    board = found.board
    metrics: dict[str, Estimate | float] = {"games": float(board.games), "unscored": float(board.unscored)}
    for i, agent in enumerate(board.agents):
        low, high = (None if isnan(x) else float(x) for x in (board.ratings.low[i], board.ratings.high[i]))
        rating = float(board.ratings.rating[i])
        note = "no scored game" if isnan(rating) else ""
        metrics[f"rating.{agent}"] = Estimate(
            value=None if note else rating, low=low, high=high, note=note, n=board.games
        )
        metrics[f"elo.{agent}"] = float(board.elo.rating[i])
        metrics[f"average_win_percent.{agent}"] = float(board.wins.average[i])
        for j, other in enumerate(board.agents):
            if i != j:
                metrics[f"win_percent.{agent}.over.{other}"] = float(board.wins.win_percent[i, j])
    if found.retrieval is not None:
        for agent, row in found.retrieval.by_agent.items():
            metrics |= {f"retrieval.{agent}.{name}": one for name, one in row.items()}
    if found.corrected is not None:
        rates = found.corrected.rates
        for i, agent in enumerate(rates.agents):
            metrics |= {f"win_rate.raw.{agent}": rates.raw[i], f"win_rate.corrected.{agent}": rates.corrected[i]}
    if found.lengths is not None:
        lengths = found.lengths
        metrics |= {f"length_controlled.{agent}": float(lengths.rating[i]) for i, agent in enumerate(lengths.agents)}
        metrics["length_effect"] = lengths.length_effect
    if found.flip_rate is not None:
        metrics["flip_rate"] = found.flip_rate
    return metrics
