"""A probe's tables for the screen."""

from judgec.probes.report.page import shown
from judgec.probes.report.summary import COMPONENTS, Summary

Rows = list[list[str]]


def rate_rows(summary: Summary) -> tuple[list[str], Rows]:
    """Failure rates: a row for each scenario, system and data set."""
    columns = ["scenario", "system", "data set", "failure rate", "n", "errors", "unscored", "lost in"]
    rows = [
        [
            cell.scenario,
            cell.system,
            cell.data_set,
            shown(cell.failure_rate),
            str(cell.n),
            str(cell.errors),
            str(cell.unscored),
            ", ".join(f"{name} {cell.components[name]}" for name in COMPONENTS if name in cell.components) or "-",
        ]
        for cell in summary.cells
    ]
    return columns, rows


def matrix_rows(summary: Summary) -> tuple[list[str], Rows]:
    """Failure rates without intervals: a row for each scenario and data set, a column for each system."""
    known = {(cell.scenario, cell.data_set, cell.system): cell for cell in summary.cells}
    places = dict.fromkeys((cell.scenario, cell.data_set) for cell in summary.cells)
    sets = {data_set for _, data_set in places}
    rows = []
    for scenario, data_set in places:
        name = f"{scenario} {data_set}" if len(sets) > 1 else scenario
        cells = [known.get((scenario, data_set, system)) for system in summary.systems]
        rates = [None if cell is None else cell.failure_rate.value for cell in cells]
        rows.append([name, *("–" if rate is None else f"{100 * rate:.0f} %" for rate in rates)])
    return ["scenario", *summary.systems], rows


def scenario_rows(summary: Summary) -> tuple[list[str], Rows]:
    """What to do: a row for each scenario."""
    rows = []
    for scenario in summary.scenarios:
        failing, of = summary.systems_failing[scenario]
        fix = summary.fixes.get(scenario)
        rows.append([scenario, f"{failing} of {of}", fix.fix if fix else "-", fix.reason if fix else ""])
    return ["scenario", "systems failing", "recommended fix", "because"], rows
