"""Checks a label file: what it holds, how the experts grade, and how far they agree."""

from typing import TYPE_CHECKING

from judgec.labels.labels import LabelFile, read_label_file
from judgec.labels.sides.memory import read_memory
from judgec.labels.splits import as_family, default_family
from judgec.verbs.options.labels import LabelsOptions

if TYPE_CHECKING:
    from judgec.report.label_report import LabelReport


def check_labels(options: LabelsOptions) -> tuple[LabelFile, "LabelReport"]:
    """The labels as read, and what ``judgec labels --json`` prints of them.

    Raises:
        InputError: All faults of the file.
        UserError: An unknown task, a threshold off the scale, a name that no judge can have.
    """
    family = default_family(options.file) if options.name is None else as_family(options.name)
    content = read_label_file(
        options.file,
        task=options.task,
        rename=options.columns,
        annotators=options.annotators,
        accept_at=options.accept_at,
        scale=options.scale,
        turn=options.turn,
        rounding=options.round,
        repeats=options.repeats,
        missing=options.missing,
        judges=options.measured,
        winner_words=options.winner_words,
    )
    from judgec.report.label_report import label_report  # after bad input has been refused: SciPy is slow

    return content, label_report(content, family, memory=read_memory(options.home, family))
