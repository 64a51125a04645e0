"""``judgec compile-agent``."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import AcceptAtOption, ApiBaseOption, HomeOption, JsonOption, MapOption, TrackingOption

AGENT, SEARCH = "Agent", "Search"

AgentArgument = Annotated[str, typer.Argument(metavar="AGENT", help="rag-bm25, rag-fusion-hybrid, ...")]
IndexOption = Annotated[str, typer.Option("--index", metavar="INDEX", help="What it searches.")]
QueriesOption = Annotated[str, typer.Option("--queries", help="Table of query, query_id?, reference?")]
JudgeOption = Annotated[
    str | None, typer.Option("--judge", metavar="NAME[@VERSION]", help="Compile for this judge's score.")
]
LabelsOption = Annotated[
    str | None, typer.Option("--labels", metavar="FILE", help="Compile for answers that experts accepted.")
]
ReportJudgeOption = Annotated[
    str | None, typer.Option("--report-judge", metavar="NAME", help="Judges head to head; default: another champion.")
]
UnprovenOption = Annotated[bool, typer.Option("--unproven", help="Use judges that were not shown to be better.")]
NameOption = Annotated[str | None, typer.Option("--name", help="Name of the compiled agent; default: the agent's.")]
LmOption = Annotated[str, typer.Option("--lm", help="The agent's model.")]
RequireOption = Annotated[bool, typer.Option("--require-promotion", help="Exit 1 when it is not shown to be better.")]
KOption = Annotated[int, typer.Option("--k", min=1, help="Passages an answer rests on.", rich_help_panel=AGENT)]
VariationsOption = Annotated[
    int, typer.Option("--variations", min=1, max=20, help="Queries RAG-Fusion adds.", rich_help_panel=AGENT)
]
PersonaOption = Annotated[str, typer.Option("--persona", help="'think like an engineer'", rich_help_panel=AGENT)]
CitationsOption = Annotated[
    bool, typer.Option("--citations/--no-citations", help="Cite passages.", rich_help_panel=AGENT)
]
OptimizerOption = Annotated[
    str, typer.Option("--optimizer", help="auto, labeled, bootstrap or gepa.", rich_help_panel=SEARCH)
]
ReflectionOption = Annotated[
    str | None, typer.Option("--reflection-lm", help="Rewrites prompts; default: --lm.", rich_help_panel=SEARCH)
]
SeedOption = Annotated[int, typer.Option("--seed", help="The split never depends on it.", rich_help_panel=SEARCH)]
BudgetOption = Annotated[
    int | None, typer.Option("--budget", min=1, metavar="CALLS", help="Most LM calls.", rich_help_panel=SEARCH)
]
CostOption = Annotated[
    float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Most dollars.", rich_help_panel=SEARCH)
]


def compile_agent(
    agent: AgentArgument,
    *,
    index: IndexOption,
    queries: QueriesOption,
    judge: JudgeOption = None,
    labels: LabelsOption = None,
    report_judge: ReportJudgeOption = None,
    unproven: UnprovenOption = False,
    name: NameOption = None,
    lm: LmOption = "embedded",
    require_promotion: RequireOption = False,
    json: JsonOption = False,
    rename: MapOption = None,
    accept_at: AcceptAtOption = None,
    k: KOption = 5,
    variations: VariationsOption = 4,
    persona: PersonaOption = "",
    citations: CitationsOption = True,
    optimizer: OptimizerOption = "auto",
    reflection_lm: ReflectionOption = None,
    api_base: ApiBaseOption = None,
    seed: SeedOption = 0,
    budget: BudgetOption = None,
    max_cost: CostOption = None,
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
) -> None:
    """Optimize an agent's prompts for a compiled judge, or for answers that experts accepted."""
    from judgec.agents.rag import AgentSettings
    from judgec.cli.corpus.compiling import Inputs, Models, Request, run
    from judgec.cli.output import print_json
    from judgec.errors import GateError

    report = run(
        Request(
            agent=agent,
            name=name or agent,
            inputs=Inputs(index, queries, judge, labels, report_judge, tuple(rename or ()), accept_at),
            models=Models(lm, reflection_lm, api_base, budget, max_cost),
            settings=AgentSettings(k, variations, persona, citations, feedback=lm == "embedded"),
            optimizer=optimizer,
            seed=seed,
            unproven=unproven,
            home=home,
            tracking_uri=tracking_uri,
            quiet=json,
        )
    )
    if json:
        print_json(report)
    if require_promotion and not report["promoted"]:
        raise GateError(f"{name or agent}@{report['version']}: {report['reason']}")
