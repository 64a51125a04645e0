"""People's labels of traces: reads them from a file, and says which share of people accepts a trace."""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from judgec.errors import InputError
from judgec.labels.rows.grades import position_of
from judgec.records.card import ProgramCard
from judgec.table.rows.cells import as_accept, as_grade, as_text, is_missing
from judgec.table.rows.columns import STRATUM, UNCERTAIN
from judgec.table.tables import read_table
from judgec.verbs.next_labels import label_columns

Labels = dict[str, dict[str, object]]  # by trace and annotator


def file_labels(file: Path, card: ProgramCard, aspect: str) -> tuple[Labels, set[str]]:
    """Labels in the rows of a file that have a trace's id, in ``trace_id``, or ``item_id`` as in sheets to label.

    The traces that were chosen because the judge was unsure come second: they are no random sample.

    Raises:
        InputError: No column of ids, or none of labels.
    """
    table, found, unsure = read_table(str(file)), Labels(), set[str]()
    label = (label_columns(card) * len(card.aspects))[card.aspects.index(aspect)]
    key = "trace_id" if "trace_id" in table.columns else "item_id"
    if key not in table.columns or not {label, "accept"} & {*table.columns}:
        there = ", ".join(table.columns)
        raise InputError([f"{file}: its columns are {there}; trace_id, and {label} or accept are needed. Add them."])
    for row in table.rows:
        value = row.get(label)
        if is_missing(value) and not is_missing(row.get("accept")):  # 1 and 0 are no grades here
            accept = as_grade(row["accept"])
            value = None if accept is None else as_accept(accept)
            value = as_text(row["accept"]) if value is None else value
        if is_missing(row.get(key)):
            continue
        if row.get(STRATUM) == UNCERTAIN:
            unsure.add(as_text(row[key]))
        elif not is_missing(value):
            found.setdefault(as_text(row[key]), {})[as_text(row.get("annotator") or "")] = value
    return found, unsure


def people_shares(
    sources: Sequence[Labels], card: ProgramCard, unsure: Collection[str] = ()
) -> tuple[dict[str, float], int]:
    """Share of people who accept a trace, by trace; and how many labels are not on the judge's scale.

    Of two labels by one annotator that of the later source counts, none of an unsure trace.
    """
    found, unknown, least = dict[str, list[bool]](), 0, card.scale.accept_index
    given = {(trace, who): value for one in sources for trace, by in one.items() for who, value in by.items()}
    for (trace, _), value in given.items():
        if trace in unsure:
            continue
        grade = None if isinstance(value, bool) else as_grade(value)
        place = None if grade is None else position_of(grade, card.scale)
        if place is not None:  # a grade of a scale without a threshold accepts and rejects nothing
            accept = None if least is None else place >= least
        else:
            accept = value if isinstance(value, bool) else as_accept("" if grade is None else grade)
        if accept is None:
            unknown += 1
        else:
            found.setdefault(trace, []).append(accept)
    return {trace: float(np.mean(said)) for trace, said in found.items()}, unknown
