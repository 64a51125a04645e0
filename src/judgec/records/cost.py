"""The cost of a judge beside its worth."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from judgec.records.estimate import Estimate

JudgeKind = Literal["prompt", "recorded", "function", "evidence", "panel", "cascade"]


@dataclass(frozen=True, slots=True)
class JudgeCost:
    """A judge that a compile could have shipped.

    Args:
        judge: Its name.
        kind: A prompt of a search, one recorded judge, evidence alone, several together, or two one after the other.
        calls_per_item: How often it is asked about an item: runs and orders, of a panel over all members.
        usd_per_1000: US dollars for a thousand items, as recorded or by the price list; None where nobody knows, not 0.
        dev: The objective once it is calibrated, out of fold; of a prompt as it is.
        pareto: No other judge is at least as good and cheaper, or better and no dearer.
        chosen: It ships.
        split: The items that ``dev`` is of.
        minus_chosen: Of recorded judges, ``dev`` minus that of the judge that ships, on the items that both were asked
            about.
    """

    judge: str
    kind: JudgeKind
    calls_per_item: float
    usd_per_1000: float | None
    dev: Estimate
    pareto: bool
    chosen: bool
    split: str = "train+dev"
    minus_chosen: Estimate | None = None

    @property
    def comparable(self) -> float | None:
        """The cost by which the rows of one table may be ranked."""
        return self.dev.value if self.minus_chosen is None else self.minus_chosen.value

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:  # Any: of a report, which ``to_json`` wrote
        """As a report has it."""
        beside, known = row["minus_chosen"], {name: value for name, value in row.items() if name != "n"}
        known["dev"] = Estimate(**row["dev"], n=row["n"])
        return cls(**known | {"minus_chosen": None if beside is None else Estimate(**beside)})

    def to_json(self) -> dict[str, object]:
        """A row of the report's ``costs``."""
        return {
            "judge": self.judge,
            "kind": self.kind,
            "calls_per_item": self.calls_per_item,
            "usd_per_1000": self.usd_per_1000,
            "dev": self.dev.to_json(),
            "n": self.dev.n,
            "minus_chosen": None if self.minus_chosen is None else self.minus_chosen.to_json(),
            "split": self.split,
            "pareto": self.pareto,
            "chosen": self.chosen,
        }
