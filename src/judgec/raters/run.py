"""A run of a tree of raters: scale and aspects of the judge, with the models, verdicts and features it meets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from judgec.raters.calibrator import Calibrator
from judgec.raters.features import FeatureSource, NewFeatures
from judgec.raters.piece import Piece
from judgec.raters.rater import Count, Rater, Rating
from judgec.raters.reasons import Reasons
from judgec.records.scale import Scale


class Rates(Protocol):
    """A node of a tree."""

    def rate(self, piece: Piece, run: "Run") -> Rating:
        """Judge the items of a piece, in order."""


@dataclass
class Run:
    """What a tree rates with; no part of it.

    Args:
        scale: The grades.
        aspects: What is graded of each item.
        open: Opens a leaf, once.
        pairs: Two answers are compared.
        checks: The output of a prompt that is checked piece by piece, or empty.
        features: Where evidence comes from.
        count: Told of verdicts.
        orders: Verdicts that a leaf gives an item: two where each pair is asked in both orders.
        remarks: What calibration and evidence have to say stands behind a verdict's own reason.
    """

    scale: Scale
    aspects: tuple[str, ...]
    open: Callable[[Any], Rater]  # of a leaf: ``raters.tree`` imports this
    pairs: bool = False
    checks: str = ""
    features: FeatureSource = field(default_factory=NewFeatures)
    count: Count = field(default_factory=Count)
    orders: int = 1
    remarks: bool = True
    _open: dict[int, Rater] = field(default_factory=dict, init=False)
    _reasons: dict[int, Reasons] = field(default_factory=dict, init=False)

    def rater(self, leaf: Rates) -> Rater:
        """A leaf, opened."""
        if id(leaf) not in self._open:
            self._open[id(leaf)] = self.open(leaf)
        return self._open[id(leaf)]

    def reasons(self, by: Mapping[str, Calibrator]) -> Reasons | None:
        """The reasons of what these calibrators make; None without remarks."""
        if self.remarks and id(by) not in self._reasons:
            self._reasons[id(by)] = Reasons(by, self.scale, pairs=self.pairs)
        return self._reasons.get(id(by))


@dataclass(frozen=True)
class Bound:
    """A node with what it rates with: a rater.

    Args:
        node: Of a tree.
        run: Of the same judge.
    """

    node: Rates
    run: Run

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        return self.node.rate(piece, self.run)
