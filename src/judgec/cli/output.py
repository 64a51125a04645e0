"""Prints for commands: one JSON object on stdout, or tables and notes for people."""

import json
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path

from judgec.errors import JudgecError

# Control characters, but for tab and line feed.
_SEEN = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}


def visible(text: str) -> str:
    """The text with characters that steer a terminal made visible: names and notes come from files of others."""
    return text.translate(_SEEN)


def print_json(report: Mapping[str, object]) -> None:
    """Print one JSON object on stdout and nothing else there.

    Raises:
        ValueError: When a number is NaN or infinite; reports say null with a note instead.
    """
    sys.stdout.write(json.dumps(report, ensure_ascii=False, allow_nan=False) + "\n")


def say(*notes: str) -> None:
    """Print notes for people on stderr, one a line, so that stdout stays data."""
    for note in notes:
        print(visible(note), file=sys.stderr)


def exit_with_code(work: Callable[[], object]) -> None:
    """Do the work of a process; a judgec error, or one of the disk's, prints its message and exits with its code."""
    try:
        work()
    except JudgecError as error:
        print(visible(f"error: {error}"), file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        if error.filename is None:
            raise  # not of a file
        said = f"{error.filename}: {error.strerror}; a file that can be read, or a place with room, is valid."
        said += " Mend that, and run the same command again: what was finished is kept."
        print(visible(f"error: {said}"), file=sys.stderr)
        sys.exit(JudgecError.exit_code)
    except KeyboardInterrupt as stopped:
        say_interrupted(stopped)
        sys.exit(130)


def stoppable(run: Callable[..., None]) -> Callable[..., None]:
    """A command that says on Ctrl-C what is kept: the command line's library would end it without a word."""

    @wraps(run)
    def command(**given: object) -> None:
        try:
            run(**given)
        except KeyboardInterrupt as stopped:
            say_interrupted(stopped)
            sys.exit(130)

    return command


def say_interrupted(stopped: KeyboardInterrupt) -> None:
    """Say what was kept, as the notes of the exception have it."""
    kept = "interrupted; what was finished is kept, the same command goes on from there."
    say(*getattr(stopped, "__notes__", ()), kept)


def command(*arguments: str, home: Path) -> str:
    """A judgec command to type next, with ``--home`` where the user gave one."""
    given = [] if home == Path() else ["--home", str(home)]
    return f"{judgec_here()} {shlex.join([*arguments, *given])}"


def judgec_here() -> str:
    """How this judgec is called from here, quoted for a shell.

    Returns: ``judgec`` where the PATH leads to this one, else its path; ``python -m judgec`` where it has no command.
    """
    called = sys.argv[0]
    by_name = Path(called).stem == "judgec" and Path(called).is_file()
    own = called if by_name else shutil.which("judgec", path=sysconfig.get_path("scripts"))
    if own is None:
        return shlex.join([nearest(Path(sys.executable)), "-m", "judgec"])
    found = shutil.which("judgec")
    if found is not None and Path(found).samefile(own):
        return "judgec"
    return shlex.quote(nearest(Path(own)))


def nearest(path: Path) -> str:
    """The path as it is typed from here: relative below the current folder, else absolute."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, fold: bool = True) -> None:
    """Print a table on stdout: the first column left-aligned, the others right-aligned.

    Without ``fold`` cells stay whole, however narrow the screen: a number that breaks is hard to read.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=visible(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1))
    for position, column in enumerate(columns):
        table.add_column(visible(column), justify="left" if position == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(visible, row))
    console = Console(soft_wrap=False, markup=False, emoji=False)
    if not fold:
        widths = (max(map(len, cells)) for cells in zip(columns, *rows, strict=True))
        console.width = max(console.width, sum(width + 3 for width in widths) + 2)
    console.print(table)
