"""Options of ``judgec.evaluate``."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import (
    Annotators,
    BatchSpending,
    Columns,
    Factors,
    Gate,
    HasCitations,
    InFlight,
    Judges,
    LabelScale,
    Missing,
    Places,
    QueriesTable,
    Repeats,
    Rounding,
    Seed,
    Unproven,
    Votes,
    WinnerWords,
)

if TYPE_CHECKING:
    from judgec.verbs.frames import Source
    from judgec.verbs.judge import Judge


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(BatchSpending, Places):
    """Options that decide a tournament."""

    in_flight: InFlight = 32
    manifest: Annotated[
        str | None,
        Option(
            "A file that names the others: queries, answers, documents, runs, qrels, map.",
            metavar="TOURNAMENT.yaml",
            positional=True,
            panel="What",
        ),
    ] = None
    judge: Annotated[
        "Judge | str",
        Option(
            "A compiled judge: @champion, @latest or a number; zero-shot is one without labels. With commas a jury.",
            metavar="NAME[@VERSION],...",
            panel="What",
            project="name",
        ),
    ]
    relevance_judge: Annotated[str | None, Option("The judge that grades the retrieved documents.", metavar="NAME")] = (
        None
    )
    out: Annotated[
        Path, Option("The folder for report.html, report.json and CSV files.", metavar="DIR", panel="Output")
    ] = Path("evaluation")
    unproven: Unproven = False
    gate: Gate = None
    queries: Annotated["Source | None", QueriesTable] = None
    answers: Annotated[
        "tuple[Source, ...]",
        Option("A table of query_id, agent, answer; repeat for several.", panel="What", project="answers"),
    ] = ()
    documents: Annotated["Source | None", Option("doc_id, document, query_id?, agent?", panel="What")] = None
    runs: Annotated[tuple[str, ...], Option("TREC run file; its tag is the agent.", flag="--run", panel="What")] = ()
    qrels: Annotated["Source | None", Option("Relevance grades, used in place of a relevance judge.", panel="What")] = (
        None
    )
    columns: Columns = field(default_factory=dict)
    winner_words: WinnerWords = field(default_factory=dict)
    missing: Missing = ()
    cutoff: Annotated[int, Option("k of MRR@k, nDCG@k, P@k.", least=1)] = 5
    games: Annotated[int | None, Option("Play a balanced subset of so many games.", least=1, panel="Cost")] = None
    adaptive: Annotated[bool, Option("With --games: play those that tell most about the order.", panel="Cost")] = False
    seed: Seed = 0
    one_order: Annotated[bool, Option("Ask each pair in one order only.", panel="Cost")] = False
    threshold: Annotated[
        int | None, Option("Hide documents with a lower grade. Default: 2, or the best grade of a shorter scale.")
    ] = None
    raw_documents: Annotated[bool, Option("Show document texts.", off=True, panel="Output")] = True
    annotations: Annotated[bool, Option("Show grades and reasons.", off=True, panel="Output")] = True
    factors: Factors = ""
    has_citations: HasCitations = False
    citation_form: Annotated[
        str,
        Option(
            "How answers cite their documents: {n} for the number, {id} for the id. --has-citations: [{n}].",
            metavar="FORM",
        ),
    ] = ""
    labels: Annotated[
        "Source | None",
        Option(
            "Experts' grades of these agents' answers, for tests of agents in pairs.",
            metavar="FILE",
            panel="What",
            project="grades",
        ),
    ] = None
    annotators: Annotators = ()
    judges: Judges = field(default_factory=dict)
    scale: LabelScale = None
    round: Rounding = None
    repeats: Repeats = None
    pool: Annotated[
        tuple[str, ...],
        Option("Also test pools of agents: rag=rag-*,fusion=rag-fusion-*.", metavar="NAME=PATTERN,...", commas=True),
    ] = ()
    length_control: Annotated[bool, Option("Also rate the agents at equal length of answers.")] = False
    votes: Votes = None
    sample: Annotated[
        int | None, Option("Write N games for experts to label.", metavar="N", least=1, panel="Output")
    ] = None
    lm: Annotated[
        str | None,
        Option("Asks another model than the judge was compiled for; for zero-shot one or more.", panel="Model"),
    ] = None
