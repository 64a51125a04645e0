"""The record of a grader's agreement with the experts: one column of every report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from judgec.records.estimate import Estimate


@dataclass(frozen=True, slots=True)
class BlandAltman:
    """Bias (mean of judge - expert, scale units) and the 95 % limits of agreement; None when undefined.

    ``note`` says why something is None.
    """

    bias: float | None
    low: float | None
    high: float | None
    note: str = ""

    def to_json(self) -> dict[str, float | str | None]:
        """Bias and limits, with the note where there is one."""
        short: dict[str, float | str | None] = {"bias": self.bias, "low": self.low, "high": self.high}
        return short | {"note": self.note} if self.note else short


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of one judge, or of the experts among themselves, with the experts' grades.

    Args:
        estimates: By name: ``STATISTICS``, and more for some tasks.
        bland_altman: Of grades, in scale units.
        expert_reject_rate: Share of items that the experts reject, or None without a threshold.
        judge_reject_rate: The same for the judge.
        n: Rows compared: labelled and scored.
        n_clusters: Queries that these rows belong to.
        unscored: Labelled rows without a judgment; in no statistic here, and against the judge in every
            comparison.
        aspects: The same by aspect, for tasks with several; empty otherwise.
    """

    estimates: Mapping[str, Estimate]
    bland_altman: BlandAltman
    expert_reject_rate: float | None
    judge_reject_rate: float | None
    n: int
    n_clusters: int
    unscored: int
    aspects: Mapping[str, "Agreement"] = field(default_factory=dict)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:  # Any: of a report, which ``to_json`` wrote
        """As a report has it."""
        rates = found["reject_rate"]
        return cls(
            {name: Estimate(**one) for name, one in found.items() if isinstance(one, dict) and "value" in one},
            BlandAltman(**found["bland_altman"]),
            rates["expert"],
            rates["judge"],
            found["n"],
            found["n_clusters"],
            found["unscored"],
            {aspect: cls.from_json(one) for aspect, one in found.get("aspects", {}).items()},
        )

    def to_json(self) -> dict[str, object]:
        """The form M of reports."""
        report: dict[str, object] = {
            **{name: estimate.to_json() for name, estimate in self.estimates.items()},
            "bland_altman": self.bland_altman.to_json(),
            "reject_rate": {"expert": self.expert_reject_rate, "judge": self.judge_reject_rate},
            "n": self.n,
            "n_clusters": self.n_clusters,
            "unscored": self.unscored,
        }
        if self.aspects:
            report["aspects"] = {name: part.to_json() for name, part in self.aspects.items()}
        return report
