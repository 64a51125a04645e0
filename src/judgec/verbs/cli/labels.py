"""``judgec labels``."""

import contextlib
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgec.verbs.cli.help import Context, PlainCommand
from judgec.verbs.cli.output import stoppable
from judgec.verbs.cli.shell import JsonOption, ReportOption, VerboseOption, command_of
from judgec.verbs.options.labels import (
    LabelExportOptions,
    LabelImportOptions,
    LabelsOptions,
    NextOptions,
    ReviewOptions,
)
from judgec.verbs.options.option import carried_over

if TYPE_CHECKING:
    from judgec.report.report import Report

PortOption = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="The port of the review page; 0 takes a free one.")
]


@command_of(LabelsOptions)
def labels(
    options: LabelsOptions,
    *,
    review: Annotated[bool, typer.Option("--review", help="Open a page to grade on, as labels review does.")] = False,
    port: PortOption = 0,
    report: ReportOption = None,
    verbose: VerboseOption = False,
    json: JsonOption = False,
) -> None:
    """Check a label file: what was read, how the experts grade, and how far they agree.

    Example: judgec labels labels.csv

    labels review, export, import and next FILE do more with it; labels next --help says how.
    """
    from judgec.errors import UserError

    if report is not None and (review or any((options.export, options.import_, options.next, options.judge))):
        raise UserError(
            f"--report {report}: a page of the labels as they are; --review and the like make none. Drop one."
        )
    wanted = (options.export, options.import_, options.next)
    if (review or options.export or options.import_) and review + sum(way is not None for way in wanted) > 1:
        raise UserError("--review, --export, --import, --next: one at a time is valid. Run one after the other.")
    _finish(options, report, port, review=review, verbose=verbose, json=json)


def _finish(options: LabelsOptions, page: Path | None, port: int, *, review: bool, verbose: bool, json: bool) -> None:
    from judgec.verbs.cli.output import print_json, show

    if review:
        served = _serve(options, port)
        if json:
            print_json(served)
        return
    show(_found(options, page, json=json), json=json, verbose=verbose, page=page)


def labels_like(options: object, *, json: bool, port: int = 0, review: bool = False) -> None:
    """Do one thing with a label file, as its own options say."""
    _finish(carried_over(LabelsOptions, options), None, port, review=review, verbose=False, json=json)


@command_of(ReviewOptions)
def review_labels(options: ReviewOptions, *, port: PortOption = 0, json: JsonOption = False) -> None:
    """Open a page on which the items are graded; the labels go into FILE. Ctrl-C ends it.

    Example: judgec labels review items.csv --annotators ann,bob
    """
    labels_like(options, json=json, port=port, review=True)


@command_of(LabelExportOptions)
def export_labels(options: LabelExportOptions, *, json: JsonOption = False) -> None:
    """Write a sheet for each annotator, fill a review queue of MLflow, or send scores back to the tool they are of.

    Example: judgec labels export items.csv sheet.csv --annotators ann,bob
    """
    labels_like(options, json=json)


@command_of(LabelImportOptions)
def import_labels(options: LabelImportOptions, *, json: JsonOption = False) -> None:
    """Put the labels of a sheet or of MLflow into FILE, or make a label file of another tool's export.

    Example: judgec labels import items.csv sheet.ann.csv
    """
    labels_like(options, json=json)


@command_of(NextOptions)
def next_labels(options: NextOptions, *, json: JsonOption = False) -> None:
    """Choose unlabelled items to grade: half those that a judge is least sure of, half at random.

    Example: judgec labels next items.csv 50 --judge NAME
    """
    labels_like(options, json=json)


WORDS = typer.Typer(rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})
"""What follows ``labels`` in place of a file; a file of such a name is typed as ./import."""
for word, run in {
    "review": review_labels,
    "export": export_labels,
    "import": import_labels,
    "next": next_labels,
}.items():
    WORDS.command(word, cls=PlainCommand)(stoppable(run))


class LabelsCommand(PlainCommand):
    """``labels FILE``, or ``labels WORD FILE``."""

    def make_context(self, info_name: str | None, args: list[str], parent: Context = None, **extra: Any) -> Context:
        """The context of the command that the first word names, else of ``labels`` itself."""
        known: Any = typer.main.get_command(WORDS)
        if args and args[0] in known.commands:
            return known.commands[args[0]].make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


def _found(options: LabelsOptions, page: Path | None, *, json: bool) -> "Report":
    """Do what the options say with the label file."""
    if options.export is not None or options.import_ is not None:
        return _graded(options)
    if options.next is not None or options.judge is not None:
        from judgec.verbs.cli.output import run_barred
        from judgec.verbs.next_labels import choose_next, chosen_report

        return chosen_report(run_barred(choose_next, options, json=json), options)
    from judgec.verbs.check_labels import check_labels
    from judgec.verbs.labels_report import labels_report

    content, report, tests = check_labels(options)
    return labels_report(content.labels, report, tests, options, page)


def _graded(options: LabelsOptions) -> "Report":
    from judgec.connect.scores.registry import tool_of
    from judgec.verbs.export_scores import export_scores, sent_report
    from judgec.verbs.import_labels import import_export, made_report
    from judgec.verbs.label_sheets import export_labels, import_labels, imported_report, sheets_report

    if options.export is not None:
        if tool_of(options.export):
            return sent_report(export_scores(options))
        return sheets_report(export_labels(options), options)
    if tool_of(options.import_ or ""):
        return made_report(import_export(options), options)
    return imported_report(import_labels(options), options)


def _serve(options: LabelsOptions, port: int) -> dict[str, object]:
    """Serve the page on which experts grade, until Ctrl-C; returns what ``--json`` prints."""
    from judgec.labels.review.desk import Desk
    from judgec.labels.review.server import serving
    from judgec.verbs.cli.output import say
    from judgec.verbs.label_sheets import open_labels
    from judgec.verbs.typed import command

    sheet, notes = open_labels(options)
    with serving(Desk(sheet, options.annotators), port) as server:
        say(
            *(f"note: {note}" for note in notes),
            f"{sheet.path.name}: {len(sheet.items)} items, scale {', '.join(map(str, sheet.form.scale.grades))}",
            f"open {server.url}  (this machine only; Ctrl-C stops it)",
        )
        for signum in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.default_int_handler)  # stop like Ctrl-C, after what is being saved
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    progress = sheet.annotators()
    say("stopped.", f"Next: {command('labels', str(sheet.path), home=options.home)}")
    return {"out": str(sheet.path), "items": len(sheet.items), "graded": progress}
