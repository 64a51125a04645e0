"""Options of ``judgec.estimate``."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from judgec.verbs.options.judge import Asking
from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import (
    Annotators,
    Columns,
    JudgeName,
    Missing,
    Places,
    Turn,
)

if TYPE_CHECKING:
    from judgec.verbs.frames import Source
    from judgec.verbs.judge import Judge

ACCEPT_RATE = "accept_rate"


@dataclass(frozen=True, kw_only=True)
class EstimateOptions(Asking, Places):
    """Options of ``estimate``: the rate, the items, the judgments and the labels."""

    items: Annotated["Source", Option("All items; no labels are needed.", positional=True, panel="What")]
    judge: Annotated["Judge | str", JudgeName]
    labels: Annotated["Source", Option("A random sample of the items, labelled.", metavar="FILE", panel="What")]
    statistic: Annotated[str, Option("The rate over all items, corrected by labels.", metavar="accept_rate")] = (
        ACCEPT_RATE
    )
    columns: Columns = field(default_factory=dict)
    annotators: Annotators = ()
    missing: Missing = ()
    turn: Turn = None
