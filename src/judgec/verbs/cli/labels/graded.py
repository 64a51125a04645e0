"""Prints what came of grading: in sheets, in MLflow, on the page; and which items come next."""

import contextlib
import signal
import threading

from judgec.labels.review.desk import Desk
from judgec.labels.review.server import serving
from judgec.verbs.add_peers import AddedPeers
from judgec.verbs.cli.labels.typed import as_typed
from judgec.verbs.cli.output import command, judgec_here, say
from judgec.verbs.export_scores import ExportedScores
from judgec.verbs.import_labels import ImportedExport
from judgec.verbs.label_sheets import ExportedSheets, FilledQueue, ImportedLabels, open_labels
from judgec.verbs.next_labels import ChosenItems
from judgec.verbs.options.labels import LabelsOptions


def show_exported(found: ExportedSheets | FilledQueue, options: LabelsOptions) -> None:
    """Say what went out, and the command that brings it back."""
    say(*(f"note: {note}" for note in found.notes))
    if isinstance(found, FilledQueue):
        here = judgec_here()
        say(
            f"queue {found.queue} of experiment {found.experiment}: {found.items} items, {found.sent} of them new",
            f"Next: {here} ui, experiment -> Review; then {here} labels FILE --import mlflow:{found.experiment}",
        )
        return
    for path, blank in found.blank.items():
        say(f"{path}: {found.items} items for {found.annotators[path]}, {blank} of them to grade")
    judge = () if options.judge is None else ("--judge", options.judge)
    first = next(iter(found.blank))
    typed = (*as_typed(options), *judge, "--import", first)
    say(f"Next: {command('labels', options.file, *typed, home=options.home)}")


def show_peers(added: AddedPeers, options: LabelsOptions) -> None:
    """Say how many rows have peers, and what to do with them."""
    say(
        f"{added.out}: {added.rows} rows, {added.rows - added.alone} of them with peers, {added.peers} at most",
        *([] if added.datasheet is None else [f"{added.datasheet}: as that of {options.file}"]),
        f"Next: {command('labels', str(added.out), home=options.home)}",
    )


def show_imported(found: ImportedLabels, options: LabelsOptions) -> None:
    """Say whose labels came back."""
    say(
        *(f"note: {note}" for note in found.notes),
        *(f"{count} labels by {name}" for name, count in found.imported.items()),
        f"Next: {command('labels', str(found.out), home=options.home)}",
    )


def show_made(found: ImportedExport, options: LabelsOptions) -> None:
    """Say what became of every score of an export."""
    say(
        *(f"note: {note}" for note in found.notes),
        f"{found.records} scores of {found.items} items: {found.labels} labels, {found.verdicts} verdicts, "
        f"{found.texts} texts, {sum(found.skipped.values())} left out",
        *(f"{count} left out: {reason}" for reason, count in found.skipped.items()),
        *(f"{count} labels by {name}" for name, count in found.annotators.items()),
        *([f"{found.verdicts_out}: {found.verdicts} verdicts for --lm recorded:FILE"] if found.verdicts_out else []),
        f"Next: {command('labels', str(found.out), home=options.home)}",
    )


def show_sent(found: ExportedScores) -> None:
    """Say how many scores go back, and what takes them."""
    say(
        f"{found.out}: {found.scores} of {found.records} scores",
        *(f"{count} left out: {reason}" for reason, count in found.skipped.items()),
        f"Next: {found.how}",
    )


def show_chosen(found: ChosenItems, options: LabelsOptions) -> None:
    """Say which items were chosen, and what to do with them."""
    card = found.card
    say(
        f"{found.out}: {len(found.picks)} of {found.unlabelled} unlabelled items to grade, "
        f"{found.strata['uncertain']} that {card.name}@{card.version} is unsure of and {found.strata['random']} at "
        "random",
        f"{found.calls} LM calls",
        f"Next: fill in {', '.join(found.columns)}, then {command('labels', str(found.out), home=options.home)}",
    )


def serve_page(options: LabelsOptions, port: int) -> dict[str, object]:
    """Serve the page on which experts grade, until Ctrl-C; returns what ``--json`` prints."""
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
