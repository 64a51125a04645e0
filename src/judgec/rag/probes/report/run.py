"""A probe as an MLflow run, and as test cases for a build server."""

from collections import Counter
from pathlib import Path
from typing import Literal

from judgec.connect.tracking.metrics import all_or_headline
from judgec.connect.tracking.runs import ProbeRun
from judgec.rag.probes.report.summary import Cell, Summary, cell_columns
from judgec.rag.probes.report.totals import Total
from judgec.records.estimate import Estimate
from judgec.records.scenario.outcome import Probed
from judgec.report.junit import TestCase

HEADLINE = ("failure_rate", "failure_rate.low", "failure_rate.high", "n", "errors", "unscored", "verdict_changes")
SYSTEMS = 4  # whose failure rate the run shows; the scenarios that fail most fill the rest of the 15 metrics
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


def _name(total: Total) -> str:
    return "" if total.by == "overall" else f".{total.by}.{total.name}"


def _of_totals(summary: Summary) -> dict[str, Estimate | float]:
    """Of everything that was asked, and by scenario, system and data set, where there are several."""
    metrics: dict[str, Estimate | float] = {}
    several = Counter(total.by for total in summary.totals)
    for total in summary.totals:
        if total.by != "overall" and several[total.by] == 1:
            continue
        counts = {"n": total.n, "errors": total.errors, "unscored": total.unscored}
        metrics[f"failure_rate{_name(total)}"] = total.failure_rate
        metrics |= {f"{kind}{_name(total)}": float(number) for kind, number in counts.items()}
    return metrics


def _parts(summary: Summary) -> list[str]:
    """Names of the failure rates by system and by scenario: of one system or scenario it is that of all."""
    systems, scenarios = (
        [total for total in summary.totals if total.by == kind and len(several) > 1]
        for kind, several in (("system", summary.systems), ("scenario", summary.scenarios))
    )
    worst = sorted(scenarios, key=lambda total: -(total.failure_rate.value or 0.0))
    return [f"failure_rate{_name(total)}" for total in (*systems[:SYSTEMS], *worst)]


def run_of(summary: Summary, *, folder: Path, started: float, ended: float) -> ProbeRun:
    """The run to log: the failure rate of all, and of every scenario, system and data set.

    Args:
        summary: The outcome.
        folder: Where its files are.
        started: POSIX seconds.
        ended: POSIX seconds.
    """
    sets = tuple(dict.fromkeys(cell.data_set for cell in summary.cells))

    def place(cell: Cell) -> str:
        return f"{cell.scenario}.{cell.system}" + (f".{cell.data_set}" if len(sets) > 1 else "")

    metrics = _of_totals(summary) | cell_columns(place).metrics(summary.cells) | _flaky(summary)
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
        headline=all_or_headline(metrics, (*HEADLINE, *_parts(summary))),
        artifacts={name: folder / name for name in ARTIFACTS if (folder / name).is_file()},
        started=started,
        ended=ended,
        description="\n\n".join(summary.notes),
    )


def case_of(one: Probed) -> TestCase:
    """A question put to a system; errors and unscored replies are errors, not failures."""
    verdict, question = one.verdict, one.question
    suite = f"{verdict.scenario} x {verdict.system} x {verdict.data_set}"
    about = f"{verdict.scenario}.{verdict.system}", f"{verdict.query_id}: {question.query}"
    if verdict.outcome == "pass":
        return TestCase(suite, *about, seconds=one.reply.seconds)
    lines = [
        f"question: {question.query}",
        f"reference: {question.reference or '(a refusal)'}",
        f"answer: {one.reply.answer if one.reply.answer is not None else '(none)'}",
        f"reason: {verdict.reason}",
        *([f"component: {verdict.component} ({verdict.why})"] if verdict.component else []),
    ]
    fault: Literal["failure", "error"] = "failure" if verdict.outcome == "fail" else "error"
    return TestCase(suite, *about, fault, "", verdict.reason, "\n".join(lines), one.reply.seconds)
