"""Prints the results of the commands of queries and probes."""

import shlex

from judgec.rag.probes.compare import Compared, ProbeComparison
from judgec.rag.probes.flakiness import FLAKY
from judgec.rag.probes.render import matrix_rows, rate_rows, scenario_rows
from judgec.rag.probes.report.summary import TRIED, Summary
from judgec.rag.probes.report.totals import TOTALS
from judgec.records.estimate import Estimate
from judgec.report.numbers import UNKNOWN, brackets, number, p_value, show_percent, signed
from judgec.report.screen import TextTable, print_tables
from judgec.verbs.cli.output import judgec_here, print_table, say
from judgec.verbs.compile_queries import MEASURED, SIDES, QueryCompilation
from judgec.verbs.generate_queries import GeneratedQueries
from judgec.verbs.probe import ProbeReport

FEW = 3  # systems up to which the screen shows intervals; the report always does


def generated_tables(found: GeneratedQueries) -> list[TextTable]:
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


def next_steps(found: GeneratedQueries) -> list[str]:
    """What the queries are for, as commands."""
    probing = f"{judgec_here()} probe --questions {found.out} --system SYSTEM"
    if not found.options.references:
        probing = f"with --references, {judgec_here()} probe"
    return [probing, f"{judgec_here()} answer --queries {found.out}"]


def show_generated(found: GeneratedQueries) -> None:
    """How many queries each model wrote, how like the experts' they are, and the next command."""
    print_tables(*generated_tables(found))
    say(*found.notes, f"Next: {'; '.join(next_steps(found))}")


def show_compiled_queries(found: QueryCompilation) -> None:
    """The candidates, the winner beside the uncompiled generator, and the next command."""
    compiled, name = found.compiled, found.name
    rows = [
        [which, number(one.value, 3), number(float(one.accepted.mean())), str(len(one.tried))]
        for which, one in compiled.found.dev.items()
    ]
    print_table("Candidates on dev", ["generator", "value", "accepted", "queries"], rows)
    sides = []
    for side in (side for side in SIDES if side in compiled.found.test):
        estimates = [compiled.estimates[f"{side}.{what}"] for what in MEASURED]
        sides.append([side, *(number(one.value, 3) for one in estimates)])
    print_table(f"{name} on test", ["generator", *MEASURED], sides)
    verdict = "promoted to champion" if found.promoted else "saved as challenger"
    say(
        f"{name} {verdict}: {found.reason}",
        *[f"note: {note}" for note in found.notes],
        f"Next: {judgec_here()} generate-queries --generator {name} --index I --out queries.jsonl; {judgec_here()} ui",
    )


def failures_table(summary: Summary) -> TextTable:
    """Failure rates: a row a scenario and system, or, of many systems, a row a scenario."""
    rows = rate_rows(summary) if len(summary.systems) <= FEW else matrix_rows(summary)
    return TextTable(f"Failure rates, judged by {summary.judge}", *rows)


def show_probe(found: ProbeReport, *, verbose: bool = False) -> None:
    """The verdict, failure rates, what to do where something failed, and the next command; or every table."""
    summary = found.summary
    again = summary.flakiness
    verdicts = [summary.verdict, *([] if again is None else [again.verdict])]
    if verbose:
        _show_in_full(summary)
    else:
        say(*verdicts, "")
        print_tables(_told(failures_table(summary)))
        say(*(f"{scenario}: {one.fix}: {one.reason}" for scenario, one in summary.fixes.items()))
    say(
        *(verdicts if verbose else []),
        *[f"note: {note}" for note in summary.notes],
        *([] if verbose else ["totals, scenarios that passed, changes tried: -v, or the page"]),
        f"Next: {judgec_here()} open {shlex.quote(str(found.report_path.parent))}",
        f"      {judgec_here()} ui",
    )


def _told(table: TextTable) -> TextTable:
    """The table without counts that are all 0, and without the data set where there is one."""
    alike = {head for head, *cells in zip(table.heads, *table.rows, strict=True) if len(set(cells)) == 1}
    none = {head for head, *cells in zip(table.heads, *table.rows, strict=True) if set(cells) == {"0"}}
    dropped = none | (alike & {"data set"})
    kept = [place for place, head in enumerate(table.heads) if head not in dropped]
    rows = [[row[place] for place in kept] for row in table.rows]
    return TextTable(table.title, [table.heads[place] for place in kept], rows)


def _show_in_full(summary: Summary) -> None:
    print_tables(failures_table(summary))
    totals = [total for total in summary.totals if total.by in {"overall", "system"}]
    print_table("In all, 95 % intervals over source documents", *TOTALS.screen(totals))
    print_table("What to do", *scenario_rows(summary))
    if summary.tried:
        print_table("Changes tried on what failed; broken: of what had passed", *TRIED.screen(summary.tried))
    if summary.flakiness is not None:
        again = summary.flakiness
        ours = [one for one in again.shares if one.by in {"overall", "system"}]
        print_table(f"Asked {again.repeat} times, 95 % intervals over source documents", *FLAKY.screen(ours))


def show_comparison(found: ProbeComparison) -> None:
    """Both failure rates, their difference and its test, for each scenario."""
    test = "McNemar p" if found.kind == "systems" else "Wilcoxon p"
    columns = ["scenario", "A fails", "B fails", "A - B", test, "smallest p"]
    title = "Two systems on the same questions" if found.kind == "systems" else "Two generators of questions"
    several = any(row.system for row in found.rows)
    columns = ["system", *columns] if several else columns
    rows = [[*([row.system or "all"] if several else []), *_row(row)] for row in found.rows]
    print_table(f"{title}: A = {found.names[0]}, B = {found.names[1]}", columns, rows)
    for paired in found.paired:
        rates = [[name, show_percent(a), show_percent(b)] for name, a, b in paired.rates]
        p = f"Wilcoxon p {p_value(paired.wilcoxon.p)}, smallest {p_value(paired.wilcoxon.smallest_p)}"
        print_table(f"{paired.title.capitalize()}: {p}", [paired.by.replace("_", " "), "A fails", "B fails"], rates)
    say(*found.notes, "Intervals and resamples are over source documents; p-values are exact and two-sided.")


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


def _counts(dropped: dict[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in dropped.items()) or "-"
