"""The record of the Alternative Annotator Test: may a judge replace an annotator."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from judgec.records.estimate import Estimate

ENOUGH = 0.5  # winning rate from which a judge may replace an annotator: the paper's


@dataclass(frozen=True, slots=True)
class AnnotatorContest:
    """A judge against one annotator, both held against what the other annotators said.

    Args:
        annotator: Who.
        rho_judge: Share of items on which the judge is at least as close to the others as the annotator.
        rho_annotator: The same of the annotator; both count where they are equally close.
        difference: ``rho_judge - rho_annotator`` with its interval.
        p: One-sided p-value of "the judge is worse by epsilon or more".
        p_adjusted: The same after Benjamini and Yekutieli.
        wins: The judge may be used instead of this annotator.
        items: Labels that both were held against.
        queries: Queries that these belong to; None where items were taken to be independent.
    """

    annotator: str
    rho_judge: float
    rho_annotator: float
    difference: Estimate
    p: float
    p_adjusted: float
    wins: bool
    items: int
    queries: int | None

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:  # Any: of a report, which ``to_json`` wrote
        """As a report has it."""
        return cls(**dict(found) | {"difference": Estimate(**found["difference"])})

    def to_json(self) -> dict[str, object]:
        """The form of reports."""
        return {
            "annotator": self.annotator,
            "rho_judge": self.rho_judge,
            "rho_annotator": self.rho_annotator,
            "difference": self.difference.to_json(),
            "p": self.p,
            "p_adjusted": self.p_adjusted,
            "wins": self.wins,
            "items": self.items,
            "queries": self.queries,
        }


@dataclass(frozen=True, slots=True)
class AltTest:
    """The Alternative Annotator Test of one judge.

    Args:
        omega: Winning rate: the share of annotators that the judge wins against; None where nothing was tested.
        rho: Average advantage probability: the mean of ``rho_judge``; None likewise.
        epsilon: By how much the judge may be worse, for what an annotator costs.
        q: The false discovery rate that is kept.
        contests: One an annotator that was tested.
        clustered_by: What items were grouped by: ``query``, a column, or ``item`` where each stands alone.
        alignment: ``accuracy`` or ``negative RMSE``.
        items: Labels of at least one tested annotator that another annotator gave, too.
        items_left_out: Labelled items (one an aspect) with a single annotator: nobody to be held against.
        unscored: Of ``items``, those without a judgment; they count against the judge.
        note: Why nothing was tested, or who was left out, in words; or empty.
        majority_omega: The winning rate of the most frequent grade, given to everything; None where nobody asked.
        majority_rho: Its average advantage probability.
        aspects: The same test of each aspect alone, where there are several; this one is of all their labels together.
    """

    omega: float | None
    rho: float | None
    epsilon: float
    q: float
    contests: tuple[AnnotatorContest, ...]
    clustered_by: str
    alignment: str
    items: int
    items_left_out: int
    unscored: int
    note: str = ""
    majority_omega: float | None = None
    majority_rho: float | None = None
    aspects: Mapping[str, "AltTest"] = field(default_factory=dict)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:  # Any: of a report, which ``to_json`` wrote
        """As a report has it."""
        plain = ("omega", "rho", "epsilon", "q", "clustered_by", "alignment", "items", "items_left_out", "unscored")
        constant = found.get("majority", {})
        return cls(
            **{name: found[name] for name in plain},
            contests=tuple(map(AnnotatorContest.from_json, found["annotators"])),
            note=found.get("note", ""),
            majority_omega=constant.get("omega"),
            majority_rho=constant.get("rho"),
            aspects={aspect: cls.from_json(one) for aspect, one in found.get("aspects", {}).items()},
        )

    @property
    def passes(self) -> bool | None:
        """The judge wins against at least half of the annotators; None where nothing was tested."""
        return None if self.omega is None else self.omega >= ENOUGH

    def to_json(self) -> dict[str, object]:
        """The key ``alt_test`` of reports."""
        report: dict[str, object] = {
            "omega": self.omega,
            "epsilon": self.epsilon,
            "rho": self.rho,
            "passes": self.passes,
            "n_annotators": len(self.contests),
            "annotators": [one.to_json() for one in self.contests],
            "q": self.q,
            "clustered_by": self.clustered_by,
            "alignment": self.alignment,
            "items": self.items,
            "items_left_out": self.items_left_out,
            "unscored": self.unscored,
        }
        if self.majority_omega is not None:
            report["majority"] = {"omega": self.majority_omega, "rho": self.majority_rho}
        if self.aspects:
            report["aspects"] = {aspect: found.to_json() for aspect, found in self.aspects.items()}
        return report | {"note": self.note} if self.note else report
