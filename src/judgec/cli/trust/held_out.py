"""Labels for a judge, read from where the command line or the judge's report says, without what it has learned from."""

import os

from judgec.api.source import LabelSource, read_source
from judgec.cli.options import HeldOutLabels, LabelColumns
from judgec.errors import UserError
from judgec.held_out import HeldOut
from judgec.held_out import held_out as without_learned
from judgec.store.programs import Program
from judgec.store.rows.columns import as_names, as_rename
from judgec.tracking.store import tracking_store


def held_out(program: Program, wanted: HeldOutLabels, *, out_of_fold: bool = True) -> HeldOut:
    """Read labels and leave out what the judge has learned from; ``out_of_fold`` as ``compiler.gate.held_out``.

    Raises:
        UserError: When nobody says where labels are, they are on another scale, or none is left.
    """
    card = program.card
    if wanted.labels is None:
        recorded = program.report.get("source")
        if not isinstance(recorded, dict) or not recorded.get("path"):
            raise UserError(
                f"{card.name}@{card.version}: its report does not say where its labels are. "
                "Give labels with --labels FILE."
            )
        source = LabelSource(**recorded | {"annotators": tuple(recorded["annotators"])})
    else:
        source = as_typed(wanted.labels, wanted, card.task)
    store = tracking_store(wanted.home, wanted.tracking_uri, os.environ)
    return without_learned(read_source(source, store, os.environ, card), source.path, program, out_of_fold=out_of_fold)


def as_typed(path: str, columns: LabelColumns, task: str | None) -> LabelSource:
    """The source that a command line names.

    Raises:
        UserError: When ``--map`` or ``--annotators`` cannot be read.
    """
    return LabelSource(path, task, as_rename(columns.rename), as_names(columns.annotators), accept_at=columns.accept_at)
