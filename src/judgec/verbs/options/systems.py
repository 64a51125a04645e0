"""Options of ``judgec.systems``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import Gate, LabelColumns, OtherLm, Places, Spending

if TYPE_CHECKING:
    from judgec.verbs.frames import Source


@dataclass(frozen=True, kw_only=True)
class SystemsOptions(LabelColumns, Spending, Places):
    """Options of ``systems``: a table of what systems answered, judges' verdicts on it, people's on a part of it."""

    file: Annotated[
        "Source",
        Option(
            "A row an answer, or a pair of answers: its query, agent, a judge's verdict, and some labels of people.",
            metavar="FILE",
            positional=True,
            panel="What",
            project="labels",
        ),
    ]
    judge: Annotated[
        str | None,
        Option("A compiled judge: it judges FILE first.", metavar="NAME[@VERSION]", panel="What"),
    ] = None
    lm: OtherLm = None
    gate: Gate = None
