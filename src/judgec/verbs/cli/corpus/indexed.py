"""The report of ``judgec index``."""

from judgec.rag.retrieval.manifest import location_shown
from judgec.rag.retrieval.measure import K, VectorSearch
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.cli.output import judgec_here
from judgec.verbs.index import CorpusIndex

MOST_SHOWN = 10  # skipped files and rows listed on screen


def index_report(found: CorpusIndex) -> Report:
    """Counts, what was left out, and the next command."""
    report, manifest = found.build, found.build.manifest
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
        *((("vectors", _searched(found.search)),) if found.search is not None else ()),
    )
    skipped = [f"skipped {name}: {why}." for name, why in report.skipped.items()]
    kinds = ", ".join(f"{count} {ending}" for ending, count in sorted(report.left_out.items()))
    where = location_shown(found.published or str(found.path))
    agents = "rag-bm25,rag-fusion-hybrid"
    return Report(
        tables=[TextTable(str(found.path), ("index", ""), rows)],
        lines=[
            *_some(skipped, "skipped files"),
            *_some(list(report.faults), "rows left out"),
            *([f"Files that nobody reads were left out: {kinds}."] if kinds else []),
        ],
        next=[f"{judgec_here()} answer --index {where} --queries QUERIES --agents {agents} --out answers.jsonl"],
    )


def _searched(search: VectorSearch) -> str:
    how = {"exact": "all compared", "ivf": "an IVF index", "hnsw": "an HNSW graph"}[search.ann]
    metric = {"cosine": "cosine", "l2": "squared L2"}[search.metric]
    kept = "" if search.ann == "exact" else f"; recall of the nearest {K} {search.recall:.3f} against comparing all"
    return f"{metric}, {how}{kept}; {search.milliseconds:.1f} ms a query"


def _some(lines: list[str], what: str) -> list[str]:
    more = len(lines) - MOST_SHOWN
    return lines[:MOST_SHOWN] + ([f"... and {more} more {what}; --json lists all."] if more > 0 else [])
