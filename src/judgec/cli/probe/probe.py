"""``judgec probe``."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import ApiBaseOption, HomeOption, JsonOption, TrackingOption

QUESTIONS, SYSTEMS, JUDGES, MODELS = "Questions", "Systems", "Judges", "Models"

ScenariosOption = Annotated[
    list[str] | None, typer.Option("--scenarios", metavar="S1,S2|FILE|all", help="Ids, YAML files or folders; or all.")
]
IndexOption = Annotated[
    list[str] | None, typer.Option("--index", metavar="I", help="An index or documents; repeat for several data sets.")
]
SystemOption = Annotated[
    list[str] | None,
    typer.Option("--system", metavar="NAME", help="http.yaml, python:module:function, rag-bm25; repeatable."),
]
CountOption = Annotated[
    int | None, typer.Option("--n", min=1, help="Questions of each scenario; default: its own number.")
]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="report.html, report.json, junit.xml, results.")]
QuestionsOption = Annotated[
    str | None, typer.Option("--questions", metavar="FILE", help="Ask these instead of writing some.")
]
LimitOption = Annotated[
    list[str] | None, typer.Option("--max-failure", metavar="S4=0.3", help="Exit 1 unless shown; repeatable.")
]
CompareOption = Annotated[
    tuple[str, str] | None, typer.Option("--compare", metavar="A B", help="Two probes' folders (DIR or DIR:SYSTEM).")
]
LmOption = Annotated[str, typer.Option("--lm", help="Writes questions, judges, and answers for judgec's agents.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Of documents, chunks, options.", rich_help_panel=QUESTIONS)]
ReliabilityOption = Annotated[
    str,
    typer.Option("--reliability", help="A reliability judge that filters, or none.", rich_help_panel=QUESTIONS),
]
KOption = Annotated[int, typer.Option("--k", min=1, help="Passages of judgec's agents.", rich_help_panel=SYSTEMS)]
AgentLmOption = Annotated[
    str | None, typer.Option("--agent-lm", help="Another model for judgec's agents.", rich_help_panel=SYSTEMS)
]
JudgeOption = Annotated[
    str | None,
    typer.Option("--judge", metavar="NAME", help="A judge of the four criteria.", rich_help_panel=JUDGES),
]
RejectionOption = Annotated[
    str | None,
    typer.Option("--rejection-judge", metavar="NAME", help="A judge of refusals.", rich_help_panel=JUDGES),
]
UnprovenOption = Annotated[
    bool,
    typer.Option("--unproven", help="Use judges that were not shown to be better.", rich_help_panel=JUDGES),
]
TemperatureOption = Annotated[
    float, typer.Option("--temperature", min=0, max=2, help="Of the model that writes.", rich_help_panel=MODELS)
]
BudgetOption = Annotated[
    int | None, typer.Option("--budget", metavar="CALLS", help="Most LM calls.", rich_help_panel=MODELS)
]
CostOption = Annotated[
    float | None, typer.Option("--max-cost", metavar="USD", help="Most dollars.", rich_help_panel=MODELS)
]


def probe(
    *,
    scenarios: ScenariosOption = None,
    index: IndexOption = None,
    system: SystemOption = None,
    n: CountOption = None,
    out: OutOption = Path("probe"),
    questions: QuestionsOption = None,
    max_failure: LimitOption = None,
    compare: CompareOption = None,
    json: JsonOption = False,
    lm: LmOption = "embedded",
    seed: SeedOption = 0,
    reliability: ReliabilityOption = "none",
    k: KOption = 5,
    agent_lm: AgentLmOption = None,
    judge: JudgeOption = None,
    rejection_judge: RejectionOption = None,
    unproven: UnprovenOption = False,
    temperature: TemperatureOption = 0.7,
    api_base: ApiBaseOption = None,
    budget: BudgetOption = None,
    max_cost: CostOption = None,
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
) -> None:
    """Put questions of known kinds to RAG systems: where they fail, how often, and which part of them does."""
    if compare is not None:
        from judgec.cli.probe.comparing import run_comparison

        run_comparison(compare[0], compare[1], seed=seed, json=json)
        return
    from judgec.cli.probe.probing import Request, run

    run(
        Request(
            scenarios=tuple(scenarios or ()),
            indexes=tuple(index or ()),
            systems=tuple(system or ()),
            n=n,
            out=out,
            questions=questions,
            max_failure=tuple(max_failure or ()),
            json=json,
            lm=lm,
            seed=seed,
            reliability=reliability,
            k=k,
            agent_lm=agent_lm,
            judge=judge,
            rejection_judge=rejection_judge,
            unproven=unproven,
            temperature=temperature,
            api_base=api_base,
            budget=budget,
            max_cost=max_cost,
            home=home,
            tracking_uri=tracking_uri,
        )
    )
