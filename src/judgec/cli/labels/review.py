"""What ``judgec labels --review`` does: serve the page on which experts grade, until Ctrl-C."""

import contextlib
import signal
import threading

from judgec.cli.labels.labels import Request
from judgec.cli.output import command, say
from judgec.errors import UserError
from judgec.records.card import ProgramCard
from judgec.review.desk import Desk
from judgec.review.server import serving
from judgec.store import programs
from judgec.store.datasheet import read_datasheet
from judgec.store.review.form import Form, form_of
from judgec.store.review.sheet import LabelSheet, open_sheet
from judgec.store.rows.columns import as_names, as_rename, renamed
from judgec.store.tables import read_table
from judgec.tasks.registry import TASKS


def grade(request: Request) -> dict[str, object]:
    """The one of ``--review``, ``--export`` and ``--import`` that was asked for; returns what ``--json`` prints.

    Raises:
        UserError: When more than one was.
    """
    ways = [request.review, *(way is not None for way in (request.export, request.import_, request.next))]
    if sum(ways) > 1:
        raise UserError("--review, --export, --import, --next: one at a time is valid. Run one after the other.")
    from judgec.cli.labels.exchange import bring_back, export

    if request.export is not None:
        return export(request, request.export)
    return run(request) if request.import_ is None else bring_back(request, request.import_)


def opened(request: Request) -> tuple[LabelSheet, list[str]]:
    """The label file, with the form of the judge where one is named; notes say what was done."""
    form = None if request.judge is None else _form_of_judge(request, programs.load(request.home, request.judge).card)
    return open_sheet(
        request.file,
        form,
        task=request.task,
        rename=as_rename(request.rename),
        accept_at=request.accept_at,
        annotators=as_names(request.annotators),
    )


def again(request: Request, *arguments: str) -> str:
    """``judgec labels FILE`` with the options that say how the file is read, and others."""
    given = [part for pair in request.rename for part in ("--map", pair)]
    options = {
        "--task": request.task,
        "--annotators": request.annotators,
        "--accept-at": request.accept_at,
        "--judge": request.judge,
    }
    given += [part for option, value in options.items() if value is not None for part in (option, value)]
    return f"Next: {command('labels', request.file, *given, *arguments, home=request.home)}"


def run(request: Request) -> dict[str, object]:
    """Serve the page until the process is stopped; returns how many items each annotator has graded in full."""
    sheet, notes = opened(request)
    with serving(Desk(sheet, as_names(request.annotators)), request.port) as server:
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
    say("stopped.", f"Next: {command('labels', str(sheet.path), home=request.home)}")
    return {"out": str(sheet.path), "items": len(sheet.items), "graded": progress}


def _form_of_judge(request: Request, card: ProgramCard) -> Form:
    if card.task not in TASKS:
        raise UserError(f"--judge {request.judge}: its task {card.task} has no label columns. Name another judge.")
    table = renamed(read_table(request.file), as_rename(request.rename))
    return form_of(table, read_datasheet(request.file), task=card.task, scale=card.scale, aspects=card.aspects)
