"""Renders what a compile found beside the agreement itself, as tables and sentences."""

from collections.abc import Iterator

from judgec.compile.abstain import Abstention
from judgec.compile.calibration_errors import calibration_errors
from judgec.compile.compile import Compiled, PanelFound
from judgec.compile.costs import size_costs
from judgec.records.counts import plural
from judgec.report.cost_table import COLUMNS, SIZES, TITLE
from judgec.report.numbers import dollars, number, percent, show, statistic_name
from judgec.report.screen import TextTable


def outcome_tables(compiled: Compiled, *, abstaining: bool, verbose: bool) -> list[TextTable]:
    """Tables of what somebody asked for: the panel, the coverage when it abstains.

    With ``verbose`` also costs, and the sizes of panels that were compared.
    """
    tables = _costs_tables(compiled) if verbose else []
    panel = compiled.panel if compiled.judge.asks_lm else None
    tables += [] if panel is None else [_panel_table(panel)]
    if verbose and panel is not None and panel.curve:
        tables.append(TextTable(SIZES, *COLUMNS.screen(size_costs(panel.curve))))
    return tables + ([_coverage_table(compiled.abstention)] if abstaining else [])


def outcome_notes(compiled: Compiled, *, calibration: bool) -> Iterator[str]:
    """Yields notes on each aspect's calibration, where wanted, and on the panel."""
    errors = calibration_errors(compiled.dataset, compiled.verification.judgments["compiled"])
    for aspect, fitted in compiled.judge.calibrators.items() if calibration else ():
        chosen = next((choice for choice in fitted.choices if choice.chosen), None)
        loss = (
            ""
            if chosen is None
            else f", loss {number(chosen.loss, 3)}, best of {len(fitted.choices)} in cross-validation"
        )
        error = errors[aspect]["accept"]
        off = errors[aspect]["confidence"] if error is None else error
        yield f"calibrator of {aspect}: {fitted.source}, {fitted.family}{loss}; calibration error on test {number(off)}"
    panel = compiled.panel
    if panel is not None and compiled.judge.asks_lm:
        who = f"{panel.kind} of {plural(len(panel.members), 'judge')} in place of {panel.incumbent}"
        if [one.judge for one in panel.members] == [panel.incumbent]:
            who = f"none was better, {panel.incumbent} judges alone"
        gain = show(panel.gain, 3, sign=True)
        yield f"panel: {who}; gain on test over the best single judge, both compiled: {gain}"


def _costs_tables(compiled: Compiled) -> list[TextTable]:
    """The judges that no other one beats at their price, and the one that ships; none where all cost the same."""
    rows = [row for row in compiled.costs if row.pareto or row.chosen]
    if len(rows) < 2:
        return []
    return [TextTable(f"{TITLE}, on {rows[0].split}", *COLUMNS.screen(rows))]


def _panel_table(panel: PanelFound) -> TextTable:
    rows = [(one.judge, show(one.adds, 3, sign=True), dollars(one.cost_usd)) for one in panel.members]
    return TextTable(f"Panel: {panel.kind}", ("member", "adds", "$"), rows)


def _coverage_table(abstention: Abstention) -> TextTable:
    points = [("", point) for point in abstention.curve]
    if abstention.chosen is not None:
        points.append(("in use: ", abstention.chosen))
    rows = [
        (f"{prefix}{number(point.below)}", percent(point.coverage), show(point.agreement)) for prefix, point in points
    ]
    heads = ("confidence at least", "scored", statistic_name(abstention.of))
    return TextTable("Leaving the least sure to a human, on test", heads, rows)
