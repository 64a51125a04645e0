"""``report.html``: one self-contained page: rates first, then where and why, then every question."""

from collections import Counter
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from judgec.rag.probes.flakiness import FLAKY, Asked
from judgec.rag.probes.report.summary import ALL_DATA_SETS, COMPONENTS, TRIED, WORST, Cell, Summary
from judgec.rag.probes.report.totals import TOTALS
from judgec.records.counts import plural
from judgec.records.scenario.outcome import Probed
from judgec.records.scenario.schema import Scenario
from judgec.report import kit
from judgec.report.cases import BrowsedCase, CaseSide
from judgec.report.columns import NO_NUMBER, Column, TableColumns
from judgec.report.items import WORDS, embedded
from judgec.report.kit import heat, table, two_lines
from judgec.report.numbers import show_percent

FILE = "results.jsonl"  # beside the page
SHOWN = 160  # characters of a question in a table
TERMS = WORDS | {
    "intro": "The questions most worth reading: those that most systems fail, then those without a grade.",
    "differ": "failures",
    "unscored": "without a grade",
    "rater": "System",
    "group": "Scenario",
    "far": "most systems fail",
}
SCENARIO: Column[Cell] = Column("scenario", lambda cell: cell.scenario)
SYSTEM: Column[Cell] = Column("system", lambda cell: cell.system)
DATA_SET: Column[Cell] = Column("data set", lambda cell: cell.data_set)


def page(summary: Summary, scenarios: Sequence[Scenario], probed: Sequence[Probed], *, title: str, created: str) -> str:
    """The whole page as HTML: no script but the kit's, nothing loaded from elsewhere, every text escaped.

    Args:
        summary: What to show.
        scenarios: Those that were asked, for their titles.
        probed: Every question put to every system.
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
            "totals": table(*TOTALS.page(summary.totals), label="Totals"),
            "outcomes": _outcomes(summary),
            "components": _components(summary),
            "fixes": _fixes(summary),
            "tried": table(*TRIED.page(summary.tried), "words", label="Changes tried") if summary.tried else None,
            "flaky": None
            if summary.flakiness is None
            else table(*FLAKY.page(summary.flakiness.shares), "words", label="Verdicts that change"),
            "repeat": 0 if summary.flakiness is None else summary.flakiness.repeat,
            "changing": None if summary.flakiness is None else _changing(summary.flakiness.changing),
            "standing": summary.standing,
            "verdict": summary.verdict,
            "items": embedded(cases(probed), words=TERMS, head=("question", "outcomes"), file=FILE),
        },
    )


def _rates(summary: Summary, titles: Mapping[str, str]) -> list[Markup]:
    """Scenarios by systems: a table for all data sets together, where there are several, and one for each."""
    known = {(cell.scenario, cell.system, cell.data_set): cell for cell in (*summary.across, *summary.cells)}
    together = {(ALL_DATA_SETS, scenario): found for scenario, found in summary.systems_failing.items()}
    tables = []
    for data_set in dict.fromkeys(data_set for _, _, data_set in known):
        rows = []
        for scenario in summary.scenarios:
            failing, of = {**together, **summary.failing_on}.get((data_set, scenario), (0, 0))
            cells = [_rate(known.get((scenario, system, data_set))) for system in summary.systems]
            rows.append([two_lines(scenario, titles.get(scenario, "")), *cells, f"{failing} of {of}"])
        head = [data_set, *summary.systems, "systems failing"]
        tables.append(table(head, rows, "words rates", label=f"Failure rates on {data_set}"))
    return tables


def _rate(cell: Cell | None) -> str:
    if cell is None:
        return NO_NUMBER
    extra = [f"n = {cell.n}", *([plural(cell.errors, "error")] if cell.errors else [])]
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
    return table(["scenario", "part", "fix", "because"], rows, "words fixes", label="What to do") if rows else None


def _changing(asked: Sequence[Asked]) -> Markup | None:
    rows = [
        [
            one.first.verdict.scenario,
            one.first.verdict.system,
            " ".join(one.first.question.query.split())[:SHOWN],
            ", ".join(one.outcomes),
        ]
        for one in asked[:WORST]
    ]
    head = ["scenario", "system", "question", "verdicts"]
    return table(head, rows, "words", label="Questions whose verdict changed") if rows else None


def cases(probed: Sequence[Probed]) -> tuple[BrowsedCase, ...]:
    """Every question with the replies of all systems beside each other; ``results.jsonl`` has them whole."""
    together: dict[tuple[str, str], list[Probed]] = {}
    for one in probed:
        together.setdefault((one.verdict.data_set, one.question.query_id), []).append(one)
    return tuple(_case(data_set, found) for (data_set, _), found in together.items())


def _case(data_set: str, found: Sequence[Probed]) -> BrowsedCase:
    question = found[0].question
    outcomes = Counter(one.verdict.outcome for one in found)
    texts = {
        "conversation before it": tuple(f"{turn.role}: {turn.content}" for turn in question.history),
        "question": (question.query,),
        "reference": (question.reference or ("a refusal" if question.must_refuse else "none"),),
        "made from": question.passages,
    }
    return BrowsedCase(
        item_id=f"{data_set}/{question.query_id}",
        head=f"{question.scenario}: {', '.join(f'{n} {outcome}' for outcome, n in outcomes.items())}",
        title=question.query,
        group=question.scenario,
        differs=bool(outcomes["fail"]),
        unscored="no grade" if outcomes["error"] or outcomes["unscored"] else None,
        distance=outcomes["fail"] / len(found),
        sides=[_side(one) for one in found],
        texts={name: parts for name, parts in texts.items() if parts},
    )


def _side(one: Probed) -> CaseSide:
    reply, verdict = one.reply, one.verdict
    lost = f" Lost in {verdict.component}: {verdict.why}" if verdict.component else ""
    did = f" It {(verdict.rejection or '').replace('_', ' ')}." if verdict.rejection else ""
    answer = reply.answer if reply.answer is not None else f"none: {reply.error}"
    texts = {"answer": (answer,), **({"contexts": reply.contexts} if reply.contexts else {})}
    return CaseSide(verdict.system, verdict.outcome, texts, f"{verdict.reason}{did}{lost}".strip())
