"""A probe's tables for the screen."""

from collections.abc import Sequence

from judgec.rag.probes.report.summary import Summary, cell_columns
from judgec.report.numbers import percent

Rows = tuple[Sequence[str], Sequence[Sequence[str]]]


def rate_rows(summary: Summary) -> Rows:
    """Failure rates: a row for each scenario, system and data set, those of all data sets first."""
    return cell_columns().screen((*summary.across, *summary.cells))


def matrix_rows(summary: Summary) -> Rows:
    """Failure rates without intervals: a row for each scenario and data set, a column for each system."""
    cells = (*summary.across, *summary.cells)
    known = {(cell.scenario, cell.data_set, cell.system): cell for cell in cells}
    places = dict.fromkeys((cell.scenario, cell.data_set) for cell in cells)
    sets = {data_set for _, data_set in places}
    rows = []
    for scenario, data_set in places:
        name = f"{scenario} {data_set}" if len(sets) > 1 else scenario
        row = [known.get((scenario, data_set, system)) for system in summary.systems]
        rates = [None if cell is None else cell.failure_rate.value for cell in row]
        rows.append([name, *map(percent, rates)])
    return ["scenario", *summary.systems], rows


def scenario_rows(summary: Summary) -> Rows:
    """The table of what to do: a row for each scenario."""
    rows = []
    for scenario in summary.scenarios:
        failing, of = summary.systems_failing[scenario]
        fix = summary.fixes.get(scenario)
        rows.append([scenario, f"{failing} of {of}", fix.fix if fix else "-", fix.reason if fix else ""])
    return ["scenario", "systems failing", "recommended fix", "because"], rows
