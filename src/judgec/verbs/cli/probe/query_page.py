"""Writes the page of ``judgec generate-queries``."""

from pathlib import Path

from judgec.report.cases import BrowsedCase, CaseSide
from judgec.report.items import WORDS
from judgec.report.page.tables import TablesPage, write_tables_page
from judgec.verbs.cli.probe.tables import generated_tables
from judgec.verbs.generate_queries import GeneratedQueries


def write_query_page(found: GeneratedQueries, path: Path) -> None:
    """How many there are, where they come from, and each with its passage."""
    pool = found.pool
    dropped = sum(sum(reasons.values()) for reasons in pool.dropped.values())
    written = sum(pool.written.values())
    verdict = f"{len(pool.queries)} test queries of {written} that were written; {dropped} dropped."
    steps = ["Read a few of them below before you trust a number that is made with them."]
    if found.options.references:
        steps.append(f"Probe a system with them: judgec probe --questions {found.out} --system SYSTEM")
    else:
        steps.append("To probe a system with them, write them with --references: answers are held against these.")
    steps.append(f"Let agents answer them: judgec answer --index INDEX --queries {found.out} --agents rag-bm25")
    shown = TablesPage(
        title=f"Queries: {found.out.name}",
        facts=", ".join(pool.passages),
        verdict=verdict,
        standing="even" if pool.queries else "none",
        tables=generated_tables(found),
        next=steps,
        notes=found.notes,
        items=_cases(found),
        items_title="The queries",
        words=WORDS | {"intro": "Every query with the passage that it was made from.", "rater": "Model"},
        head=("model and document", "query"),
    )
    write_tables_page(shown, path)


def _cases(found: GeneratedQueries) -> list[BrowsedCase]:
    cases = []
    for row in found.queries.to_dict("records"):
        reference = str(row.get("reference") or "")
        passage = str(row.get("passage") or "")
        texts = {name: (text,) for name, text in (("answer", reference), ("contexts", passage)) if text}
        cases.append(
            BrowsedCase(
                item_id=str(row["query_id"]),
                head=str(row["query"]),
                title=f"{row['lm']}, {row['doc_id']}",
                group=None,
                differs=False,
                unscored=None,
                distance=0.0,
                sides=[CaseSide(str(row["lm"]), "", texts)],
                texts={"query": (str(row["query"]),)},
            )
        )
    return cases
