"""Cost beside worth for people: columns that the screen and the judge's page share."""

from collections.abc import Sequence

from judgec.records.cost import JudgeCost
from judgec.records.estimate import Estimate
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import shown
from judgec.report.numbers import dollars, number, show

TITLE = "Cost and objective"
SIZES = "Judges on the panel"
COLUMNS: TableColumns[JudgeCost] = TableColumns(
    (
        Column("judge", lambda one: one.judge),
        Column("calls/item", lambda one: number(one.calls_per_item)),
        Column("$/1,000 items", lambda one: dollars(one.usd_per_1000, "unknown")),
        Column("objective [95 %]", lambda one: show(one.dev), cell=lambda one: shown(one.dev)),
        Column("labels", lambda one: f"{one.dev.n:,}", screen=False),
        Column(
            "minus the one that ships",
            lambda one: "" if one.minus_chosen is None else show(one.minus_chosen, 3, sign=True),
            cell=lambda one: "" if one.minus_chosen is None else shown(one.minus_chosen, 3, sign=True),
            screen=False,
        ),
        Column("front", lambda one: "front" if one.pareto else ""),
        Column("", lambda one: "ships" if one.chosen else ""),
    )
)
FRONT = "On the (Pareto) front: no other judge is cheaper and at least as good, or better at no higher cost."
RECORDED = (
    "Each judge is calibrated on its own verdicts and measured out of fold, on the items of train and dev that it was "
    "asked about; a cascade is measured as it ships. The difference from the judge that ships is measured on the items "
    "that both were asked about; it decides which judges are on the front."
)
ASKED = (
    "Each prompt is measured as it is, on the items of dev that it ran on, at list price; one that left the race early "
    "is not on the front. Evidence alone is calibrated, out of fold."
)
OF_SIZES = (
    "Members, kind and cut points of each size are chosen on the other folds of train and dev. With --panel auto the "
    "smallest size ships that is less than half a standard error behind the best, if it beats the best single judge."
)


def caption(rows: Sequence[JudgeCost]) -> str:
    """Caption that says what the numbers are of."""
    return f"{FRONT} {ASKED if any(row.kind == 'prompt' for row in rows) else RECORDED}"


def logged(rows: Sequence[JudgeCost]) -> dict[str, list[object]]:
    """The table in the form of ``mlflow.log_table``."""
    columns: list[object] = ["judge", "kind", "calls_per_item", "usd_per_1000", "dev", "dev.low", "dev.high", "n"]
    gain: list[object] = ["minus_chosen", "minus_chosen.low", "minus_chosen.high"]
    data: list[object] = [
        [
            row.judge,
            row.kind,
            row.calls_per_item,
            row.usd_per_1000,
            row.dev.value,
            row.dev.low,
            row.dev.high,
            row.dev.n,
            *(_ends(row.minus_chosen)),
            row.split,
            row.pareto,
            row.chosen,
        ]
        for row in rows
    ]
    return {"columns": [*columns, *gain, "split", "pareto", "chosen"], "data": data}


def _ends(found: Estimate | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if found is None else (found.value, found.low, found.high)
