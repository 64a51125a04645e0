"""Agreement as tables for people."""

from collections.abc import Collection, Mapping, Sequence

from judgec.records.agreement import Agreement
from judgec.records.estimate import Estimate
from judgec.report import words
from judgec.report.agreement_columns import FACTS, UNSCORED, AgreementColumn, statistic, statistics
from judgec.report.columns import TableColumns
from judgec.report.numbers import NAMES, UNKNOWN, number, p_value, show, statistic_name
from judgec.report.screen import TextTable
from judgec.stats.agreement.measure import NO_ORDER, NOT_BINARY
from judgec.stats.agreement.registry import OF_SYSTEMS

BRIEF = ("tau_b", "auc", "exact", "accept_agreement", "kappa", "qwk")  # what fits beside a headline on a terminal


def comparison_table(title: str, judges: Mapping[str, Agreement], headline: str) -> TextTable:
    """One row a judge: the headline statistic with its interval, the others as plain numbers."""
    shown = [name for name in BRIEF if any(a.estimates[name].value is not None for a in judges.values())]
    columns = [statistic(headline), *(statistic(name, interval=False) for name in shown if name != headline)]
    if any(agreement.unscored for agreement in judges.values()):
        columns.append(UNSCORED)
    heads, rows = TableColumns(columns).screen(list(judges.values()))
    named = [(words.row_name(judge), *row) for judge, row in zip(judges, rows, strict=True)]
    return TextTable(title, ("", *heads), named, legend=words.judges(judges))


def beside_table(title: str, judges: Mapping[str, Agreement], names: Sequence[str]) -> TextTable:
    """One row a judge, few statistics, each with its interval.

    Args:
        title: Above it.
        judges: By what a row is called.
        names: Of the statistics.
    """
    heads, rows = TableColumns([statistic(name) for name in names]).screen(list(judges.values()))
    return TextTable(title, ("", *heads), [(judge, *row) for judge, row in zip(judges, rows, strict=True)])


def agreement_table(title: str, judges: Mapping[str, Agreement]) -> TextTable:
    """One column a judge, one row a statistic."""
    rows = _turned([*map(statistic, statistics(judges)), *FACTS], list(judges.values()))
    heads = ("", *map(words.row_name, judges))
    return TextTable(title, heads, rows, legend=words.statistics(row[0] for row in rows))


def paired_table(
    title: str, judges: Mapping[str, Agreement], differences: Mapping[str, Estimate], few: Collection[str] = ()
) -> TextTable:
    """Two judges side by side with the paired difference of every statistic, the first minus the second.

    Args:
        title: Above it.
        judges: Two, by name.
        differences: By the statistic.
        few: These statistics alone, without a legend; empty for all.
    """
    rows: list[Sequence[str]] = []
    for name, difference in differences.items():
        if few and name not in few:
            continue
        cells = [number(agreement.estimates[name].value) for agreement in judges.values()]
        if set(cells) != {UNKNOWN}:
            rows.append((statistic_name(name), *cells, show(difference, sign=True), p_value(difference.p)))
    if few:
        return TextTable(title, ("", *judges, "difference", "p"), rows)
    rows += [(*row, "", "") for row in _turned(FACTS, list(judges.values()))]
    legend = words.statistics(row[0] for row in rows)
    return TextTable(title, ("", *judges, "difference", "p"), rows, legend=legend)


def _turned(columns: Sequence[AgreementColumn], judges: Sequence[Agreement]) -> list[tuple[str, ...]]:
    """The columns as rows, a judge a column; without those that no judge fills."""
    return [row for row in TableColumns(columns).turned(judges) if set(row[1:]) != {UNKNOWN}]


def notes(judges: Mapping[str, Agreement]) -> list[str]:
    """Reasons why statistics of a judge are missing, one sentence a reason."""
    missing: dict[tuple[str, str], list[str]] = {}
    for judge, agreement in judges.items():
        for name, estimate in agreement.estimates.items():
            said = name in OF_SYSTEMS or estimate.note in {"", NOT_BINARY, NO_ORDER}  # elsewhere, or nobody asks
            if estimate.value is None and not said:
                missing.setdefault((words.row_name(judge), estimate.note), []).append(NAMES.get(name, name))
    return [f"{judge}: no {', '.join(names)}: {note}" for (judge, note), names in missing.items()]
