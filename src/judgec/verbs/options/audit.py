"""Options of ``judgec.audit``."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import BatchSpending, HeldOutLabels, JudgeName, OtherLm, Seed

if TYPE_CHECKING:
    from judgec.verbs.judge import Judge


@dataclass(frozen=True, kw_only=True)
class AuditOptions(BatchSpending, HeldOutLabels):
    """Options of ``audit``: the judge, the audits, and the items."""

    judge: Annotated["Judge | str", replace(JudgeName, leading=True)]
    only: Annotated[tuple[str, ...], Option("The audits to run. Default: all.", metavar="NAME,...", commas=True)] = ()
    items: Annotated[int, Option("The most items to change.", metavar="N", least=1)] = 60
    lm: OtherLm = None
    seed: Seed = 0
