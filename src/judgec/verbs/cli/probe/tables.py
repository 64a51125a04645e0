"""The reports of probes and of compiled query generators."""

import shlex

from judgec.rag.probes.compare import Compared, ProbeComparison
from judgec.rag.probes.flakiness import FLAKY
from judgec.rag.probes.render import matrix_rows, rate_rows, scenario_rows
from judgec.rag.probes.report.summary import TRIED, Summary
from judgec.rag.probes.report.totals import TOTALS
from judgec.records.estimate import Estimate
from judgec.report.numbers import UNKNOWN, brackets, number, p_value, show_percent, signed
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.cli.output import judgec_here
from judgec.verbs.compile_queries import MEASURED, SIDES, QueryCompilation
from judgec.verbs.probe import ProbeReport

FEW = 3  # systems up to which the screen shows intervals; the report always does


def compiled_queries_report(found: QueryCompilation) -> Report:
    """The candidates, the winner beside the uncompiled generator, and the next command."""
    compiled, name = found.compiled, found.name
    rows = [
        [which, number(one.value, 3), number(float(one.accepted.mean())), str(len(one.tried))]
        for which, one in compiled.found.dev.items()
    ]
    sides = []
    for side in (side for side in SIDES if side in compiled.found.test):
        estimates = [compiled.estimates[f"{side}.{what}"] for what in MEASURED]
        sides.append([side, *(number(one.value, 3) for one in estimates)])
    here = judgec_here()
    return Report(
        verdict=[f"{name} {'promoted to champion' if found.promoted else 'saved as challenger'}: {found.reason}"],
        tables=[
            TextTable("Candidates on dev", ["generator", "value", "accepted", "queries"], rows),
            TextTable(f"{name} on test", ["generator", *MEASURED], sides),
        ],
        notes=found.notes,
        next=[f"{here} generate-queries --generator {name} --index I --out queries.jsonl", f"{here} ui"],
    )


def failures_table(summary: Summary) -> TextTable:
    """Failure rates: a row a scenario and system, or, of many systems, a row a scenario."""
    rows = rate_rows(summary) if len(summary.systems) <= FEW else matrix_rows(summary)
    return TextTable(f"Failure rates, judged by {summary.judge}", *rows)


def probe_report(found: ProbeReport) -> Report:
    """The verdict, failure rates, what to do where something failed, and the next command; every table besides."""
    summary = found.summary
    again, here = summary.flakiness, judgec_here()
    return Report(
        verdict=[summary.verdict, *([] if again is None else [again.verdict])],
        tables=[_told(failures_table(summary))],
        full=_every_table(summary),
        lines=[f"{scenario}: {one.fix}: {one.reason}" for scenario, one in summary.fixes.items()],
        notes=summary.notes,
        more="totals, scenarios that passed, changes tried, also on the page",
        next=[f"{here} open {shlex.quote(str(found.report_path.parent))}", f"{here} ui"],
    )


def _told(table: TextTable) -> TextTable:
    """The table without counts that are all 0, and without the data set where there is one."""
    alike = {head for head, *cells in zip(table.heads, *table.rows, strict=True) if len(set(cells)) == 1}
    none = {head for head, *cells in zip(table.heads, *table.rows, strict=True) if set(cells) == {"0"}}
    dropped = none | (alike & {"data set"})
    kept = [place for place, head in enumerate(table.heads) if head not in dropped]
    rows = [[row[place] for place in kept] for row in table.rows]
    return TextTable(table.title, [table.heads[place] for place in kept], rows)


def _every_table(summary: Summary) -> list[TextTable]:
    totals = [total for total in summary.totals if total.by in {"overall", "system"}]
    tables = [
        failures_table(summary),
        TextTable("In all, 95 % intervals over source documents", *TOTALS.screen(totals)),
        TextTable("What to do", *scenario_rows(summary)),
    ]
    if summary.tried:
        title = "Changes tried on what failed; broken: of what had passed"
        tables.append(TextTable(title, *TRIED.screen(summary.tried)))
    if summary.flakiness is not None:
        again = summary.flakiness
        ours = [one for one in again.shares if one.by in {"overall", "system"}]
        title = f"Asked {again.repeat} times, 95 % intervals over source documents"
        tables.append(TextTable(title, *FLAKY.screen(ours)))
    return tables


def comparison_report(found: ProbeComparison) -> Report:
    """Both failure rates, their difference and its test, for each scenario."""
    test = "McNemar p" if found.kind == "systems" else "Wilcoxon p"
    columns = ["scenario", "A fails", "B fails", "A - B", test, "smallest p"]
    title = "Two systems on the same questions" if found.kind == "systems" else "Two generators of questions"
    several = any(row.system for row in found.rows)
    columns = ["system", *columns] if several else columns
    rows = [[*([row.system or "all"] if several else []), *_row(row)] for row in found.rows]
    tables = [TextTable(f"{title}: A = {found.names[0]}, B = {found.names[1]}", columns, rows)]
    for paired in found.paired:
        rates = [[name, show_percent(a), show_percent(b)] for name, a, b in paired.rates]
        p = f"Wilcoxon p {p_value(paired.wilcoxon.p)}, smallest {p_value(paired.wilcoxon.smallest_p)}"
        heads = [paired.by.replace("_", " "), "A fails", "B fails"]
        tables.append(TextTable(f"{paired.title.capitalize()}: {p}", heads, rates))
    method = "Intervals and resamples are over source documents; p-values are exact and two-sided."
    return Report(tables=tables, lines=[*found.notes, method])


def _row(row: Compared) -> list[str]:
    p = row.mcnemar.p if row.mcnemar else row.wilcoxon.p if row.wilcoxon else None
    smallest = row.mcnemar.smallest_p if row.mcnemar else row.wilcoxon.smallest_p if row.wilcoxon else None
    rates = (show_percent(row.a), show_percent(row.b))
    return [row.scenario, *rates, _points(row.difference), p_value(p), p_value(smallest)]


def _points(difference: Estimate) -> str:
    if difference.value is None:
        return UNKNOWN
    low, high = (None if bound is None else 100 * bound for bound in (difference.low, difference.high))
    return f"{signed(100 * difference.value, 0)} points {brackets(low, high, 0, sign=True)}".rstrip()
