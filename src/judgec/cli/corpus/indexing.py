"""What ``judgec index`` does: read, cut, embed, write, say what was left out."""

import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from judgec.cli.corpus.index import Request
from judgec.cli.output import judgec_here, print_json, print_table, say
from judgec.retrieval.build import BuildReport, build_index
from judgec.retrieval.manifest import location_shown
from judgec.retrieval.parsing.chunking import Chunking
from judgec.store.rows.columns import as_rename

MOST_SHOWN = 10  # skipped files and rows listed on screen


def run_index(request: Request) -> BuildReport:
    """Index, print.

    Raises:
        UserError: Bad input.
        ArtifactError: An index that is damaged or of another format.
        ServiceError: The embedder or the database failed.
    """
    bar = Progress(
        TextColumn("{task.description:>11}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=request.json or not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task("files", total=None)
        report = build_index(
            request.paths,
            request.out,
            chunking=None if request.chunk is None else Chunking.parse(request.chunk),
            embedder=request.embedder,
            language=request.language,
            api_base=request.api_base,
            rename=as_rename(request.rename) or None,
            seed=request.seed,
            on_file=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if request.postgres is not None:
        from judgec.retrieval.stores.postgres import publish

        publish(request.out, request.postgres)
    if request.json:
        print_json(as_json(report, request.out))
    else:
        _show(report, request)
    return report


def as_json(report: BuildReport, out: Path) -> dict[str, object]:
    """The report in JSON-ready form."""
    manifest = report.manifest
    return {
        "index": str(out),
        "passages": report.passages,
        "documents_read": report.documents,
        "files": report.files,
        "files_read": report.read,
        "files_unchanged": report.unchanged,
        "files_removed": report.removed,
        "duplicates_dropped": report.duplicates,
        "skipped": dict(report.skipped),
        "faults": list(report.faults),
        "left_out": dict(report.left_out),
        "chunking": manifest.chunking,
        "embedder": manifest.embedder,
        "dimensions": manifest.dimensions,
        "language": manifest.language,
    }


def _show(report: BuildReport, request: Request) -> None:
    manifest = report.manifest
    rows = (
        ("passages", str(report.passages)),
        ("files", str(report.files)),
        ("read now", str(report.read)),
        ("unchanged", str(report.unchanged)),
        ("removed", str(report.removed)),
        ("skipped", str(len(report.skipped))),
        ("duplicate passages dropped", str(report.duplicates)),
        ("embedder", f"{manifest.embedder}, {manifest.dimensions} dimensions"),
        ("chunks", manifest.chunking),
    )
    print_table(str(request.out), ("index", ""), rows)
    skipped = [f"skipped {name}: {why}." for name, why in report.skipped.items()]
    kinds = ", ".join(f"{count} {ending}" for ending, count in sorted(report.left_out.items()))
    say(
        *_some(skipped, "skipped files"),
        *_some(list(report.faults), "rows left out"),
        *([f"Files that nobody reads were left out: {kinds}."] if kinds else []),
        f"Next: {judgec_here()} answer --index {location_shown(request.postgres or str(request.out))} "
        "--queries QUERIES --agents rag-bm25,rag-fusion-hybrid --out answers.jsonl",
    )


def _some(lines: list[str], what: str) -> list[str]:
    more = len(lines) - MOST_SHOWN
    return lines[:MOST_SHOWN] + ([f"... and {more} more {what}; --json lists all."] if more > 0 else [])
