"""``report.html``: one self-contained page: rates first, then where and why, then the worst cases in full."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from judgec.probes.report.summary import COMPONENTS, Cell, Summary
from judgec.records.scenario.outcome import Probed
from judgec.records.scenario.schema import Scenario
from judgec.report import kit
from judgec.report.columns import NO_NUMBER, Column, TableColumns
from judgec.report.kit import heat, table, two_lines
from judgec.report.numbers import show_percent

SCENARIO: Column[Cell] = Column("scenario", lambda cell: cell.scenario)
SYSTEM: Column[Cell] = Column("system", lambda cell: cell.system)
DATA_SET: Column[Cell] = Column("data set", lambda cell: cell.data_set)


def page(summary: Summary, scenarios: Sequence[Scenario], *, title: str, created: str) -> str:
    """The whole page as HTML: no script, nothing loaded from elsewhere, every text escaped.

    Args:
        summary: What to show.
        scenarios: Those that were asked, for their titles.
        title: Of the page.
        created: When, ISO 8601.
    """
    titles = {scenario.id: scenario.title for scenario in scenarios}
    return kit.page(
        "probe.html",
        {
            "title": title,
            "facts": f"questions by {summary.writer}, judged by {summary.judge} · {created}",
            "notes": summary.notes,
            "rates": _rates(summary, titles),
            "outcomes": _outcomes(summary),
            "components": _components(summary),
            "fixes": _fixes(summary),
            "worst": [_case(one) for one in summary.worst],
        },
    )


def _rates(summary: Summary, titles: Mapping[str, str]) -> list[Markup]:
    """A table a data set: scenarios by systems."""
    known = {(cell.scenario, cell.system, cell.data_set): cell for cell in summary.cells}
    tables = []
    for data_set in dict.fromkeys(cell.data_set for cell in summary.cells):
        rows = []
        for scenario in summary.scenarios:
            failing, of = summary.systems_failing[scenario]
            cells = [_rate(known.get((scenario, system, data_set))) for system in summary.systems]
            rows.append([two_lines(scenario, titles.get(scenario, "")), *cells, f"{failing} of {of}"])
        head = [data_set, *summary.systems, "systems failing"]
        tables.append(table(head, rows, "words", label=f"Failure rates on {data_set}"))
    return tables


def _rate(cell: Cell | None) -> str:
    if cell is None:
        return NO_NUMBER
    extra = [f"n = {cell.n}", *([f"{cell.errors} errors"] if cell.errors else [])]
    extra += [f"{cell.unscored} unscored"] if cell.unscored else []
    said = two_lines(show_percent(cell.failure_rate), ", ".join(extra))
    return heat(100 * (cell.failure_rate.value or 0.0), said, "rate")


def _outcomes(summary: Summary) -> Markup | None:
    cells = [cell for cell in summary.cells if cell.rejection]
    if not cells:
        return None
    columns = TableColumns([SYSTEM, DATA_SET, *map(_outcome, cells[0].rejection)])
    return table(*columns.page(cells), "words", label="What systems did with unanswerable questions")


def _outcome(name: str) -> Column[Cell]:
    return Column(name.replace("_", " "), lambda cell: str(cell.rejection[name]))


def _components(summary: Summary) -> Markup | None:
    cells = [cell for cell in summary.cells if cell.failures]
    if not cells:
        return None
    failures: Column[Cell] = Column("failures", lambda cell: str(cell.failures))
    criteria: Column[Cell] = Column(
        "failed criteria", lambda cell: ", ".join(f"{name} {count}" for name, count in cell.criteria.items())
    )
    columns = TableColumns([SCENARIO, SYSTEM, DATA_SET, failures, *map(_component, COMPONENTS), criteria])
    return table(*columns.page(cells), "words", label="Where it was lost")


def _component(name: str) -> Column[Cell]:
    return Column(name, lambda cell: str(cell.components.get(name, "")))


def _fixes(summary: Summary) -> Markup | None:
    rows = [[name, fix.component, fix.fix, fix.reason] for name, fix in summary.fixes.items()]
    return table(["scenario", "part", "fix", "because"], rows, "words", label="What to do") if rows else None


def _case(one: Probed) -> tuple[str, Mapping[str, str]]:
    """What a case is called, and its texts by name."""
    question, reply, verdict = one.question, one.reply, one.verdict
    texts = {
        "conversation before it": "\n".join(f"{turn.role}: {turn.content}" for turn in question.history),
        "question": question.query,
        "reference": question.reference or ("a refusal" if question.must_refuse else "none"),
        "answer": reply.answer or f"none: {reply.error}",
        "why it failed": verdict.reason,
        "what the system did": (verdict.rejection or "").replace("_", " "),
        "where it was lost": f"{verdict.component}: {verdict.why}" if verdict.component else "",
        "retrieved": "\n---\n".join(reply.contexts or ()),
        "made from": "\n---\n".join(question.passages),
    }
    head = f"{verdict.scenario} · {verdict.system} · {question.query}"
    return head[:220], {name: text for name, text in texts.items() if text}
