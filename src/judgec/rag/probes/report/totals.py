"""Totals of a probe: of all, by scenario, by data set, by system."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from judgec.records.estimate import Estimate
from judgec.report.columns import Column, TableColumns
from judgec.report.numbers import show_percent

TotalOf: TypeAlias = Literal["overall", "scenario", "data_set", "system"]
TOTALS_OF: tuple[TotalOf, ...] = ("overall", "scenario", "data_set", "system")


@dataclass(frozen=True, slots=True)
class Total:
    """Everything that was asked of one scenario, of one data set or of one system, or all of it.

    Args:
        by: What it is the total of.
        name: Its name; empty of all.
        failure_rate: As in ``Cell``, with an interval over the source documents of all data sets.
        at_worst: As in ``Cell``.
        failures: How many replies failed.
        n: How many were judged.
        errors: How many questions were given no answer.
        unscored: How many replies could not be judged.
    """

    by: TotalOf
    name: str
    failure_rate: Estimate
    at_worst: Estimate
    failures: int
    n: int
    errors: int
    unscored: int

    @property
    def shown(self) -> str:
        """Name for people."""
        return "all" if self.by == "overall" else f"{self.by.replace('_', ' ')} {self.name}"

    def to_json(self) -> dict[str, object]:
        """For ``report.json``."""
        counts = {name: getattr(self, name) for name in ("failures", "n", "errors", "unscored")}
        return {
            "failure_rate": self.failure_rate.to_json(),
            "failure_rate_with_errors": self.at_worst.to_json(),
            **counts,
        }


TOTALS: TableColumns[Total] = TableColumns(
    (
        Column("", lambda total: total.shown),
        Column("failure rate", lambda total: show_percent(total.failure_rate)),
        Column("failures", lambda total: str(total.failures)),
        Column("n", lambda total: str(total.n)),
        Column("errors", lambda total: str(total.errors)),
        Column("unscored", lambda total: str(total.unscored)),
    )
)
