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
    """What is asked of which systems, and who judges."""

    scenarios: Annotated[
        tuple[str, ...], Option("Ids, YAML files or folders; or all.", metavar="S1,S2|FILE|all", panel="What")
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
        Option("http.yaml, python:module:function, rag-bm25; repeatable.", metavar="NAME", panel="What"),
    ] = ()
    n: Annotated[int | None, Option("Questions of each scenario; default: its own number.", least=1, panel="What")] = (
        None
    )
    out: Annotated[Path, Option("report.html, report.json, junit.xml, results.", metavar="DIR", panel="Output")] = Path(
        "probe"
    )
    questions: Annotated[
        "Source | None", Option("Ask these instead of writing some.", metavar="FILE", panel="What")
    ] = None
    max_failure: Annotated[
        tuple[str, ...],
        Option(
            "Exit 1 unless shown; repeatable.",
            metavar="S4=0.3",
            python="str | float | Mapping[str, float] | Sequence[str]",
            panel="Output",
        ),
    ] = ()
    lm: Annotated[
        str,
        Option(
            "Writes questions, judges, answers for judgec's agents; without one (embedded) rules do.", panel="Model"
        ),
    ] = "embedded"
    seed: Seed = 0
    try_fix: Annotated[bool, Option("Ask judgec's agents again what they failed, changed.", panel="What")] = False
    repeat: Annotated[
        int, Option("Ask each question so often: how many verdicts change.", metavar="N", least=1, panel="What")
    ] = 1
    reliability: Annotated[str, Option("A reliability judge that filters, or none.")] = "none"
    k: Annotated[int, Option("Passages of judgec's agents.", least=1)] = 5
    agent_lm: Annotated[str | None, Option("Another model for judgec's agents.", panel="Model")] = None
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
