"""Out-of-fold judgments in place of those that ``judgec judge`` wrote for items that the judge has learned from."""

from collections.abc import Sequence
from pathlib import Path

from judgec.compile.abstain import abstain, agreement_of
from judgec.compile.held_out import kept_out_of_fold, saved_judgments
from judgec.errors import UserError
from judgec.labels.rows.graded import StandIns
from judgec.labels.rows.items import collect_items, item_digest
from judgec.labels.stream.judged import GRADED
from judgec.raters import programs
from judgec.raters.programs import Program
from judgec.records.judgment import Judgments
from judgec.records.tasks.registry import as_task
from judgec.table.rows.columns import JUDGED_BY, renamed
from judgec.table.table import Row, Table


def stand_ins(home: Path, table: Table, rows: Sequence[int], prefix: str) -> StandIns:
    """Finds the out-of-fold judgments of the judge of a judged file for some of its rows.

    Nothing, where the rows name several judges or a jury, where ``home`` has no such version or one that was tested on
    a single split, and for a row whose item is no longer what the judge was tested on.

    Args:
        home: Folder of ``programs/``.
        table: The judged file, with the columns of its input.
        rows: Positions of those that the judge has learned from.
        prefix: What stands before the names of the columns that ``judgec judge`` added.
    """
    names = {str(table.rows[i].get(f"{prefix}{JUDGED_BY}") or "") for i in rows}
    name = names.pop() if len(names) == 1 else ""
    if "@" not in name or "," in name:
        return StandIns()
    try:
        program = programs.load(home, name)
    except UserError:
        return StandIns(name)
    kept = kept_out_of_fold(program)
    if not kept:
        return StandIns(name)
    chosen = Table(
        table.path,
        table.columns,
        tuple(table.rows[i] for i in rows),
        tuple(table.lines[i] for i in rows),
        table.by_line,
    )
    found = collect_items(_as_compiled(chosen, program), as_task(program.card.task))
    judged = _abstained(saved_judgments(program.report, found.items, program.card), program)
    said = list(judged.rows(program.card.scale))
    known = [item_digest(item) in kept for item in found.items]
    return StandIns(
        name,
        {
            i: {**table.rows[i], **_cells(said[item], program, prefix)}
            for i, item in zip(rows, found.item_of, strict=True)
            if item >= 0 and known[item]
        },
    )


def _as_compiled(table: Table, program: Program) -> Table:
    """The table with its columns renamed as those of the labels were, which the judge was compiled on."""
    source = program.report.get("source")
    given = source.get("rename") if isinstance(source, dict) else None
    theirs = given.items() if isinstance(given, dict) else ()
    return renamed(table, {old: str(new) for old, new in theirs if old in table.columns and new not in table.columns})


def _abstained(judged: Judgments, program: Program) -> Judgments:
    """Without those that the judge, as it was compiled, leaves to people."""
    below, card = program.card.settings.get("abstain_below"), program.card
    if not isinstance(below, int | float) or below <= 0:
        return judged
    return abstain(judged, float(below), agreement_of(card.objective), card.scale)


def _cells(said: Row, program: Program, prefix: str) -> dict[str, object]:
    """The graded columns of a row, as ``judgec judge`` names them."""
    aspects = program.card.aspects
    if len(aspects) == 1:
        return {f"{prefix}{name}": said[name] for name in GRADED}
    cells: dict[str, object] = {}
    for name in GRADED:
        by_aspect = said[f"{name}s"]
        assert isinstance(by_aspect, dict)  # of several aspects ``rows`` gives dicts
        cells |= {f"{prefix}{name}.{aspect}": by_aspect[aspect] for aspect in aspects}
    return cells
