"""``judgec.index``: documents in, an index that agents search out."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from judgec.errors import UserError
from judgec.lm.executor import Progress
from judgec.lm.usage import Spent
from judgec.lm.watch import Watch
from judgec.rag.retrieval.index import open_index
from judgec.rag.retrieval.manifest import Manifest, location_shown
from judgec.rag.retrieval.parsing.chunking import Chunking
from judgec.records.counts import plural
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.options.index import IndexOptions
from judgec.verbs.typed import judgec_here
from judgec.verbs.verb import verb

if TYPE_CHECKING:
    from judgec.rag.retrieval.build import BuildReport


@dataclass(frozen=True)
class CorpusIndex:
    """An index with what was read into it; ``judgec.answer(index=...)`` takes it as it takes its folder.

    Args:
        build: What this run read, left out and skipped.
        path: Its folder.
        published: Where else it is, or None.
    """

    build: "BuildReport"
    path: Path
    published: str | None = None

    @property
    def verdict(self) -> str:
        """Sentence on how much it holds, and what could not be read."""
        skipped = f", {len(self.build.skipped)} skipped" if self.build.skipped else ""
        return f"{plural(self.build.passages, 'passage')} of {plural(self.build.files, 'file')}{skipped}"

    @cached_property
    def passages(self) -> pd.DataFrame:
        """Its passages: passage_id, doc_id, title, section, text."""
        names = ("passage_id", "doc_id", "title", "section", "text")
        rows = [[getattr(passage, name) for name in names] for passage in open_index(self.path).passages()]
        return pd.DataFrame(rows, columns=list(names))

    @property
    def report(self) -> Mapping[str, object]:
        """The JSON that ``judgec index --json`` prints."""
        build, manifest = self.build, self.build.manifest
        return {
            "index": str(self.path),
            "passages": build.passages,
            "documents_read": build.documents,
            "files": build.files,
            "files_read": build.read,
            "files_unchanged": build.unchanged,
            "files_removed": build.removed,
            "duplicates_dropped": build.duplicates,
            "skipped": dict(build.skipped),
            "faults": list(build.faults),
            "left_out": dict(build.left_out),
            "chunking": manifest.chunking,
            "embedder": manifest.embedder,
            "dimensions": manifest.dimensions,
            "language": manifest.language,
            "search": {"metric": manifest.metric, "ann": manifest.approximate or "exact"},
        }

    def __fspath__(self) -> str:
        return str(self.path)

    def __len__(self) -> int:
        return self.build.passages

    def __repr__(self) -> str:
        return f"<CorpusIndex {self.path}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return notebook(index_report(self))


@verb(IndexOptions)
def index(options: IndexOptions, watch: Watch) -> CorpusIndex:
    """Make documents searchable by words and by meaning; run again, it reads only what changed.

    Raises:
        UserError: No such file, or nothing that can be read.
        ArtifactError: An index that is damaged or of another format.
        ServiceError: The embedder or the database failed.

    Example:
        >>> found = judgec.index("trainsets/sensors/catalogue", out="corpus")
        >>> len(found) > 10, found.passages.loc[0, "doc_id"].endswith(".md")
        (True, True)
    """
    if options.postgres is not None and options.metric == "l2":
        raise UserError("--postgres and --metric l2: published vectors are compared by cosine. Drop one of them.")
    from judgec.rag.retrieval.build import build_index  # of judgec[rag]

    build = build_index(
        options.paths,
        options.out,
        chunking=None if options.chunk is None else Chunking.parse(options.chunk),
        embedder=options.embedder,
        language=options.language,
        metric=options.metric,
        ann=options.ann,
        api_base=options.api_base,
        rename=dict(options.columns) or None,
        seed=options.seed,
        on_file=lambda done, total: watch.progress(Progress(done, total, 0, Spent(), of="files")),
    )
    if options.postgres is not None:
        from judgec.rag.retrieval.stores.postgres import publish

        publish(options.out, options.postgres)
    return CorpusIndex(build, options.out, options.postgres)


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
        ("vectors", _searched(manifest)),
    )
    skipped = [f"skipped {name}: {why}." for name, why in report.skipped.items()]
    kinds = ", ".join(f"{count} {ending}" for ending, count in sorted(report.left_out.items()))
    where = location_shown(found.published or str(found.path))
    agents = "rag-bm25,rag-fusion-hybrid"
    return Report(
        data=found.report,
        tables=[TextTable(str(found.path), ("index", ""), rows)],
        lines=[
            *_some(skipped, "skipped files"),
            *_some(list(report.faults), "rows left out"),
            *([f"Files that nobody reads were left out: {kinds}."] if kinds else []),
        ],
        next=[
            f"{judgec_here()} generate-queries --index {where} --out queries.jsonl",
            f"{judgec_here()} answer --index {where} --queries queries.jsonl --agents {agents} --out answers.jsonl",
        ],
    )


def _searched(manifest: Manifest) -> str:
    how = {"exact": "all compared", "ivf": "an IVF index", "hnsw": "an HNSW graph"}[manifest.approximate or "exact"]
    metric = {"cosine": "cosine", "l2": "squared L2"}[manifest.metric]
    return f"{metric}, {how}"


def _some(lines: list[str], what: str) -> list[str]:
    more = len(lines) - MOST_SHOWN
    return lines[:MOST_SHOWN] + ([f"... and {more} more {what}; --json lists all."] if more > 0 else [])
