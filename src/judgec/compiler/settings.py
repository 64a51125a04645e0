"""What the user asks of a compile, and how the compiler tells them where it is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from judgec.lm.spec import LMSpec

MIN_ITEMS = 30  # fewer: a warning, the intervals will be wide
MIN_TEST_QUERIES = 10  # fewer: never promoted, an interval over them means little


@dataclass(frozen=True, slots=True)
class CompileSettings:
    """Everything that decides the outcome of a compile besides the labels.

    Args:
        name: The program's family name; its salt decides the split.
        home: Folder that holds ``programs/``, ``mlruns/`` and ``.judgec/``.
        lm: The judge's language model.
        objective: What is maximised, for example ``tau_b`` or ``tau_b+accept``.
        optimizer: Name of the optimizer that proposes candidates.
        seed: Seed of everything random but the split.
        budget: Most LM calls, or None for no cap.
        max_cost: Most US dollars, or None for no cap.
        evidence: Whether the calibrator may use evidence features.
        resamples: Bootstrap resamples of each interval.
    """

    name: str
    home: Path
    lm: LMSpec
    objective: str = "tau_b"
    optimizer: str = "bootstrap"
    seed: int = 0
    budget: int | None = None
    max_cost: float | None = None
    evidence: bool = True
    resamples: int = 2000


class Watch(Protocol):
    """Told where a compile is; the command line draws a bar from it."""

    def stage(self, name: str, detail: str = "") -> None:
        """A stage begins."""

    def note(self, text: str) -> None:
        """Something that the user should know."""


class Silent:
    """A watch that says nothing."""

    def stage(self, name: str, detail: str = "") -> None:
        """Nothing is shown."""

    def note(self, text: str) -> None:
        """Nothing is shown."""
