"""Cost beside worth for people: columns that the screen and the judge's page share."""

from judgec.records.cost import JudgeCost
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import shown
from judgec.report.numbers import dollars, number, show

TITLE = "Cost and objective, on train and dev"
COLUMNS: TableColumns[JudgeCost] = TableColumns(
    (
        Column("judge", lambda one: one.judge),
        Column("calls/item", lambda one: number(one.calls_per_item)),
        Column("$/1,000 items", lambda one: dollars(one.usd_per_1000, "unknown")),
        Column("objective [95 %]", lambda one: show(one.dev), cell=lambda one: shown(one.dev)),
        Column("front", lambda one: "front" if one.pareto else ""),
        Column("", lambda one: "ships" if one.chosen else ""),
    )
)
