"""The ``judgec`` command: one visible table of commands, and the one place where errors become exit codes.

Nothing heavy is imported here. A command module imports typer at its top and the rest inside its function, so
that ``judgec --help`` answers at once.
"""

from typing import Annotated

import typer

from judgec import __version__
from judgec.cli.admin.doctor import doctor
from judgec.cli.admin.journal import journal
from judgec.cli.admin.ui import ui
from judgec.cli.corpus.answer import answer
from judgec.cli.corpus.compile_agent import compile_agent
from judgec.cli.corpus.index import index
from judgec.cli.demo import demo
from judgec.cli.judge.agreement import agreement
from judgec.cli.judge.compare import compare
from judgec.cli.judge.compile_judge import compile_judge
from judgec.cli.judge.judge import judge
from judgec.cli.labels.labels import labels
from judgec.cli.output import exit_with_code
from judgec.cli.probe.compile_queries import compile_queries
from judgec.cli.probe.generate_queries import generate_queries
from judgec.cli.probe.probe import probe
from judgec.cli.tournament.evaluate import evaluate
from judgec.cli.tournament.rank import rank
from judgec.cli.trust.audit import audit

app = typer.Typer(
    name="judgec",
    help="The compiler for LLM judges: labels in, a judge out that is measured against your experts.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},  # commands take it over
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

LABELS = "Labels"
JUDGES = "Judges"
TOURNAMENTS = "Tournaments"
CORPUS = "Documents and agents"
PROBES = "Test queries and probes"
ADMIN = "Installation and tracking"


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"judgec {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="Print it.")] = False,
) -> None:
    """Hold the options that stand before a command; a callback has acted on them already."""


app.command("demo", rich_help_panel=LABELS)(demo)
app.command("labels", rich_help_panel=LABELS)(labels)
app.command("compile-judge", rich_help_panel=JUDGES)(compile_judge)
app.command("judge", rich_help_panel=JUDGES)(judge)
app.command("compare", rich_help_panel=JUDGES)(compare)
app.command("agreement", rich_help_panel=JUDGES)(agreement)
app.command("audit", rich_help_panel=JUDGES)(audit)
app.command("evaluate", rich_help_panel=TOURNAMENTS)(evaluate)
app.command("rank", rich_help_panel=TOURNAMENTS)(rank)
app.command("index", rich_help_panel=CORPUS)(index)
app.command("answer", rich_help_panel=CORPUS)(answer)
app.command("compile-agent", rich_help_panel=CORPUS)(compile_agent)
app.command("generate-queries", rich_help_panel=PROBES)(generate_queries)
app.command("compile-queries", rich_help_panel=PROBES)(compile_queries)
app.command("probe", rich_help_panel=PROBES)(probe)
app.add_typer(journal, rich_help_panel=ADMIN)
app.command("ui", rich_help_panel=ADMIN)(ui)
app.command("doctor", rich_help_panel=ADMIN)(doctor)


def main() -> None:
    """Run the command line; a judgec error prints its message and exits with its code."""
    exit_with_code(app)
