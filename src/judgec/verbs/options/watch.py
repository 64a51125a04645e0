"""Options of ``judgec.watch``."""

from dataclasses import dataclass
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
    alert: Annotated[
        tuple[str, ...],
        Option(
            "Exit 1 when this is shown: accept<.80, accept>.99, raw<.80, drift; repeat for several.",
            metavar="CONDITION",
            panel="Output",
        ),
    ] = ()
    window: Annotated[int, Option("The most verdicts that a rate is taken over.", least=10, metavar="N")] = 1000
    relabel: Annotated[
        int,
        Option(
            "After drift: number of new expert labels from which the rate is corrected again.", least=10, metavar="N"
        ),
    ] = 50
    assessment: Annotated[str | None, Option("The human feedback to read from mlflow:EXPERIMENT.", metavar="NAME")] = (
        None
    )
    recheck: Annotated[
        int,
        Option(
            "Ask the model again about N labelled items, and report when its grades have changed.", least=0, metavar="N"
        ),
    ] = 0
    aspect: Annotated[
        str | None, Option("For a judge of several aspects: the one whose rate is kept.", metavar="NAME")
    ] = None
