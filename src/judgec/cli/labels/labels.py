"""``judgec labels``: what a label file holds and how far the experts agree."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgec.cli.options import (
    AcceptAtOption,
    AnnotatorsOption,
    ApiBaseOption,
    HomeOption,
    JsonOption,
    MapOption,
    TaskOption,
    TrackingOption,
)

if TYPE_CHECKING:
    from judgec.agreement.label_report import AnnotatorAgreement, LabelReport

NEXT = "What to label next"
MOST_ROWS = 20  # annotators, pairs or groups printed; --json has all
NextOption = Annotated[
    int | None,
    typer.Option("--next", min=1, metavar="N", help="Choose N unlabelled items to grade.", rich_help_panel=NEXT),
]
JudgeOption = Annotated[
    str | None,
    typer.Option("--judge", metavar="NAME[@VERSION]", help="Whose doubts to go by.", rich_help_panel=NEXT),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="OUT.csv", help="Default: next.csv.", rich_help_panel=NEXT)
]
BudgetOption = Annotated[
    int | None, typer.Option("--budget", min=1, metavar="CALLS", help="Most LM calls.", rich_help_panel=NEXT)
]
CostOption = Annotated[
    float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Most dollars.", rich_help_panel=NEXT)
]
REVIEW = "Grade on a local page"
ReviewOption = Annotated[
    bool,
    typer.Option("--review", help="Open a page to grade the items on; labels go into FILE.", rich_help_panel=REVIEW),
]
PortOption = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="Of the page; 0: a free one.", rich_help_panel=REVIEW)
]
EXCHANGE = "Grade elsewhere"
ExportOption = Annotated[
    str | None,
    typer.Option(
        "--export",
        metavar="OUT.csv|OUT.xlsx|mlflow:EXPERIMENT",
        rich_help_panel=EXCHANGE,
        help="A sheet for each annotator, or a review queue in MLflow.",
    ),
]
ImportOption = Annotated[
    str | None,
    typer.Option(
        "--import",
        metavar="IN.csv|IN.xlsx|mlflow:EXPERIMENT",
        rich_help_panel=EXCHANGE,
        help="Put the labels that came back into FILE.",
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Of the random half.", rich_help_panel=NEXT)]


def labels(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV, TSV, JSONL, Parquet, an Arrow folder or hf:owner/name@split.",
            show_default=False,
        ),
    ],
    *,
    task: TaskOption = None,
    mapping: MapOption = None,
    annotators: AnnotatorsOption = None,
    accept_at: AcceptAtOption = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="The judge family whose split is shown; default: the file's name."),
    ] = None,
    next_: NextOption = None,
    judge: JudgeOption = None,
    out: OutOption = None,
    api_base: ApiBaseOption = None,
    budget: BudgetOption = None,
    max_cost: CostOption = None,
    seed: SeedOption = 0,
    review: ReviewOption = False,
    port: PortOption = 0,
    export: ExportOption = None,
    import_: ImportOption = None,
    tracking_uri: TrackingOption = None,
    home: HomeOption = Path(),
    json: JsonOption = False,
) -> None:
    """Check a label file: what was read, how the experts grade, and how far they agree."""
    from judgec.cli.output import print_json

    ways = [review, export is not None, import_ is not None, next_ is not None]
    if any(ways[:3]):
        from judgec.cli.labels.review import Request, grade

        asked = Request(
            file=file,
            port=port,
            judge=judge,
            task=task,
            rename=tuple(mapping or ()),
            annotators=annotators,
            accept_at=accept_at,
            home=home,
        )
        done = grade(asked, export, import_, tracking_uri, ways=sum(ways))
    elif next_ is not None or judge is not None:
        caps = budget, max_cost
        done = _next(file, next_, judge, out, mapping, annotators, api_base, caps, seed, home, quiet=json)
    else:
        _check(file, task, mapping, annotators, accept_at, name, home, json=json)
        return
    if json:
        print_json(done)


def _check(
    file: str,
    task: str | None,
    mapping: list[str] | None,
    annotators: str | None,
    accept_at: str | None,
    name: str | None,
    home: Path,
    *,
    json: bool,
) -> None:
    from judgec.cli.output import command, print_json, say
    from judgec.store.labels import read_label_file
    from judgec.store.rows.columns import as_names, as_rename
    from judgec.store.splits import as_family, default_family

    family = default_family(file) if name is None else as_family(name)
    content = read_label_file(
        file, task=task, rename=as_rename(mapping or ()), annotators=as_names(annotators), accept_at=accept_at
    )
    from judgec.agreement.label_report import label_report  # after bad input has been refused: SciPy is slow

    report = label_report(content, family)
    if json:
        print_json(report)
        return
    _print_summary(file, report)
    _print_histogram(report)
    _print_agreement(report["agreement"])
    say(*(f"note: {note}" for note in report["notes"]))
    options = [("--task", task), *(("--map", pair) for pair in mapping or ())]
    options += [("--annotators", annotators), ("--accept-at", accept_at), ("--name", name)]
    given = [part for option, value in options if value is not None for part in (option, value)]
    say(f"Next: {command('compile-judge', file, *given, home=home)}")


def _next(
    file: str,
    n: int | None,
    judge: str | None,
    out: Path | None,
    mapping: list[str] | None,
    annotators: str | None,
    api_base: str | None,
    caps: tuple[int | None, float | None],
    seed: int,
    home: Path,
    *,
    quiet: bool,
) -> dict[str, object]:
    from judgec.cli.labels.next import Request, run
    from judgec.errors import UserError

    if n is None or judge is None:
        raise UserError("--next N and --judge NAME belong together; one of them is missing. Give both.")
    return run(
        Request(
            file=file,
            n=n,
            judge=judge,
            out=out,
            rename=tuple(mapping or ()),
            annotators=annotators,
            api_base=api_base,
            budget=caps[0],
            max_cost=caps[1],
            seed=seed,
            home=home,
            quiet=quiet,
        )
    )


def _print_summary(path: str, report: "LabelReport") -> None:
    from judgec.cli.output import print_table
    from judgec.records.scale import Scale

    split = report["split"]
    scale = Scale.model_validate({key: value for key, value in report["scale"].items() if key != "inferred"})
    grades = f"{scale.name}: {', '.join(map(str, scale.grades))}"
    threshold = "" if scale.accept_at is None else f"; accepted from {scale.accept_at}"
    inferred = "; inferred" if report["scale"]["inferred"] else ""
    print_table(
        path,
        ("labels", ""),
        [
            ("task", report["task"]),
            ("scale", grades + threshold + inferred),
            ("rows", str(report["rows"])),
            ("items", str(report["items"])),
            ("queries", str(report["queries"])),
            ("annotators", str(len(report["annotators"]))),
            ("train / dev / test", f"{split['train']} / {split['dev']} / {split['test']}"),
            ("split by family", report["family"]),
            ("empty answers", str(report["empty_answers"])),
            ("duplicate items", str(report["duplicates"])),
            ("tied labels", str(report["tied"])),
            *(("group " + group, str(n)) for group, n in list(report["groups"].items())[:MOST_ROWS]),
            *(("agent " + agent, str(n)) for agent, n in list(report["agents"].items())[:MOST_ROWS]),
            *(("source: " + key, value) for key, value in report["source"].items()),
        ],
    )


def _print_histogram(report: "LabelReport") -> None:
    from judgec.cli.output import print_table

    rows: list[tuple[str, dict[str, int]]] = []
    for annotator, counts in report["histogram"].items():
        for key, value in counts.items():
            if isinstance(value, dict):
                rows.append((f"{annotator} {key}", value))
        if all(isinstance(value, int) for value in counts.values()):
            rows.append((annotator, {key: value for key, value in counts.items() if isinstance(value, int)}))
    print_table(
        "Grades by annotator" + _hidden(rows),
        ("annotator", "labels", *rows[0][1]),
        [(name, str(sum(row.values())), *map(str, row.values())) for name, row in rows[:MOST_ROWS]],
    )


def _print_agreement(agreement: "AnnotatorAgreement") -> None:
    from judgec.cli.output import print_table

    aspects = agreement.get("aspects", {})
    parts = {"all" if aspects else "grade": agreement} | aspects
    pairs = [
        (
            " - ".join(pair["annotators"]) + (f" ({aspect})" if aspects else ""),
            str(pair["n"]),
            *map(_shown, (pair["tau_b"], pair["kappa"], pair["exact"])),
        )
        for aspect, part in parts.items()
        for pair in part["pairwise"]
    ]
    if pairs:
        columns = ("annotators", "labels", "tau-b", "kappa", "exact")
        print_table("Agreement in pairs" + _hidden(pairs), columns, pairs[:MOST_ROWS])
    print_table(
        f"Agreement of all annotators. {agreement['note']}".rstrip(),
        ("", "Fleiss kappa", f"Krippendorff alpha, {agreement['level']}"),
        [(aspect, _shown(part["fleiss_kappa"]), _shown(part["krippendorff_alpha"])) for aspect, part in parts.items()],
    )


def _hidden(rows: Sequence[object]) -> str:
    return f" ({MOST_ROWS} of {len(rows)}; --json has all)" if len(rows) > MOST_ROWS else ""


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
