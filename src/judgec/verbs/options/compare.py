"""Options of ``judgec.compare``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import HeldOutLabels, Spending, Task

if TYPE_CHECKING:
    from judgec.verbs.judge import Judge


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Spending, HeldOutLabels):
    """Options of ``compare``: the judges, and the items."""

    a: Annotated[
        "Judge | str",
        Option(
            "NAME[@VERSION]: @champion, @latest or a number; zero-shot[:TASK].",
            metavar="A",
            positional=True,
            panel="What",
        ),
    ]
    b: Annotated["Judge | str", Option("The other judge.", metavar="B", positional=True, panel="What")]
    lm: Annotated[str | None, Option("The model of zero-shot.", metavar="MODEL", panel="Model")] = None
    out: Annotated[
        Path | None, Option("The file for the items on which the two differ.", metavar="OUT.jsonl", panel="Output")
    ] = None
    task: Task = None
