"""What to type after ``judgec judge``: a command that works as it is printed."""

from itertools import count
from pathlib import Path

from judgec.cli.judge.judge import Request
from judgec.cli.output import command
from judgec.records.card import ProgramCard
from judgec.store.rows.columns import as_rename
from judgec.store.stream.judged import Names
from judgec.store.stream.pieces import ItemStream
from judgec.tasks.spec import ASPECT_PREFIX


def next_step(request: Request, card: ProgramCard, items: ItemStream, names: Names, *, in_folds: bool) -> list[str]:
    """How far the judge agrees with the labels in the file; where it has none, a sheet to grade on.

    Args:
        request: What was judged.
        card: Of the judge, the first one of a jury.
        items: The file.
        names: Of the columns that were added.
        in_folds: The judge was tested in folds, and its home has what it said of its labels then.
    """
    if request.inputs and (pair := _measured(request, items, names)):
        expert, judge = pair
        typed = ["agreement", str(request.out), "--expert", expert, "--judge", judge, *_cluster(request, items)]
        return [f"Next: {command(*typed, home=request.home if in_folds else Path())}"]
    if items.labelled or items.learned.all():
        return []
    named = f"{card.name}@{card.version}"
    maps = [part for pair in request.rename for part in ("--map", pair)]
    sheets = (request.out.with_name(f"{request.out.stem}.to-grade{n or ''}.csv") for n in count())
    sheet = next(path for path in sheets if not path.exists())
    typed = ["labels", request.file, *maps, "--judge", named, "--export", str(sheet)]
    return [f"Next: {command(*typed, home=request.home)}"]


def _measured(request: Request, items: ItemStream, names: Names) -> tuple[str, str] | None:
    """An expert's column and the judge's beside it."""
    rename = as_rename(request.rename)
    for expert in items.labelled:
        ours = rename.get(expert, expert)
        wanted = ours if ours == "accept" or ours.startswith(ASPECT_PREFIX) else "grade"
        if wanted in names.added:
            return expert, names.added[wanted]
    return None


def _cluster(request: Request, items: ItemStream) -> list[str]:
    """Answers to one query are not independent."""
    rename = as_rename(request.rename)
    theirs = {rename.get(name, name): name for name in items.columns}
    column = theirs.get("query_id", theirs.get("query"))
    return [] if column is None else ["--cluster", column]
