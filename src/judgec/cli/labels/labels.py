"""``judgec labels``: what a label file holds and how far the experts agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgec.cli.options import JsonOption, LabelColumns, Places, SeedOption, Spending, TaskOption, command_of

if TYPE_CHECKING:
    from judgec.report.label_report import AnnotatorAgreement, LabelReport

MOST_ROWS = 20  # annotators, pairs or groups printed; --json has all
MOST_GRADES = 15  # columns that fit a screen


@dataclass(frozen=True, kw_only=True)
class Request(LabelColumns, Spending, Places):
    """The command line of ``labels``, as typed."""

    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV, TSV, JSONL, Parquet, an Arrow folder or hf:owner/name@split.",
            show_default=False,
        ),
    ]
    task: TaskOption = None
    name: Annotated[
        str | None,
        typer.Option("--name", help="The judge family whose split is shown; default: the file's name."),
    ] = None
    next: Annotated[
        int | None, typer.Option("--next", min=1, metavar="N", help="Choose N unlabelled items to grade.")
    ] = None
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="NAME[@VERSION]", help="Whose doubts to go by with --next."),
    ] = None
    out: Annotated[Path, typer.Option("--out", metavar="OUT.csv", help="Where the items of --next go.")] = Path(
        "next.csv"
    )
    seed: SeedOption = 0
    review: Annotated[
        bool, typer.Option("--review", help="Open a page to grade the items on; labels go into FILE.")
    ] = False
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Of the page; 0: a free one.")] = 0
    export: Annotated[
        str | None,
        typer.Option(
            "--export",
            metavar="OUT.csv|OUT.xlsx|mlflow:EXPERIMENT",
            help="A sheet for each annotator, or a review queue in MLflow.",
        ),
    ] = None
    import_: Annotated[
        str | None,
        typer.Option(
            "--import", metavar="IN.csv|IN.xlsx|mlflow:EXPERIMENT", help="Put the labels that came back into FILE."
        ),
    ] = None
    quiet: JsonOption = False


@command_of(Request)
def labels(request: Request) -> None:
    """Check a label file: what was read, how the experts grade, and how far they agree."""
    from judgec.cli.output import print_json

    if request.review or request.export is not None or request.import_ is not None:
        from judgec.cli.labels.review import grade

        done = grade(request)
    elif request.next is not None or request.judge is not None:
        from judgec.cli.labels.next import run

        done = run(request)
    else:
        _check(request)
        return
    if request.quiet:
        print_json(done)


def _check(request: Request) -> None:
    from judgec.cli.output import command, print_json, say
    from judgec.store.labels import read_label_file
    from judgec.store.rows.columns import as_names, as_rename
    from judgec.store.sides.memory import read_memory
    from judgec.store.splits import as_family, default_family

    file, task, annotators, accept_at = request.file, request.task, request.annotators, request.accept_at
    family = default_family(file) if request.name is None else as_family(request.name)
    content = read_label_file(
        file, task=task, rename=as_rename(request.rename), annotators=as_names(annotators), accept_at=accept_at
    )
    from judgec.report.label_report import label_report  # after bad input has been refused: SciPy is slow

    report = label_report(content, family, memory=read_memory(request.home, family))
    if request.quiet:
        print_json(report)
        return
    _print_summary(file, report)
    _print_histogram(report)
    _print_agreement(report["agreement"])
    _print_ceiling(report)
    say(*(f"note: {note}" for note in report["notes"]))
    options = [("--task", task), *(("--map", pair) for pair in request.rename)]
    options += [("--annotators", annotators), ("--accept-at", accept_at), ("--name", request.name)]
    given = [part for option, value in options if value is not None for part in (option, value)]
    say(f"Next: {command('compile-judge', file, *given, home=request.home)}")


def _print_summary(path: str, report: "LabelReport") -> None:
    from judgec.cli.output import print_table
    from judgec.records.scale import Scale
    from judgec.store.rows.grades import grades_shown

    split = report["split"]
    scale = Scale.model_validate({key: value for key, value in report["scale"].items() if key != "inferred"})
    grades = f"{scale.name}: {grades_shown(scale.grades)}"
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
    grades = tuple(rows[0][1]) if len(rows[0][1]) <= MOST_GRADES else ()
    apart = "" if grades else f" ({len(rows[0][1])} grades; --json has how often each)"
    print_table(
        "Grades by annotator" + _hidden(rows) + apart,
        ("annotator", "labels", *grades),
        [(name, str(sum(row.values())), *(str(row[grade]) for grade in grades)) for name, row in rows[:MOST_ROWS]],
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
        ("", "Fleiss kappa [95 %]", f"Krippendorff alpha, {agreement['level']}"),
        [
            (aspect, _with_limits(part["estimates"]["fleiss_kappa"]), _shown(part["krippendorff_alpha"]))
            for aspect, part in parts.items()
        ],
    )


def _print_ceiling(report: "LabelReport") -> None:
    """Each annotator against the others, and their weighted mean: the ceiling of a judge."""
    from judgec.cli.output import print_table

    if not report["ceiling"]:
        return
    statistics = ("tau_b", "kappa", "exact", "accept_agreement")
    rows = [
        (
            one["annotator"] + (" (left out)" if one["adjudicator"] else ""),
            str(one["n"]),
            *map(_shown, (one["tau_b"], one["kappa"], one["exact"], one["accept_agreement"])),
        )
        for one in report["against_others"]
    ]
    weighed = sum(one["n"] for one in report["against_others"] if not one["adjudicator"])
    means = [mean for name in statistics if isinstance(mean := report["ceiling"][name], dict)]
    ends = [
        (label, count, *(_shown(mean[end]) for mean in means))
        for label, count, end in (("ceiling", str(weighed), "value"), ("  95 % from", "", "low"), ("  to", "", "high"))
    ]
    print_table(
        "Ceiling: each annotator against the others' consensus, mean by labels" + _hidden(rows),
        ("annotator", "labels", "tau-b", "kappa", "exact", "accept"),
        [*rows[:MOST_ROWS], *ends],
    )


def _hidden(rows: Sequence[object]) -> str:
    return f" ({MOST_ROWS} of {len(rows)}; --json has all)" if len(rows) > MOST_ROWS else ""


def _shown(value: float | None) -> str:
    from judgec.report.numbers import number

    return number(value, 3)


def _with_limits(estimate: dict[str, float | str | None]) -> str:
    value, low, high = (estimate[name] for name in ("value", "low", "high"))
    if isinstance(value, float) and isinstance(low, float) and isinstance(high, float):
        from judgec.report.numbers import brackets

        return f"{_shown(value)} {brackets(low, high, 3)}"
    return _shown(value if isinstance(value, float) else None)
