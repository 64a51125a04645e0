"""Out-of-fold judgments in place of those that ``judgec judge`` wrote for items that the judge has learned from."""

from collections.abc import Sequence
from pathlib import Path

from judgec.compile.abstain import abstain, agreement_of
from judgec.compile.held_out import kept_out_of_fold, saved_judgments
from judgec.errors import UserError
from judgec.labels.rows.items import item_digest
from judgec.raters import programs
from judgec.raters.programs import Program
from judgec.records.judgment import Judgments
from judgec.records.label import Item

Row = dict[str, object]


def stand_ins(home: Path, judge: str, items: Sequence[Item]) -> dict[str, Row]:
    """The judgments out of fold of items that a judge has learned from, by item, as ``Judgments.rows`` makes them.

    Nothing of a jury, where ``home`` has no such version or one that was tested on a single split, and of an item that
    is no longer what the judge was tested on.

    Args:
        home: Folder of ``programs/``.
        judge: ``NAME@VERSION``, or empty where nobody says.
        items: Those that it has learned from.
    """
    if "@" not in judge or "," in judge:
        return {}
    try:
        program = programs.load(home, judge)
    except UserError:
        return {}
    kept = kept_out_of_fold(program)
    known = [item for item in items if item_digest(item) in kept]
    judged = _abstained(saved_judgments(program.report, known, program.card), program)
    return {item.item_id: said for item, said in zip(known, judged.rows(program.card.scale), strict=True)}


def _abstained(judged: Judgments, program: Program) -> Judgments:
    """Without those that the judge, as it was compiled, leaves to people."""
    below, card = program.card.settings.get("abstain_below"), program.card
    if not isinstance(below, int | float) or below <= 0:
        return judged
    return abstain(judged, float(below), agreement_of(card.objective), card.scale)
