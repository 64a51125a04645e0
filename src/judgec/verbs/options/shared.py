"""Options that several verbs have, each declared once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from judgec.lm.usage import MAX_WAIT
from judgec.rag.retrieval.fusion import RRF_K
from judgec.records.tasks.built_in import BUILT_IN
from judgec.verbs.options.option import Option

if TYPE_CHECKING:
    from judgec.labels.reading import Reading
    from judgec.verbs.frames import Source

JudgeName = Option(
    "A compiled judge: @champion, @latest or a number.", metavar="NAME[@VERSION]", panel="What", project="name"
)
IndexName = Option(
    "What agents search: from judgec index, or postgresql://...",
    metavar="INDEX",
    python="CorpusIndex | str | Path | None",
    panel="What",
)
QueriesTable = Option("Table of query, query_id?, reference?", metavar="FILE", panel="What")

Columns = Annotated[
    Mapping[str, str],
    Option(
        "Rename a column; repeat for several.", flag="--map", metavar="THEIRS=OURS", panel="What", project="columns"
    ),
]
WinnerWords = Annotated[
    Mapping[str, str],
    Option(
        "What the words for the winner mean: a, b, tie or unscored.",
        metavar="1=a,2=b,0=tie",
        commas=True,
        project="winner_words",
    ),
]
Annotators = Annotated[
    tuple[str, ...],
    Option(
        "The people: columns with one annotator's labels each, or names in the column annotator.",
        metavar="A,B,...",
        commas=True,
        panel="What",
        project="annotators",
    ),
]
Judges = Annotated[
    Mapping[str, str],
    Option(
        "The judges: columns that hold one judge's verdicts each, or names in the column annotator. C=0..1 declares "
        "the range of C's numbers, worst first; else they are on the scale.",
        metavar="A,B=0..1,...",
        commas=True,
        python="str | Sequence[str] | Mapping[str, tuple[float, float] | None]",
        panel="What",
        project="judges",
    ),
]
Best = Annotated[
    str | None,
    Option(
        "The best grade: the scale is the whole numbers from the lowest to the highest seen, of which it is one end. "
        "none: classes without an order.",
        metavar="GRADE",
        python="str | float | None",
        panel="What",
    ),
]
Grades = Annotated[
    tuple[str, ...],
    Option(
        "The scale, worst first: 1..5, 5..1 or bad,ok,good.",
        metavar="WORST..BEST",
        commas=True,
        panel="What",
    ),
]
Missing = Annotated[
    tuple[str, ...],
    Option(
        "Words that mean a missing value, besides empty cells, n/a, None, - and X among grades.",
        metavar="WORD,...",
        commas=True,
    ),
]
LabelScale = Annotated[
    Mapping[str, object] | None,
    Option(
        "Labels are any numbers from 1 to 5, such as means of annotators: an interval scale. In Python also a dict: "
        "grades (worst first), meanings, accept_at, name, level. Default: the datasheet's.",
        metavar="1..5",
        commas=True,
        project="scale",
    ),
]
Epsilon = Annotated[
    float,
    Option(
        "How much worse than an annotator the judge may be: .2 for experts, .15 for skilled, .1 for crowd workers.",
        least=0,
        most=1,
    ),
]
Orders = Annotated[
    Literal["as-shown", "mapped"] | None,
    Option(
        "What A means in a judge's verdicts on pairs in both orders: the answer shown first, or answer_a. Default: as "
        "judges.json says.",
        project="orders",
    ),
]
Turn = Annotated[
    Literal["last", "each", "whole"] | None,
    Option(
        "Which part of a conversation is judged: the last answer, each answer, or the whole. Default: last.",
        panel="What",
        project="turn",
    ),
]
Rounding = Annotated[
    Literal["nearest"] | None,
    Option("Round means of grades, such as 2.33, to the nearest grade.", project="round"),
]
Repeats = Annotated[
    Literal["median", "error"] | None,
    Option(
        "What to do with an item that one annotator graded twice. Default: take the median where annotators are named.",
        project="repeats",
    ),
]
Consensus = Annotated[
    Literal["share", "pick"],
    Option("Where the middle grades of an item differ: share gives each half of it; pick, the rule of V4, draws one."),
]
AcceptAt = Annotated[str | None, Option("The lowest grade that counts as accepted.", metavar="GRADE", panel="What")]
Task = Annotated[
    str | None, Option(f"{', '.join(sorted(BUILT_IN))}; default: by columns.", panel="What", project="task")
]
LabelsTable = Annotated[
    "Source | None",
    Option(
        "Labelled items. Default: the judge's own test items.",
        metavar="FILE",
        panel="What",
        project="file",
    ),
]
Votes = Annotated[
    "Source | None",
    Option(
        "People's votes on some of these games, drawn at random: query_id, agent_a, agent_b, preference; for rank also "
        "grades by query_id and agent. They correct win rates and ratings.",
        metavar="FILE",
    ),
]
Gate = Annotated[
    str | None,
    Option(
        "Exit 1 unless this is shown; the margin is in Elo points, of systems in units of their table (NEW>=OLD-.05).",
        metavar="'NEW>=OLD-30'",
        panel="Output",
    ),
]
Home = Annotated[Path, Option("Folder that holds programs/, mlruns/ and .judgec/.", panel="Output")]
TrackingUri = Annotated[
    str | None,
    Option(
        "An MLflow server or database; default: MLFLOW_TRACKING_URI, else mlruns/mlflow.db.",
        metavar="URI",
        panel="Output",
    ),
]
UnusedTracking = Annotated[
    str | None,
    Option("No effect: this verb logs no run.", metavar="URI", python_only=True, panel="Output"),
]
ApiBase = Annotated[
    str | None, Option("An OpenAI-compatible endpoint (vLLM, a gateway).", metavar="URL", panel="Model")
]
CallCap = Annotated[
    int | None, Option("The most LM calls that may be made.", metavar="CALLS", least=1, panel="Cost", project="budget")
]
MaxCost = Annotated[
    float | None,
    Option("The most that may be spent, in US dollars.", metavar="USD", least=0, panel="Cost", project="max_cost"),
]
MaxWait = Annotated[
    float,
    Option(
        "The longest time that a call waits for a busy endpoint, in total.", metavar="SECONDS", least=0, panel="Cost"
    ),
]
InFlight = Annotated[
    int | None,
    Option(
        "The most calls in flight; fewer while an endpoint asks for it. Default: 32, with Ray 256.",
        least=1,
        panel="Cost",
    ),
]
Functions = Annotated[
    Mapping[str, object],
    Option(
        "The Python function that a judge calls; repeat for several.",
        flag="--function",
        metavar="NAME=MODULE:FUNCTION",
        panel="Model",
        python="Mapping[str, str | Callable[..., object]]",
    ),
]
Batch = Annotated[
    bool,
    Option("Half the price: ask OpenAI's or Anthropic's batch endpoint, which answers within 24 hours.", panel="Cost"),
]
LmOrRecorded = Annotated[
    str,
    Option(
        "The model that is asked: openai/gpt-4o-mini, ...; recorded:FILE asks none. "
        "Without one (embedded) the evidence judges.",
        panel="Model",
        project="lm",
    ),
]
OtherLm = Annotated[str | None, Option("Asks another model than the judge was compiled for.", panel="Model")]
ReflectionLm = Annotated[str | None, Option("The model that rewrites prompts. Default: --lm.", panel="Model")]
Temperature = Annotated[
    float, Option("Temperature of the model that writes questions.", least=0, most=2, panel="Model")
]
Seed = Annotated[int, Option("Random seed; the train/test split does not depend on it.", least=0)]
Unproven = Annotated[bool, Option("Use a judge that was not promoted.")]
Corpus = Annotated[
    str,
    Option(
        "An index, a folder of documents, a file.",
        flag="--index",
        metavar="PATH",
        python="CorpusIndex | str | Path",
        panel="What",
    ),
]
Passages = Annotated[int | None, Option("The most passages to use. Default: as many as needed.", least=1)]
PassageSize = Annotated[str, Option("The longest a passage may be, in tokens.", metavar="2000t")]
PerPassage = Annotated[int, Option("The most queries that a model writes from one passage.", least=1)]
Factors = Annotated[
    str, Option("What a judge that compares two answers weighs, in place of its own list.", metavar="TEXT")
]
HasCitations = Annotated[bool, Option("The compared answers cite documents, and wrong citations count as errors.")]


@dataclass(frozen=True, kw_only=True)
class LabelColumns:
    """Options that read a label file."""

    columns: Columns = field(default_factory=dict)
    annotators: Annotators = ()
    judges: Judges = field(default_factory=dict)
    orders: Orders = None
    best: Best = None
    grades: Grades = ()
    accept_at: AcceptAt = None
    scale: LabelScale = None
    turn: Turn = None
    round: Rounding = None
    winner_words: WinnerWords = field(default_factory=dict)
    missing: Missing = ()
    repeats: Repeats = None

    def reading(self, task: str | None = None) -> "Reading":
        """How the labels are read, as these options say.

        Raises:
            UserError: A value that is none, or a grader named both.
        """
        from judgec.labels.reading import as_reading  # reads no file, and is needed by no option
        from judgec.labels.rows.ranges import scale_of_grades
        from judgec.labels.rows.raters import require_apart

        require_apart(self.annotators, self.judges)
        return as_reading(
            task=task,
            columns=self.columns,
            annotators=self.annotators,
            judges=self.judges,
            accept_at=None if self.accept_at is None else str(self.accept_at),
            best=None if self.best is None else str(self.best),
            scale=self.scale or scale_of_grades(self.grades),
            turn=self.turn,
            orders=self.orders,
            round=self.round,
            winner_words=self.winner_words,
            missing=self.missing,
            repeats=self.repeats,
        )


@dataclass(frozen=True, kw_only=True)
class Spending:
    """Options of the endpoint that is asked, and how much at most."""

    api_base: ApiBase = None
    budget: CallCap = None
    max_cost: MaxCost = None
    max_wait: MaxWait = MAX_WAIT
    in_flight: InFlight = None
    functions: Functions = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BatchSpending(Spending):
    """The same for verbs that may hand their calls in as batches."""

    batch: Batch = False


@dataclass(frozen=True, kw_only=True)
class Places:
    """Folders of programs and runs."""

    home: Home = Path()
    tracking_uri: TrackingUri = None


@dataclass(frozen=True, kw_only=True)
class UnusedPlaces:
    """``Places`` of a verb that neither reads programs nor logs runs: every verb takes them."""

    home: Annotated[
        Path,
        Option("No effect: this verb neither reads nor writes there.", python_only=True, panel="Output"),
    ] = Path()
    tracking_uri: UnusedTracking = None


@dataclass(frozen=True, kw_only=True)
class HeldOutLabels(LabelColumns, Places):
    """Labels that a judge has not learned from; None means its own test items."""

    labels: LabelsTable = None


@dataclass(frozen=True, kw_only=True)
class AgentShape:
    """Options of how agents answer."""

    k: Annotated[int, Option("Number of passages that an answer is written from.", least=1)] = 5
    variations: Annotated[int, Option("Number of queries that RAG-Fusion adds.", least=1, most=20)] = 4
    persona: Annotated[str, Option("Role of the writer, such as 'think like an engineer'.", metavar="TEXT")] = ""
    citations: Annotated[bool, Option("Write citations of the passages.", off=True)] = True
    rrf_k: Annotated[int, Option("The constant K of reciprocal rank fusion, 1 / (K + rank).", metavar="K", least=0)] = (
        RRF_K
    )
