"""The cost of a judge beside its worth."""

from dataclasses import dataclass
from typing import Literal

from judgec.records.estimate import Estimate

JudgeKind = Literal["recorded", "panel"]


@dataclass(frozen=True, slots=True)
class JudgeCost:
    """A judge that a compile could have shipped.

    Args:
        judge: Its name.
        kind: One recorded judge, or several together.
        calls_per_item: How often it is asked about an item: runs and orders, of a panel over all members.
        usd_per_1000: US dollars for a thousand items; None where the cost of any verdict is unknown, never 0 for that.
        dev: The objective of its verdicts as they are, on train and dev.
        pareto: No other judge is at least as good and cheaper, or better and no dearer.
        chosen: It ships.
    """

    judge: str
    kind: JudgeKind
    calls_per_item: float
    usd_per_1000: float | None
    dev: Estimate
    pareto: bool
    chosen: bool

    def to_json(self) -> dict[str, object]:
        """A row of the report's ``costs``."""
        return {
            "judge": self.judge,
            "kind": self.kind,
            "calls_per_item": self.calls_per_item,
            "usd_per_1000": self.usd_per_1000,
            "dev": self.dev.to_json(),
            "split": "train+dev",
            "pareto": self.pareto,
            "chosen": self.chosen,
        }
