"""Records what was chosen, a prompt or a panel, and every candidate beside it."""

from dataclasses import dataclass, field, replace

from judgec.compile.assemble import Fitted
from judgec.compile.search.candidates import Candidate
from judgec.raters.pool import MEAN
from judgec.raters.tree import Mean
from judgec.records.estimate import Estimate
from judgec.records.ratings import GradePairs
from judgec.stats.intervals.paired_gain import PairedGain

SINGLE = "single"  # the kind of a panel that was not better than the best single judge


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """A candidate and its objective on dev.

    Args:
        candidate: The prompt.
        dev: The objective on the dev items that it ran on before it lost, or on all.
        unscored: How many of these it left unscored.
        items: How many these were.
        estimate: Of a recorded judge, the same as an estimate, on train and dev.
        cost_usd: Of a recorded judge, what its verdicts on these items cost; None where nobody knows.
        calls: Of a recorded judge, how often it was asked about the items of train and dev.
        asked: About how many of them.
        worth: Of a recorded judge, its objective once it is calibrated, out of fold on train and dev.
        rated: The grades that ``worth`` is of, beside the experts' labels.
        members: Of a panel, its members.
    """

    candidate: Candidate
    dev: float
    unscored: int
    items: int
    estimate: Estimate | None = None
    cost_usd: float | None = None
    calls: float = 0.0
    asked: int = 0
    worth: Estimate | None = None
    rated: GradePairs | None = field(default=None, repr=False)
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PanelSize:
    """Cost and agreement of a panel of a given size.

    Args:
        members: How many judges.
        calls_per_item: How often they are asked about an item.
        usd_per_1000: US dollars for a thousand items, as recorded; None where nobody knows.
        worth: The objective out of fold on train and dev; members and cut points are those of the other folds.
        error: Its standard error, clustered by query; None where it is undefined.
        below_best: How much more the best size is worth, on the items of both.
        chosen: It ships.
    """

    members: int
    calls_per_item: float
    usd_per_1000: float | None
    worth: Estimate
    error: float | None
    below_best: PairedGain
    chosen: bool = False

    def to_json(self) -> dict[str, object]:
        """A row of the report's ``panel.curve``."""
        below = {"value": self.below_best.value, "standard_error": self.below_best.error}
        return {
            "members": self.members,
            "calls_per_item": self.calls_per_item,
            "usd_per_1000": self.usd_per_1000,
            "objective": self.worth.to_json() | {"standard_error": self.error},
            "below_best": below,
            "chosen": self.chosen,
            "n": self.worth.n,
        }


@dataclass(frozen=True, slots=True)
class ChosenPanel:
    """Result of the search for a panel of recorded judges.

    Args:
        panel: What ships; None where it is the best single judge.
        incumbent: That judge.
        single: The same, calibrated, with evidence.
        curve: Of ``--panel auto``, the sizes that were compared; else empty.
    """

    panel: Mean | None
    incumbent: Candidate
    single: Fitted
    curve: tuple[PanelSize, ...] = ()

    @property
    def kind(self) -> str:
        """``mean`` or ``single``."""
        return SINGLE if self.panel is None else MEAN

    @property
    def members(self) -> tuple[str, ...]:
        """The judges whose verdicts are needed."""
        return (self.incumbent.name,) if self.panel is None else self.panel.members


@dataclass(frozen=True, slots=True)
class ChosenPrompt:
    """The prompt that was chosen, every candidate that ran, and what the user should know.

    Args:
        chosen: The prompt.
        fitted: The judge with it as ``assemble.fitted`` makes it, where choosing took one, or None.
        scored: Every candidate.
        notes: For the user.
        uncompiled: Of recorded judges, the one to compare with; None where that is the task's own prompt.
        alone: Of recorded judges, the best one as it is, out of fold; else None.
        panel: Of recorded judges, what came of looking for a panel; None where nobody asked for one.
    """

    chosen: Candidate
    fitted: Fitted | None
    scored: tuple[ScoredCandidate, ...]
    notes: tuple[str, ...]
    uncompiled: Candidate | None = None
    alone: Candidate | None = None
    panel: ChosenPanel | None = None

    def without_ratings(self) -> "ChosenPrompt":
        """The same for a fold that does not ship: without every judge's grades, which fill memory."""
        return replace(self, scored=tuple(replace(one, rated=None) for one in self.scored))
