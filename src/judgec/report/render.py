"""Agreement as tables for people."""

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from judgec.records.agreement import Agreement
from judgec.records.estimate import Estimate
from judgec.report.agreement_columns import FACTS, UNSCORED, AgreementColumn, statistic, statistics
from judgec.report.columns import TableColumns
from judgec.report.numbers import NAMES, UNKNOWN, number, p_value, show, statistic_name
from judgec.stats.agreement.measure import NOT_BINARY

BRIEF = ("tau_b", "auc", "exact", "accept_agreement", "kappa", "qwk")  # what fits beside a headline on a terminal


def comparison_table(title: str, judges: Mapping[str, Agreement], headline: str) -> Table:
    """One row a judge: the headline statistic with its interval, the others as plain numbers."""
    table = _table(title)
    shown = [name for name in BRIEF if any(a.estimates[name].value is not None for a in judges.values())]
    columns = [statistic(headline), *(statistic(name, interval=False) for name in shown if name != headline)]
    if any(agreement.unscored for agreement in judges.values()):
        columns.append(UNSCORED)
    for position, column in enumerate(columns):
        table.add_column(column.head, justify="right", no_wrap=not position)
    _, rows = TableColumns(columns).screen(list(judges.values()))
    for judge, row in zip(judges, rows, strict=True):
        table.add_row(judge.replace("_", " "), *row)
    return table


def _table(title: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1))
    table.add_column("", no_wrap=True)
    return table


def agreement_table(title: str, judges: Mapping[str, Agreement]) -> Table:
    """One column a judge, one row a statistic."""
    table = _table(title)
    for name in judges:
        table.add_column(name.replace("_", " "), justify="right")
    for row in _turned([*map(statistic, statistics(judges)), *FACTS], list(judges.values())):
        table.add_row(*row)
    return table


def paired_table(title: str, judges: Mapping[str, Agreement], differences: Mapping[str, Estimate]) -> Table:
    """Two judges side by side with the paired difference of every statistic, the first minus the second."""
    table = _table(title)
    for name in (*judges, "difference", "p"):
        table.add_column(name, justify="right")
    for name, difference in differences.items():
        cells = [number(agreement.estimates[name].value) for agreement in judges.values()]
        if set(cells) != {UNKNOWN}:
            table.add_row(statistic_name(name), *cells, show(difference, sign=True), p_value(difference.p))
    for row in _turned(FACTS, list(judges.values())):
        table.add_row(*row, "", "")
    return table


def _turned(columns: Sequence[AgreementColumn], judges: Sequence[Agreement]) -> list[tuple[str, ...]]:
    """The columns as rows, a judge a column; without those that no judge fills."""
    return [row for row in TableColumns(columns).turned(judges) if set(row[1:]) != {UNKNOWN}]


def notes(judges: Mapping[str, Agreement]) -> list[str]:
    """Why statistics of a judge are missing, one sentence a reason."""
    missing: dict[tuple[str, str], list[str]] = {}
    for judge, agreement in judges.items():
        for name, estimate in agreement.estimates.items():
            if estimate.value is None and estimate.note not in {"", NOT_BINARY}:  # of graded labels nobody expects it
                missing.setdefault((judge.replace("_", " "), estimate.note), []).append(NAMES.get(name, name))
    return [f"{judge}: no {', '.join(names)}: {note}" for (judge, note), names in missing.items()]


def print_tables(*tables: Table) -> None:
    """Print tables on stdout; brackets and colons in names are text, not markup."""
    console = Console(markup=False, emoji=False)
    for table in tables:
        console.print(table)
