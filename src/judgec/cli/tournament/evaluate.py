"""``judgec evaluate``."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import ApiBaseOption, HomeOption, JsonOption, MapOption, TrackingOption

INPUT, GAMES, PAIRS = "Input", "Games", "Judges that compare two answers"
RATINGS = "Corrections of the ratings"

ManifestArgument = Annotated[
    str | None,
    typer.Argument(metavar="[TOURNAMENT.yaml]", help="Names the files: queries, answers, documents, runs, qrels, map."),
]
JudgeOption = Annotated[str, typer.Option("--judge", metavar="NAME[@VERSION]", help="A compiled judge.")]
QueriesOption = Annotated[
    str | None, typer.Option("--queries", help="query_id, query, reference?", rich_help_panel=INPUT)
]
AnswersOption = Annotated[
    list[str] | None, typer.Option("--answers", help="query_id, agent, answer; repeatable.", rich_help_panel=INPUT)
]
DocumentsOption = Annotated[
    str | None, typer.Option("--documents", help="doc_id, document, query_id?, agent?", rich_help_panel=INPUT)
]
RunsOption = Annotated[
    list[str] | None, typer.Option("--run", help="TREC run file; its tag is the agent.", rich_help_panel=INPUT)
]
QrelsOption = Annotated[
    str | None, typer.Option("--qrels", help="Relevance grades, instead of a relevance judge.", rich_help_panel=INPUT)
]
RelevanceOption = Annotated[
    str | None, typer.Option("--relevance-judge", metavar="NAME", help="Grades the retrieved documents.")
]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="report.html, report.json and CSV files.")]
UnprovenOption = Annotated[bool, typer.Option("--unproven", help="Use a judge that was not shown to be better.")]
GateOption = Annotated[
    str | None, typer.Option("--gate", metavar="'NEW>=OLD-30'", help="Exit 1 unless shown; margin in Elo points.")
]
GamesOption = Annotated[
    int | None, typer.Option("--games", min=1, help="Play a balanced subset.", rich_help_panel=GAMES)
]
AdaptiveOption = Annotated[
    bool, typer.Option("--adaptive", help="Play where the order is unsure.", rich_help_panel=GAMES)
]
ResolutionOption = Annotated[
    float, typer.Option("--resolution", min=0.0, help="Elo points that need no order.", rich_help_panel=GAMES)
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="Of subset, shuffles and resamples.", rich_help_panel=GAMES)
]
CutoffOption = Annotated[int, typer.Option("--cutoff", min=1, help="k of MRR@k, nDCG@k, P@k.", rich_help_panel=INPUT)]
OneOrderOption = Annotated[
    bool, typer.Option("--one-order", help="Ask each pair in one order only.", rich_help_panel=PAIRS)
]
ThresholdOption = Annotated[
    int, typer.Option("--threshold", help="Hide documents graded lower.", rich_help_panel=PAIRS)
]
RawOption = Annotated[
    bool, typer.Option("--raw-documents/--no-raw-documents", help="Show document texts.", rich_help_panel=PAIRS)
]
AnnotationsOption = Annotated[
    bool, typer.Option("--annotations/--no-annotations", help="Show grades and reasons.", rich_help_panel=PAIRS)
]
FactorsOption = Annotated[
    str, typer.Option("--factors", metavar="TEXT", help="What to weigh, instead of its own.", rich_help_panel=PAIRS)
]
CitationsOption = Annotated[
    bool, typer.Option("--has-citations", help="Answers cite documents; wrong citations count.", rich_help_panel=PAIRS)
]
LengthOption = Annotated[
    bool, typer.Option("--length-control", help="Also rate at equal length of answers.", rich_help_panel=RATINGS)
]
PreferencesOption = Annotated[
    str | None,
    typer.Option(
        "--preferences",
        metavar="FILE",
        help="Experts' query_id, agent_a, agent_b, preference of sampled games: corrects win rates.",
        rich_help_panel=RATINGS,
    ),
]
SampleOption = Annotated[
    int | None,
    typer.Option("--sample", min=1, metavar="N", help="Write N games for experts to label.", rich_help_panel=RATINGS),
]
RandomOption = Annotated[
    bool,
    typer.Option(
        "--random-sample",
        help="My word that --preferences were drawn at random, though not by --sample.",
        rich_help_panel=RATINGS,
    ),
]
LmOption = Annotated[str | None, typer.Option("--lm", help="Another model than the judge was compiled for.")]
BudgetOption = Annotated[int | None, typer.Option("--budget", metavar="CALLS", help="Most LM calls.")]
CostOption = Annotated[float | None, typer.Option("--max-cost", metavar="USD", help="Most dollars.")]


def evaluate(
    tournament: ManifestArgument = None,
    *,
    judge: JudgeOption,
    relevance_judge: RelevanceOption = None,
    out: OutOption = Path("evaluation"),
    unproven: UnprovenOption = False,
    gate: GateOption = None,
    json: JsonOption = False,
    queries: QueriesOption = None,
    answers: AnswersOption = None,
    documents: DocumentsOption = None,
    run: RunsOption = None,
    qrels: QrelsOption = None,
    rename: MapOption = None,
    cutoff: CutoffOption = 5,
    games: GamesOption = None,
    adaptive: AdaptiveOption = False,
    resolution: ResolutionOption = 20.0,
    seed: SeedOption = 0,
    one_order: OneOrderOption = False,
    threshold: ThresholdOption = 2,
    raw_documents: RawOption = True,
    annotations: AnnotationsOption = True,
    factors: FactorsOption = "",
    has_citations: CitationsOption = False,
    length_control: LengthOption = False,
    preferences: PreferencesOption = None,
    sample: SampleOption = None,
    random_sample: RandomOption = False,
    lm: LmOption = None,
    api_base: ApiBaseOption = None,
    budget: BudgetOption = None,
    max_cost: CostOption = None,
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
) -> None:
    """Rank RAG agents from their answers with a compiled judge; an interrupted run goes on where it was."""
    from judgec.cli.tournament.evaluating import run_evaluation
    from judgec.cli.tournament.request import Asking, Corrections, Judges, Places, Request, Sight, plan_of
    from judgec.store.rows.columns import as_rename
    from judgec.store.tournament.reading import Sources

    files = tuple((path, "") for path in answers or ())
    run_evaluation(
        Request(
            manifest=tournament,
            sources=Sources(queries, files, documents, tuple(run or ()), qrels, as_rename(rename or ())),
            judges=Judges(judge, relevance_judge, unproven),
            gate=gate,
            json=json,
            cutoff=cutoff,
            plan=plan_of(games, resolution, seed, adaptive=adaptive),
            sight=Sight(one_order, threshold, raw_documents, annotations, factors, has_citations),
            corrections=Corrections(length_control, preferences, random_sample, sample),
            asking=Asking(lm, api_base, budget, max_cost),
            places=Places(home, out, tracking_uri),
        )
    )
