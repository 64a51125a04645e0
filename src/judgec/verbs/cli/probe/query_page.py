"""The report of ``judgec generate-queries``."""

from pathlib import Path

from judgec.report.cases import BrowsedCase, CaseSide
from judgec.report.items import WORDS
from judgec.report.numbers import number
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.cli.output import judgec_here
from judgec.verbs.generate_queries import GeneratedQueries


def generated_report(found: GeneratedQueries, file: Path | None) -> Report:
    """How many queries there are, where they come from, how like the experts' they are, and each with its passage."""
    pool = found.pool
    dropped = sum(sum(reasons.values()) for reasons in pool.dropped.values())
    verdict = f"{len(pool.queries)} test queries of {sum(pool.written.values())} that were written; {dropped} dropped."
    steps = ["Read a few of them below before you trust a number that is made with them."]
    if found.options.references:
        steps.append(f"Probe a system with them: judgec probe --questions {found.out} --system SYSTEM")
    else:
        steps.append("To probe a system with them, write them with --references: answers are held against these.")
    steps.append(f"Let agents answer them: judgec answer --index INDEX --queries {found.out} --agents rag-bm25")
    return Report(
        verdict=[verdict],
        tables=_tables(found),
        notes=found.notes,
        file=file,
        next=_next(found),
        title=f"Queries: {found.out.name}",
        facts=", ".join(pool.passages),
        standing="even" if pool.queries else "none",
        steps=steps,
        items=_cases(found),
        items_title="The queries",
        words=WORDS | {"intro": "Every query with the passage that it was made from.", "rater": "Model"},
        head=("model and document", "query"),
    )


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


def _tables(found: GeneratedQueries) -> list[TextTable]:
    """How many queries each model wrote, and how like the experts' they are."""
    report = found.report
    models = report["models"]
    assert isinstance(models, dict)  # as generate_queries makes it
    table = [
        [name, *(str(one[key]) for key in ("passages", "written", "pooled", "sampled")), _counts(one["dropped"])]
        for name, one in models.items()
    ]
    heads = ("model", "passages", "written", "distinct", "sampled", "dropped")
    tables = [TextTable(f"{report['queries']} queries in {found.out}", heads, table)]
    diversity = report["diversity"]
    near = diversity["closeness"] if isinstance(diversity, dict) else None
    if near and near["likeness"] is not None:
        names = ("likeness", "length_ks", "type_jsd", "novelty", "embedding_distance")
        tables.append(TextTable("Beside the experts' queries", names, [[number(near[name]) for name in names]]))
    return tables


def _next(found: GeneratedQueries) -> list[str]:
    """What the queries are for, as commands."""
    probing = f"{judgec_here()} probe --questions {found.out} --system SYSTEM"
    if not found.options.references:
        probing = f"with --references, {judgec_here()} probe"
    return [probing, f"{judgec_here()} answer --queries {found.out}"]


def _counts(dropped: dict[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in dropped.items()) or "-"
