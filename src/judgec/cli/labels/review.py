"""What ``judgec labels --review`` does: serve the page on which experts grade, until Ctrl-C."""

import contextlib
import signal
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from judgec.cli.output import say
from judgec.errors import UserError
from judgec.records.card import ProgramCard
from judgec.records.label import Task
from judgec.review.desk import Desk
from judgec.review.server import serving
from judgec.store import programs
from judgec.store.datasheet import read_datasheet
from judgec.store.review.form import Form, form_of
from judgec.store.review.sheet import LabelSheet, open_sheet
from judgec.store.rows.columns import as_names, as_rename, renamed
from judgec.store.tables import read_table


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The command line of ``labels --review``, as typed."""

    file: str
    port: int = 0
    judge: str | None = None
    task: str | None = None
    rename: tuple[str, ...] = ()
    annotators: str | None = None
    accept_at: str | None = None
    home: Path = Path()


def grade(
    request: Request, export: str | None, import_: str | None, tracking_uri: str | None, *, ways: int
) -> dict[str, object]:
    """The one of ``--review``, ``--export`` and ``--import`` that was asked for; returns what ``--json`` prints.

    Raises:
        UserError: When more than one was.
    """
    if ways > 1:
        raise UserError("--review, --export, --import, --next: one at a time is valid. Run one after the other.")
    from judgec.cli.labels.exchange import bring_back
    from judgec.cli.labels.exchange import export as take_away

    if export is not None:
        return take_away(request, export, tracking_uri)
    return run(request) if import_ is None else bring_back(request, import_, tracking_uri)


def opened(request: Request) -> tuple[LabelSheet, list[str]]:
    """The label file, with the form of the judge where one is named; notes say what was done."""
    form = None if request.judge is None else _form_of_judge(request, programs.load(request.home, request.judge).card)
    return open_sheet(
        request.file, form, task=request.task, rename=as_rename(request.rename), accept_at=request.accept_at
    )


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
    say("stopped.", f"Next: judgec labels {sheet.path}")
    return {"out": str(sheet.path), "items": len(sheet.items), "graded": progress}


def _form_of_judge(request: Request, card: ProgramCard) -> Form:
    task = next((name for name in get_args(Task) if name == card.task), None)
    if task is None:
        raise UserError(f"--judge {request.judge}: its task {card.task} has no label columns. Name another judge.")
    table = renamed(read_table(request.file), as_rename(request.rename))
    return form_of(table, read_datasheet(request.file), task=task, scale=card.scale, aspects=card.aspects)
