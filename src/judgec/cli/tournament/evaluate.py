"""``judgec evaluate``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import (
    INDEX,
    JUDGE,
    QUERIES,
    AgentRun,
    FactorsOption,
    HasCitationsOption,
    JsonOption,
    MapOption,
    OtherLmOption,
    Places,
    SeedOption,
    Spending,
    UnprovenOption,
    command_of,
)


@dataclass(frozen=True, kw_only=True)
class Request(Spending, Places, AgentRun):
    """The command line of ``evaluate``, as typed."""

    manifest: Annotated[
        str | None,
        typer.Argument(
            metavar="[TOURNAMENT.yaml]", help="Names the files: queries, answers, documents, runs, qrels, map."
        ),
    ] = None
    judge: Annotated[str, JUDGE]
    relevance_judge: Annotated[
        str | None, typer.Option("--relevance-judge", metavar="NAME", help="Grades the retrieved documents.")
    ] = None
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="report.html, report.json and CSV files.")] = Path(
        "evaluation"
    )
    unproven: UnprovenOption = False
    gate: Annotated[
        str | None, typer.Option("--gate", metavar="'NEW>=OLD-30'", help="Exit 1 unless shown; margin in Elo points.")
    ] = None
    json: JsonOption = False
    queries: Annotated[str | None, QUERIES] = None
    answers: Annotated[tuple[str, ...], typer.Option("--answers", help="query_id, agent, answer; repeatable.")] = ()
    documents: Annotated[str | None, typer.Option("--documents", help="doc_id, document, query_id?, agent?")] = None
    runs: Annotated[tuple[str, ...], typer.Option("--run", help="TREC run file; its tag is the agent.")] = ()
    qrels: Annotated[str | None, typer.Option("--qrels", help="Relevance grades, instead of a relevance judge.")] = None
    rename: MapOption = ()
    cutoff: Annotated[int, typer.Option("--cutoff", min=1, help="k of MRR@k, nDCG@k, P@k.")] = 5
    games: Annotated[int | None, typer.Option("--games", min=1, help="Play a balanced subset.")] = None
    adaptive: Annotated[bool, typer.Option("--adaptive", help="Play where the order is unsure.")] = False
    resolution: Annotated[float, typer.Option("--resolution", min=0.0, help="Elo points that need no order.")] = 20.0
    seed: SeedOption = 0
    one_order: Annotated[bool, typer.Option("--one-order", help="Ask each pair in one order only.")] = False
    threshold: Annotated[int, typer.Option("--threshold", help="Hide documents graded lower.")] = 2
    raw_documents: Annotated[bool, typer.Option("--raw-documents/--no-raw-documents", help="Show document texts.")] = (
        True
    )
    annotations: Annotated[bool, typer.Option("--annotations/--no-annotations", help="Show grades and reasons.")] = True
    factors: FactorsOption = ""
    has_citations: HasCitationsOption = False
    length_control: Annotated[bool, typer.Option("--length-control", help="Also rate at equal length of answers.")] = (
        False
    )
    preferences: Annotated[
        str | None,
        typer.Option(
            "--preferences",
            metavar="FILE",
            help="Experts' query_id, agent_a, agent_b, preference of sampled games: corrects win rates.",
        ),
    ] = None
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, metavar="N", help="Write N games for experts to label.")
    ] = None
    random_sample: Annotated[
        bool,
        typer.Option(
            "--random-sample", help="My word that --preferences were drawn at random, though not by --sample."
        ),
    ] = False
    lm: OtherLmOption = None
    index: Annotated[str | None, INDEX] = None
    agents: Annotated[
        str | None, typer.Option("--agents", metavar="A,B,...", help="Agents that answer first, as in judgec answer.")
    ] = None
    agents_lm: Annotated[str, typer.Option("--agents-lm", help="The agents' model.")] = "embedded"


@command_of(Request)
def evaluate(request: Request) -> None:
    """Rank RAG agents from their answers with a compiled judge; an interrupted run goes on where it was."""
    from judgec.cli.tournament.evaluating import run_evaluation

    run_evaluation(request)
