"""``judgec agreement``."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgec.cli.options import AcceptAtOption, HomeOption, JsonOption, command_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgec.store.rows.graded import StandIns
    from judgec.store.tables import Table


@dataclass(frozen=True, kw_only=True)
class Request:
    """The command line of ``agreement``, as typed."""

    file: Annotated[str, typer.Argument(help="A table with the experts' and a judge's grades.")]
    expert: Annotated[str, typer.Option("--expert", metavar="COLUMN", help="The experts' grades.")]
    judge: Annotated[str, typer.Option("--judge", metavar="COLUMN", help="The judge's grades; empty is unscored.")]
    score: Annotated[str | None, typer.Option("--score", metavar="COLUMN", help="The judge's continuous score.")] = None
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="COLUMN", help="What groups rows, such as the query.")
    ] = None
    accept_at: AcceptAtOption = None
    all: Annotated[
        bool, typer.Option("--all", help="Keep rows that the judge has learned from (learned is true there).")
    ] = False
    json: JsonOption = False
    home: HomeOption = Path()


@command_of(Request)
def agreement(request: Request) -> None:
    """Measure any judge's output against the experts: statistics with intervals, nothing else needed."""
    from judgec.cli.output import print_json, say
    from judgec.report.render import agreement_table, notes, print_tables
    from judgec.stats.agreement.measure import measure
    from judgec.store.rows.graded import read_graded

    graded = read_graded(
        request.file,
        expert=request.expert,
        judge=request.judge,
        score=request.score,
        cluster=request.cluster,
        accept_at=request.accept_at,
        every=request.all,
        in_place=partial(_said_out_of_fold, request.home),
    )
    found = measure(graded.ratings, nominal=graded.nominal)
    if request.json:
        learned = (
            {}
            if graded.learned is None
            else {"learned": {"rows": graded.learned, "kept": request.all, "out_of_fold": graded.out_of_fold}}
        )
        print_json(found.to_json() | learned)
        return
    title = f"{request.judge} against {request.expert}, {request.file}"
    print_tables(agreement_table(title, {request.judge: found}))
    say(*[f"note: {note}" for note in (*graded.notes, *notes({request.judge: found}))])


def _said_out_of_fold(home: Path, table: "Table", rows: "Sequence[int]", prefix: str) -> "StandIns":
    from judgec.compiler.stand_ins import stand_ins  # loads what compiles judges; most files need none of it

    return stand_ins(home, table, rows, prefix)
