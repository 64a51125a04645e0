"""A probe as an MLflow run."""

from pathlib import Path

from judgec.probes.report.summary import Summary
from judgec.records.estimate import Estimate
from judgec.tracking.runs import ProbeRun

ARTIFACTS = ("report.html", "junit.xml", "results.jsonl", "questions.jsonl")


def run_of(summary: Summary, *, folder: Path, started: float, ended: float) -> ProbeRun:
    """The run to log: the failure rate of every scenario, system and data set.

    Args:
        summary: The outcome.
        folder: Where its files are.
        started: POSIX seconds.
        ended: POSIX seconds.
    """
    sets = tuple(dict.fromkeys(cell.data_set for cell in summary.cells))
    metrics: dict[str, Estimate | float] = {}
    for cell in summary.cells:
        place = f"{cell.scenario}.{cell.system}" + (f".{cell.data_set}" if len(sets) > 1 else "")
        metrics[f"failure_rate.{place}"] = cell.failure_rate
        metrics[f"n.{place}"] = float(cell.n)
        metrics[f"errors.{place}"] = float(cell.errors)
        metrics[f"unscored.{place}"] = float(cell.unscored)
        for name, count in cell.components.items():
            metrics[f"lost_in.{name}.{place}"] = float(count)
    return ProbeRun(
        name=folder.name,
        params={
            "scenarios": ",".join(summary.scenarios),
            "systems": ",".join(summary.systems),
            "data_sets": ",".join(sets),
            "judge": summary.judge,
            "writer": summary.writer,
        },
        metrics=metrics,
        artifacts={name: folder / name for name in ARTIFACTS if (folder / name).is_file()},
        started=started,
        ended=ended,
        description="\n\n".join(summary.notes),
    )
