"""``judgec answer``."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import ApiBaseOption, HomeOption, JsonOption, MapOption

AGENTS, MODEL = "Agents", "Model"

IndexOption = Annotated[
    str | None, typer.Option("--index", metavar="INDEX", help="From judgec index, or postgresql://...")
]
AgentsOption = Annotated[
    str,
    typer.Option(
        "--agents",
        metavar="A,B,...",
        help="rag-bm25, rag-fusion-hybrid, ..., system.toml, python:module:function, NAME@V.",
    ),
]
KOption = Annotated[int, typer.Option("--k", min=1, help="Passages an answer rests on.", rich_help_panel=AGENTS)]
VariationsOption = Annotated[
    int, typer.Option("--variations", min=1, max=20, help="Queries RAG-Fusion adds.", rich_help_panel=AGENTS)
]
PersonaOption = Annotated[
    str, typer.Option("--persona", metavar="TEXT", help="'think like an engineer'", rich_help_panel=AGENTS)
]
CitationsOption = Annotated[
    bool, typer.Option("--citations/--no-citations", help="Cite passages.", rich_help_panel=AGENTS)
]
RerankOption = Annotated[
    str | None,
    typer.Option("--rerank", metavar="python:MODULE:FUNCTION", help="Scores (query, texts).", rich_help_panel=AGENTS),
]
LmOption = Annotated[str, typer.Option("--lm", help="The agents' model.", rich_help_panel=MODEL)]
BudgetOption = Annotated[
    int | None, typer.Option("--budget", min=1, metavar="CALLS", help="Most LM calls.", rich_help_panel=MODEL)
]
CostOption = Annotated[
    float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Most dollars.", rich_help_panel=MODEL)
]
InFlightOption = Annotated[int, typer.Option("--in-flight", min=1, help="Most calls at once.", rich_help_panel=MODEL)]


def answer(
    *,
    queries: Annotated[str, typer.Option("--queries", help="Table of query, query_id?, reference?")],
    agents: AgentsOption,
    out: Annotated[Path, typer.Option("--out", metavar="ANSWERS.jsonl", help="What judgec evaluate --answers reads.")],
    index: IndexOption = None,
    k: KOption = 5,
    variations: VariationsOption = 4,
    persona: PersonaOption = "",
    citations: CitationsOption = True,
    rerank: RerankOption = None,
    rename: MapOption = None,
    lm: LmOption = "embedded",
    api_base: ApiBaseOption = None,
    budget: BudgetOption = None,
    max_cost: CostOption = None,
    in_flight: InFlightOption = 32,
    json: JsonOption = False,
    home: HomeOption = Path(),
) -> None:
    """Let RAG agents answer queries; an interrupted run goes on where it was."""
    from judgec.cli.corpus.answering import Request, run_answers

    run_answers(
        Request(
            queries=queries,
            agents=agents,
            out=out,
            index=index,
            k=k,
            variations=variations,
            persona=persona,
            citations=citations,
            rerank=rerank,
            rename=tuple(rename or ()),
            lm=lm,
            api_base=api_base,
            budget=budget,
            max_cost=max_cost,
            in_flight=in_flight,
            json=json,
            home=home,
        )
    )
