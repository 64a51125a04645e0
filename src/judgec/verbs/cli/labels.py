"""``judgec labels``."""

import contextlib
import signal
import threading
from typing import Annotated, Any

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

PortOption = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="The port of the review page; 0 takes a free one.")
]


@command_of(LabelsOptions)
def labels(
    options: LabelsOptions, *, report: ReportOption = None, verbose: VerboseOption = False, json: JsonOption = False
) -> None:
    """Check a label file: what was read, how the experts grade, and how far they agree.

    Example: judgec labels labels.csv

    labels review, export, import and next FILE do more with it; labels next --help says how.
    """
    from judgec.verbs.check_labels import check_labels
    from judgec.verbs.cli.output import show
    from judgec.verbs.labels_report import labels_report

    content, found, tests = check_labels(options)
    show(labels_report(content.labels, found, tests, options, report), json=json, verbose=verbose, page=report)


@command_of(ReviewOptions)
def review_labels(options: ReviewOptions, *, port: PortOption = 0, json: JsonOption = False) -> None:
    """Open a page on which the items are graded; the labels go into FILE. Ctrl-C ends it.

    Example: judgec labels review items.csv --annotators ann,bob
    """
    from judgec.verbs.cli.output import print_json

    served = _serve(options, port)
    if json:
        print_json(served)


@command_of(LabelExportOptions)
def export_labels(options: LabelExportOptions, *, json: JsonOption = False) -> None:
    """Write a sheet for each annotator.

    Example: judgec labels export items.csv sheet.csv --annotators ann,bob
    """
    from judgec.verbs.cli.output import show
    from judgec.verbs.label_sheets import export_labels, sheets_report

    show(sheets_report(export_labels(options), options), json=json)


@command_of(LabelImportOptions)
def import_labels(options: LabelImportOptions, *, json: JsonOption = False) -> None:
    """Put the labels of a sheet into FILE, or make a label file of another tool's export.

    Example: judgec labels import items.csv sheet.ann.csv
    """
    from judgec.connect.scores.registry import tool_of
    from judgec.verbs.cli.output import show
    from judgec.verbs.import_labels import import_export, made_report
    from judgec.verbs.label_sheets import import_labels, imported_report

    if tool_of(options.import_):
        show(made_report(import_export(options), options), json=json)
    else:
        show(imported_report(import_labels(options), options), json=json)


@command_of(NextOptions)
def next_labels(options: NextOptions, *, json: JsonOption = False) -> None:
    """Choose unlabelled items to grade: half those that a judge is least sure of, half at random.

    Example: judgec labels next items.csv 50 --judge NAME

    With --for systems: whole queries at random, of systems that the labels do not tell apart yet.
    """
    from judgec.verbs.cli.output import run_barred, show
    from judgec.verbs.next_labels import choose_for_systems, choose_next, chosen_report, drawn_report

    if options.for_ is not None:
        show(drawn_report(run_barred(choose_for_systems, options, json=json), options), json=json)
        return
    show(chosen_report(run_barred(choose_next, options, json=json), options), json=json)


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


def _serve(options: ReviewOptions, port: int) -> dict[str, object]:
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
