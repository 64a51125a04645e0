"""Tables of ``docs/papers.md`` that ``make demo-rag`` fills; ``python -m tests.docs.demo_tables FOLDER`` does."""

import csv
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgec.records.estimate import Estimate
from judgec.report.numbers import number, show, signed
from tests.verbs.cli.process import ROOT

PAGE = ROOT / "docs" / "papers.md"
AGENTS = ("rag-bm25", "rag-fusion-bm25", "rag-knn", "rag-fusion-knn", "rag-hybrid", "rag-fusion-hybrid")
ALL = (*AGENTS, "broken_retriever", "no_context")
Cells = Mapping[str, Mapping[int, str]]  # by the first cell of a row, then by column


def filled(page: str, folder: Path) -> str:
    """The page with what the demo says that was run in this folder."""
    out = folder / "demo-out" / "tournament"
    report = json.loads((out / "report.json").read_text())
    (judge,) = (folder / "programs").glob("sensors-demo-*/0001/report.json")
    for heading, cells in {
        "### Table 4": _retrieval(out),
        "### Table 5": _wins(out, report),
        "### Table 6": _ratings(report),
        "### Figure 4": _judge(json.loads(judge.read_text())["test"]),
        "### Figure 2: judge": _judge(json.loads(judge.read_text())["test"]),
    }.items():
        before, found, after = page.partition(f"\n{heading}")
        assert found, heading
        part, then, rest = after.partition("\n#")
        page = before + found + "\n".join(_row(line, cells) for line in part.split("\n")) + then + rest
    return page


def _row(line: str, cells: Cells) -> str:
    parts = line.split(" | ")
    for column, text in cells.get(parts[0].strip("| `"), {}).items():
        last = column == len(parts) - 1
        parts[column] = f"{text} |" if last else text
    return " | ".join(parts)


def _retrieval(out: Path) -> Cells:
    with (out / "retrieval.csv").open(newline="") as file:
        said = {(row["agent"], row["measure"]): _shown(row) for row in csv.DictReader(file) if row["low"]}
    wanted = {1: "MRR(rel=2)@5", 2: "MRR(rel=1)@5"}
    return {name: {n: said[name, one] for n, one in wanted.items()} for name in ALL if (name, wanted[1]) in said}


def _wins(out: Path, report: Mapping[str, Any]) -> Cells:  # as the demo wrote it
    with (out / "win_percent.csv").open(newline="") as file:
        won = {row["agent"]: row for row in csv.DictReader(file)}
    average = report["average_win_percent"]
    return {
        one: {n: _percent(won[one][other]) for n, other in enumerate(ALL, 1)} | {len(ALL) + 1: _percent(average[one])}
        for one in ALL
    }


def _ratings(report: Mapping[str, Any]) -> Cells:  # as above
    found = {}
    for name in ALL:
        rated = report["bradley_terry"][name]
        rating = f"{rated['rating']:.0f} [{rated['low']:.0f}, {rated['high']:.0f}]"
        found[name] = {1: f"{report['elo'][name]['rating']:.0f}", 2: rating}
    return found


def _judge(test: Mapping[str, Any]) -> Cells:  # as above
    ours, loo, ceiling = (test[name] for name in ("compiled", "compiled_loo", "ceiling"))
    limits, rejects, agreed = ours["bland_altman"], ours["reject_rate"], "accept_agreement"
    return {
        "bias": {2: signed(limits["bias"])},
        "limits of agreement": {2: f"{number(limits['low'])} to {number(limits['high'])}"},
        "tau": {2: _shown(ours["tau_b"])},
        "rho": {2: _shown(ours["spearman"])},
        "tau with all experts but one; the experts' own": {2: f"{_shown(loo['tau_b'])}; {_shown(ceiling['tau_b'])}"},
        "same grade": {2: _shown(ours["exact"])},
        "same decision, accept (4, 5) or reject": {
            2: f"{_shown(ours[agreed])}; annotators with each other {_shown(ceiling[agreed])}"
        },
        "reject rate of experts, of the judge": {2: f"{number(rejects['expert'])}, {number(rejects['judge'])}"},
    }


def _shown(found: Mapping[str, Any]) -> str:  # a row of CSV, or JSON
    return show(Estimate(value=float(found["value"]), low=float(found["low"]), high=float(found["high"])))


def _percent(value: object) -> str:
    return "-" if value == "" else number(float(str(value)), 1)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), Path(sys.argv[1])), encoding="utf-8")
