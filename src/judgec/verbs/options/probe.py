"""Options of ``judgec.probe``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import Places, Seed, Spending, Temperature, Unproven

if TYPE_CHECKING:
    from judgec.verbs.frames import Source


@dataclass(frozen=True, kw_only=True)
class ProbeOptions(Spending, Places):
    """Options of ``probe``: the questions, the systems, and the judges."""

    scenarios: Annotated[
        tuple[str, ...],
        Option("Scenarios: ids, YAML files or folders; or all.", metavar="S1,S2|FILE|all", panel="What"),
    ] = ()
    index: Annotated[
        tuple[str, ...],
        Option(
            "An index or documents; repeat for several data sets.",
            metavar="I",
            python="CorpusIndex | str | Path | Sequence[CorpusIndex | str | Path]",
            panel="What",
        ),
    ] = ()
    system: Annotated[
        tuple[str, ...],
        Option(
            "The system: http.yaml, python:module:function, rag-bm25; repeat for several. Required without --compare.",
            metavar="NAME",
            panel="What",
        ),
    ] = ()
    n: Annotated[int | None, Option("Questions of each scenario; default: its own number.", least=1, panel="What")] = (
        None
    )
    out: Annotated[
        Path, Option("The folder for report.html, report.json, junit.xml and results.", metavar="DIR", panel="Output")
    ] = Path("probe")
    questions: Annotated[
        "Source | None", Option("Ask these questions in place of generated ones.", metavar="FILE", panel="What")
    ] = None
    max_failure: Annotated[
        tuple[str, ...],
        Option(
            "Exit 1 unless this is shown; repeat for several.",
            metavar="S4=0.3",
            python="str | float | Mapping[str, float] | Sequence[str]",
            panel="Output",
        ),
    ] = ()
    lm: Annotated[
        str,
        Option(
            "The model that writes questions, judges, and answers for judgec's agents; embedded: rules, no model.",
            panel="Model",
        ),
    ] = "embedded"
    seed: Seed = 0
    try_fix: Annotated[
        bool,
        Option("Change a setting of judgec's agents, and ask them again the questions that they failed.", panel="What"),
    ] = False
    repeat: Annotated[
        int, Option("Ask each question N times, and say how many verdicts change.", metavar="N", least=1, panel="What")
    ] = 1
    reliability: Annotated[str, Option("A reliability judge that filters the questions, or none.")] = "none"
    k: Annotated[int, Option("Number of passages that judgec's agents answer from.", least=1)] = 5
    agents_lm: Annotated[str | None, Option("Another model for judgec's agents.", panel="Model")] = None
    judge: Annotated[
        str | None, Option("A judge of the four criteria; with commas a jury.", metavar="A,B", panel="What")
    ] = None
    rejection_judge: Annotated[str | None, Option("A judge of refusals; with commas a jury.", metavar="A,B")] = None
    metric: Annotated[
        tuple[str, ...],
        Option("Answers must pass these too: faithfulness, bias, judge:NAME.", metavar="NAME", commas=True),
    ] = ()
    unproven: Unproven = False
    temperature: Temperature = 0.7
