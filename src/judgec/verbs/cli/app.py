"""The ``judgec`` command: one visible table of commands, and the one place where errors become exit codes.

Nothing heavy is imported here. A command module imports typer at its top and the rest inside its function, so
that ``judgec --help`` answers at once.
"""

from collections.abc import Callable
from typing import Annotated

import typer

from judgec import __version__
from judgec.verbs.cli.admin.doctor import doctor
from judgec.verbs.cli.admin.journal import journal
from judgec.verbs.cli.admin.open import open_page
from judgec.verbs.cli.admin.ui import ui
from judgec.verbs.cli.corpus.answer import answer
from judgec.verbs.cli.corpus.compile_agent import compile_agent
from judgec.verbs.cli.corpus.index import index
from judgec.verbs.cli.demo import demo
from judgec.verbs.cli.help import PlainCommand, PlainGroup
from judgec.verbs.cli.judge.agreement import agreement
from judgec.verbs.cli.judge.compare import compare
from judgec.verbs.cli.judge.compile_judge import compile_judge
from judgec.verbs.cli.judge.export import export
from judgec.verbs.cli.judge.judge import judge
from judgec.verbs.cli.judge.watch import watch
from judgec.verbs.cli.labels.init import init
from judgec.verbs.cli.labels.labels import LabelsCommand, labels
from judgec.verbs.cli.output import exit_with_code, stoppable
from judgec.verbs.cli.probe.compile_queries import compile_queries
from judgec.verbs.cli.probe.generate_queries import generate_queries
from judgec.verbs.cli.probe.probe import probe
from judgec.verbs.cli.tournament.evaluate import evaluate
from judgec.verbs.cli.tournament.rank import rank
from judgec.verbs.cli.trust.audit import audit

app = typer.Typer(
    name="judgec",
    cls=PlainGroup,
    help="The compiler for LLM judges: labels in, a judge out that is measured against your experts.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},  # commands take it over
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

COMMANDS: dict[str, dict[str, Callable[..., None] | typer.Typer]] = {
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
    "Tournaments": {"evaluate": evaluate, "rank": rank},
    "Documents and agents": {"index": index, "answer": answer, "compile-agent": compile_agent},
    "Test queries and probes": {
        "generate-queries": generate_queries,
        "compile-queries": compile_queries,
        "probe": probe,
    },
    "Installation and tracking": {"open": open_page, "journal": journal, "ui": ui, "doctor": doctor},
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
        if isinstance(one, typer.Typer):
            app.add_typer(one, rich_help_panel=heading)
        else:
            kind = LabelsCommand if one is labels else PlainCommand
            app.command(name, cls=kind, rich_help_panel=heading)(stoppable(one))


def main() -> None:
    """Run the command line; a judgec error prints its message and exits with its code."""
    exit_with_code(app)
