"""Options of ``judgec.watch``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from judgec.verbs.options.judge import Asking
from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import JudgeName, Places


@dataclass(frozen=True, kw_only=True)
class WatchOptions(Asking, Places):
    """Options of ``watch``: the traces, the judge, and the alerts."""

    source: Annotated[str, Option("The experiment whose traces are judged.", metavar="mlflow:EXPERIMENT", panel="What")]
    judge: Annotated[str, JudgeName]
    rate: Annotated[float, Option("Share of the traces that is judged, chosen by their ids.", least=0, most=1)] = 0.05
    labels: Annotated[
        Path | None,
        Option(
            "Labels of traces, beside people's feedback on them: trace_id, and a grade or accept.",
            metavar="FILE",
            panel="What",
        ),
    ] = None
    alert: Annotated[
        tuple[str, ...],
        Option(
            "Exit 1 when this is shown: accept<.80, accept>.99, raw<.80; repeat for several.",
            metavar="CONDITION",
            panel="Output",
        ),
    ] = ()
    assessment: Annotated[str | None, Option("The human feedback to read from mlflow:EXPERIMENT.", metavar="NAME")] = (
        None
    )
    aspect: Annotated[
        str | None, Option("For a judge of several aspects: the one whose rate is kept.", metavar="NAME")
    ] = None
