"""The ``judgec`` command: one visible table of commands, and the one place where errors become exit codes.

Nothing heavy is imported here: a command imports its work inside its function, so that ``judgec --help`` answers at
once.
"""

import gc
from collections.abc import Callable
from typing import Annotated

import typer

from judgec import __version__
from judgec.verbs.cli.commands import (
    agreement,
    answer,
    audit,
    compare,
    compile_agent,
    compile_judge,
    compile_queries,
    evaluate,
    export,
    generate_queries,
    index,
    probe,
    rank,
    systems,
    watch,
)
from judgec.verbs.cli.demo import demo
from judgec.verbs.cli.doctor import doctor
from judgec.verbs.cli.help import PlainCommand, PlainGroup
from judgec.verbs.cli.init import init
from judgec.verbs.cli.judge import judge
from judgec.verbs.cli.labels import LabelsCommand, labels
from judgec.verbs.cli.output import exit_with_code, stoppable
from judgec.verbs.cli.ui import ui

app = typer.Typer(
    name="judgec",
    cls=PlainGroup,
    help="The compiler for LLM judges: labels in, a judge out that is measured against your experts."
    "\n\nExample: judgec init labels.csv",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},  # commands take it over
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

COMMANDS: dict[str, dict[str, Callable[..., None]]] = {
    "Labels": {"demo": demo, "init": init, "labels": labels},
    "Judges": {
        "compile-judge": compile_judge,
        "judge": judge,
        "compare": compare,
        "agreement": agreement,
        "audit": audit,
        "export": export,
        "watch": watch,
    },
    "Tournaments": {"systems": systems, "evaluate": evaluate, "rank": rank},
    "Documents and agents": {"index": index, "answer": answer, "compile-agent": compile_agent},
    "Test queries and probes": {
        "generate-queries": generate_queries,
        "compile-queries": compile_queries,
        "probe": probe,
    },
    "Installation and tracking": {"ui": ui, "doctor": doctor},
}


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"judgec {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="Print it.")] = False,
) -> None:
    """Hold the options that stand before a command; a callback has acted on them already."""


for heading, named in COMMANDS.items():
    for name, one in named.items():
        kind = LabelsCommand if one is labels else PlainCommand
        app.command(name, cls=kind, rich_help_panel=heading)(stoppable(one))


def main() -> None:
    """Run the command line; a judgec error prints its message and exits with its code."""
    gc.set_threshold(100_000, 20, 50)  # what is read of a large file is not searched for garbage again and again
    exit_with_code(app)
