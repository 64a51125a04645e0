"""Prints for commands: one JSON object on stdout, or tables and notes for people."""

import errno
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, TypeVar

from judgec.errors import GateError, JudgecError, UserError
from judgec.report.screen import print_tables, visible
from judgec.table import seal

if TYPE_CHECKING:
    from judgec.lm.watch import Watch
    from judgec.report.gates import Gates
    from judgec.report.report import Report

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

O = TypeVar("O")  # noqa: E741  # options
R = TypeVar("R")

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The file that GitHub shows on the page of a job; what a step appends to it is Markdown."""


def print_json(report: Mapping[str, object]) -> None:
    """Print one JSON object on stdout and nothing else there.

    Raises:
        ValueError: When a number is NaN or infinite; reports say null with a note instead.
    """
    said = seal.notes()  # of versions that were modified: on every report
    report = {**report, "versions": said} if said else report
    sys.stdout.write(json.dumps(report, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


def say(*notes: str) -> None:
    """Print notes for people on stderr, one a line, so that stdout stays data."""
    for note in notes:
        print(visible(note), file=sys.stderr)


def print_report(report: "Report", *, verbose: bool = False) -> None:
    """Print a report: tables on stdout, sentences on stderr, the answer first and what to type next last."""
    tables = report.shown(verbose=verbose)
    say(*report.verdict, *([""] if report.verdict and tables else []))
    print_tables(*tables)
    say(*report.below(verbose=verbose))


def show(
    report: "Report", *, json: bool, verbose: bool = False, page: Path | None = None, junit: Path | None = None
) -> None:
    """Put a report on all surfaces that were asked for, and end the command as its gates do.

    Args:
        report: What was found.
        json: Print the JSON object, and no tables.
        verbose: Print every table.
        page: Write it as a page, too.
        junit: Write the gates as JUnit XML.

    Raises:
        GateError: When a demand has not passed; the files are there.
    """
    from judgec.report.report import write_page

    if page is not None:
        write_page(report, page)
    if json:
        print_json(report.data)
        say(*report.stamps)
    else:
        print_report(report, verbose=verbose)
    if report.gates is not None:
        _end_gated(report, report.gates, junit)


def _end_gated(report: "Report", gates: "Gates", junit: Path | None) -> None:
    from judgec.labels.split.family import write_whole
    from judgec.report.gates import gates_junit, gates_markdown

    if junit is not None:
        write_whole(junit, gates_junit(gates))
    if summary := os.environ.get(SUMMARY):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(gates_markdown(gates, report.tables))
    if gates.verdict != "passed":
        raise GateError(gates.sentence)
    if gates.sentence:
        say(gates.sentence)


def needs_gate(junit: Path | None, *, gated: bool, option: str) -> None:
    """Refuse ``--junit`` before any work where nothing is demanded.

    Raises:
        UserError: When there is a file to write and no gate.
    """
    if junit is not None and not gated:
        raise UserError(f"--junit {junit}: no gate is asked for; {option} makes one. Add it, or leave --junit out.")


def run_barred(run: Callable[[O, "Watch"], R], options: O, *, json: bool) -> R:
    """Do the work of a command under a progress bar; none where programs read."""
    from judgec.report.progress import Bar

    bar = Bar(shown=not json)
    try:
        return run(options, bar)
    finally:
        bar.close()


def run_shown(
    run: Callable[[O, "Watch"], R],
    options: O,
    report: "Callable[[R], Report]",
    *,
    json: bool,
    verbose: bool = False,
    page: Path | None = None,
    junit: Path | None = None,
) -> R:
    """Do the work of a command under a progress bar, and show its report as ``show`` does.

    Returns: The result of the work.
    """
    found = run_barred(run, options, json=json)
    show(report(found), json=json, verbose=verbose, page=page, junit=junit)
    return found


def exit_with_code(work: Callable[[], object]) -> None:
    """Do the work of a process; a judgec error, or one of the disk's, prints its message and exits with its code.

    SIGTERM, by which containers are stopped, ends it as Ctrl-C does: what is in flight is waited for and kept.
    """
    try:
        with _stopped_gently():
            work()
    except JudgecError as error:
        print(visible(f"error: {error}"), file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        where = error.filename
        if where is None:
            if error.errno not in NO_ROOM:
                raise  # not of a file
            where = "standard output, or a file that is written"
            with suppress(OSError, ValueError):  # else Python tries again as it ends
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        said = f"{where}: {error.strerror}; a file that can be read, or a place with room, is valid."
        said += " Mend that, and run the same command again: what was finished is kept."
        print(visible(f"error: {said}"), file=sys.stderr)
        sys.exit(JudgecError.exit_code)
    except KeyboardInterrupt as stopped:
        end_interrupted(stopped)


def stoppable(run: Callable[..., None]) -> Callable[..., None]:
    """A command that says on Ctrl-C what is kept: the command line's library would end it without a word."""

    @wraps(run)
    def command(**given: object) -> None:
        try:
            run(**given)
        except KeyboardInterrupt as stopped:
            end_interrupted(stopped)

    return command


@contextmanager
def _stopped_gently() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, _interrupted_by)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupted_by(signum: int, frame: FrameType | None) -> None:
    """Do as at Ctrl-C, with whoever handles that now."""
    _ended_by.append(signum)
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(signal.SIGINT, frame)
    else:  # ignored, as in a shell's background jobs
        raise KeyboardInterrupt


_ended_by: list[int] = []  # signals other than Ctrl-C's


def end_interrupted(stopped: KeyboardInterrupt) -> NoReturn:
    """Say what was kept, as the notes of the exception have it, and exit with the code of the signal.

    From here on the process ends anyway: another Ctrl-C would only show where it is.
    """
    if signal.getsignal(signal.SIGTERM) is _interrupted_by:  # the process is ours, and not somebody's who calls us
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, signal.SIG_IGN)
    kept = "interrupted; what was finished is kept, the same command goes on from there."
    say(*getattr(stopped, "__notes__", ()), kept)
    sys.exit(128 + (_ended_by[0] if _ended_by else signal.SIGINT))
