"""A probe as an MLflow run."""

from pathlib import Path

from judgec.probes.report.summary import Cell, Summary, cell_columns
from judgec.tracking.runs import ProbeRun

ARTIFACTS = ("report.html", "junit.xml", "results.jsonl", "questions.jsonl", "repeats.jsonl")


def _flaky(summary: Summary) -> dict[str, float]:
    """The share of questions whose verdict changed, where each was asked several times."""
    if summary.flakiness is None or (changed := summary.flakiness.shares[0].changed).value is None:
        return {}
    bounds = {"low": changed.low, "high": changed.high}
    return {
        "verdict_changes": changed.value,
        **{f"verdict_changes.{k}": value for k, value in bounds.items() if value is not None},
    }


def run_of(summary: Summary, *, folder: Path, started: float, ended: float) -> ProbeRun:
    """The run to log: the failure rate of every scenario, system and data set.

    Args:
        summary: The outcome.
        folder: Where its files are.
        started: POSIX seconds.
        ended: POSIX seconds.
    """
    sets = tuple(dict.fromkeys(cell.data_set for cell in summary.cells))

    def place(cell: Cell) -> str:
        return f"{cell.scenario}.{cell.system}" + (f".{cell.data_set}" if len(sets) > 1 else "")

    return ProbeRun(
        name=folder.name,
        params={
            "scenarios": ",".join(summary.scenarios),
            "systems": ",".join(summary.systems),
            "data_sets": ",".join(sets),
            "judge": summary.judge,
            "writer": summary.writer,
        },
        metrics=cell_columns(place).metrics(summary.cells) | _flaky(summary),
        artifacts={name: folder / name for name in ARTIFACTS if (folder / name).is_file()},
        started=started,
        ended=ended,
        description="\n\n".join(summary.notes),
    )
