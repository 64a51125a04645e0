"""What ``judgec probe --compare`` does."""

from judgec.cli.output import print_json, print_table, say
from judgec.probes.compare import Compared, compare, read_side
from judgec.probes.report.page import shown
from judgec.records.estimate import Estimate


def run_comparison(a: str, b: str, *, seed: int, json: bool) -> None:
    """Compare two probes and print.

    Raises:
        UserError: When they cannot be compared.
        InputError: When a file is damaged.
    """
    found = compare(read_side(a), read_side(b), seed=seed)
    if json:
        print_json(found.to_json())
        return
    test = "McNemar p" if found.kind == "systems" else "Wilcoxon p"
    columns = ["scenario", "A fails", "B fails", "A - B", test, "smallest p"]
    title = "Two systems on the same questions" if found.kind == "systems" else "Two generators of questions"
    print_table(f"{title}: A = {found.names[0]}, B = {found.names[1]}", columns, [_row(row) for row in found.rows])
    say(*found.notes, "Intervals and resamples are over source documents; p-values are exact and two-sided.")


def _row(row: Compared) -> list[str]:
    p = row.mcnemar.p if row.mcnemar else row.wilcoxon.p if row.wilcoxon else None
    smallest = row.mcnemar.smallest_p if row.mcnemar else row.wilcoxon.smallest_p if row.wilcoxon else None
    return [row.scenario, shown(row.a), shown(row.b), _signed(row.difference), _p(p), _p(smallest)]


def _signed(difference: Estimate) -> str:
    if difference.value is None:
        return "–"
    value = f"{100 * difference.value:+.0f} points"
    if difference.low is None or difference.high is None:
        return value
    return f"{value} [{100 * difference.low:+.0f}, {100 * difference.high:+.0f}]"


def _p(p: float | None) -> str:
    return "–" if p is None else f"{p:.3g}"
