"""The record of how far a judge finds the failure modes that experts see."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from judgec.records.estimate import Estimate


@dataclass(frozen=True, slots=True)
class FoundModes:
    """A judge beside the experts on one failure mode, or on several together.

    Args:
        kappa: Cohen's; None with a note where the mode is too rare to measure it.
        precision: Share of what the judge flags that experts flag, too; None likewise.
        recall: Share of what experts flag that the judge flags, too; None likewise.
        p: Two-sided, of "what the judge flags has nothing to do with what experts flag"; None likewise.
        p_holm: The same after Holm's correction over the modes that have one.
        n: Labels compared: of the experts, with a judgment.
        present: Those where experts see it.
        flagged: Those where the judge does.
        unscored: Labels without a judgment; in nothing above.
    """

    kappa: Estimate
    precision: Estimate
    recall: Estimate
    p: float | None = None
    p_holm: float | None = None
    n: int = 0
    present: float = 0
    flagged: int = 0
    unscored: int = 0

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:  # Any: of a report, which ``to_json`` wrote
        """As a report has it."""
        shares = {name: Estimate(**found[name]) for name in ("kappa", "precision", "recall")}
        return cls(**{name: value for name, value in found.items() if name != "threshold"} | shares)

    def to_json(self) -> dict[str, object]:
        """For reports."""
        return {
            "kappa": self.kappa.to_json(),
            "precision": self.precision.to_json(),
            "recall": self.recall.to_json(),
            "p": self.p,
            "p_holm": self.p_holm,
            "n": self.n,
            "present": self.present,
            "flagged": self.flagged,
            "unscored": self.unscored,
        }


@dataclass(frozen=True, slots=True)
class ModesAgreement:
    """All failure modes of a judge.

    Args:
        modes: By name.
        micro: All labels of all modes together, whatever they are of.
        macro: By statistic, its mean over the modes that have it.
        averaged: By statistic, these modes.
        thresholds: By mode, the probability from which the judge says that it is there; where it has one.
    """

    modes: Mapping[str, FoundModes]
    micro: FoundModes
    macro: Mapping[str, Estimate]
    averaged: Mapping[str, tuple[str, ...]]
    thresholds: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:  # Any: of a report, which ``to_json`` wrote
        """As a report has it."""
        modes, means = found["modes"], {name: dict(one) for name, one in found["macro"].items()}
        averaged = {name: tuple(one.pop("modes")) for name, one in means.items()}
        cuts = {mode: one["threshold"] for mode, one in modes.items() if one.get("threshold") is not None}
        return cls(
            {mode: FoundModes.from_json(one) for mode, one in modes.items()},
            FoundModes.from_json(found["micro"]),
            {name: Estimate(**one) for name, one in means.items()},
            averaged,
            cuts,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Statistics that could not be measured, of which mode, and why, one sentence each."""
        return tuple(
            f"{mode}: {note}"
            for mode, one in self.modes.items()
            for note in dict.fromkeys(e.note for e in (one.recall, one.precision) if e.value is None and e.note)
        )

    def to_json(self) -> dict[str, object]:
        """For reports."""
        threshold = {mode: {"threshold": self.thresholds.get(mode)} if self.thresholds else {} for mode in self.modes}
        return {
            "modes": {mode: one.to_json() | threshold[mode] for mode, one in self.modes.items()},
            "micro": self.micro.to_json(),
            "macro": {name: one.to_json() | {"modes": list(self.averaged[name])} for name, one in self.macro.items()},
        }
