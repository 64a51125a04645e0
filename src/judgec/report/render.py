"""Agreement as tables for people."""

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from judgec.records.agreement import STATISTICS, Agreement
from judgec.records.estimate import Estimate
from judgec.stats.agreement.measure import NOT_BINARY

NAMES = {
    "tau_b": "tau-b",
    "tau_b_score": "tau-b of the score",
    "spearman": "Spearman",
    "auc": "AUC",
    "exact": "exact",
    "accept_agreement": "accept agreement",
    "kappa": "kappa",
    "qwk": "QWK",
}


BRIEF = ("tau_b", "auc", "exact", "accept_agreement", "kappa", "qwk")  # what fits beside a headline on a terminal


def show(estimate: Estimate | None) -> str:
    """``.64 [.57, .71]``; a dash where the number is undefined."""
    if estimate is None or estimate.value is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return number(estimate.value)
    return f"{number(estimate.value)} [{number(estimate.low)}, {number(estimate.high)}]"


def number(value: float | None) -> str:
    """Two decimals without the leading zero, as the field prints correlations; a dash for None."""
    if value is None:
        return "-"
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


def comparison_table(title: str, judges: Mapping[str, Agreement], headline: str) -> Table:
    """One row a judge: the headline statistic with its interval, the others as plain numbers."""
    table = _table(title)
    shown = [name for name in BRIEF if any(a.estimates[name].value is not None for a in judges.values())]
    ordered = [headline, *(name for name in shown if name != headline)]
    for name in ordered:
        table.add_column(NAMES.get(name, name), justify="right", no_wrap=name == headline)
    any_unscored = any(agreement.unscored for agreement in judges.values())
    if any_unscored:
        table.add_column("unscored", justify="right")
    for judge, agreement in judges.items():
        cells = [
            show(agreement.estimates.get(name)) if name == headline else number(agreement.estimates[name].value)
            for name in ordered
        ]
        table.add_row(judge.replace("_", " "), *cells, *([str(agreement.unscored)] if any_unscored else []))
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
    extra = [name for a in judges.values() for name in a.estimates if name not in STATISTICS]
    for statistic in (*STATISTICS, *dict.fromkeys(extra)):
        cells = [show(agreement.estimates.get(statistic)) for agreement in judges.values()]
        if set(cells) != {"-"}:
            table.add_row(NAMES.get(statistic, statistic.replace("_", " ")), *cells)
    for label, cells in _plain_rows(list(judges.values())):
        table.add_row(label, *cells)
    return table


def paired_table(title: str, judges: Mapping[str, Agreement], differences: Mapping[str, Estimate]) -> Table:
    """Two judges side by side with the paired difference of every statistic, the first minus the second."""
    table = _table(title)
    for name in (*judges, "difference", "p"):
        table.add_column(name, justify="right")
    for statistic, difference in differences.items():
        cells = [number(agreement.estimates[statistic].value) for agreement in judges.values()]
        if set(cells) != {"-"}:
            p = "-" if difference.p is None else "<.001" if difference.p < 0.001 else f"{difference.p:.3f}"
            table.add_row(NAMES.get(statistic, statistic), *cells, show(difference), p)
    for label, cells in _plain_rows(list(judges.values())):
        table.add_row(label, *cells, "", "")
    return table


def _plain_rows(judges: Sequence[Agreement]) -> list[tuple[str, list[str]]]:
    limits = [a.bland_altman for a in judges]
    rows = [
        (
            "bias [limits of agreement]",
            ["-" if b.bias is None else f"{number(b.bias)} [{number(b.low)}, {number(b.high)}]" for b in limits],
        ),
        ("reject rate, experts", [number(a.expert_reject_rate) for a in judges]),
        ("reject rate, judge", [number(a.judge_reject_rate) for a in judges]),
        ("items (queries)", [f"{a.n} ({a.n_clusters})" for a in judges]),
        ("unscored", [str(a.unscored) for a in judges]),
    ]
    return [(label, cells) for label, cells in rows if set(cells) != {"-"}]


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
