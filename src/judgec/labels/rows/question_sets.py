"""Generated questions that people rated, as ``generate-queries`` and ``probe`` write them: pairs to trust or not.

Such a set has ``query``, ``passage`` (or ``passages``) and ``reference``, and a column for each annotator or rows with
``annotator``. Its reference is the answer that is checked; one verdict a question is the aspect ``reliable``.
"""

from collections.abc import Mapping
from dataclasses import replace

from judgec.records.label import Task
from judgec.records.tasks.reliability import RELIABLE
from judgec.records.tasks.spec import ASPECT_PREFIX
from judgec.table.rows.cells import as_accept, as_grade
from judgec.table.table import Row, Table

TASK: Task = "reliability"
NOTE = "Generated questions: their reference is the answer that is checked; a single verdict is the aspect reliable."
_OTHERS = frozenset({"answer", "document", "answer_a"})  # of other tasks


def is_question_set(table: Table, task: Task | None) -> bool:
    """True if a table holds generated questions and no answers of anybody.

    Args:
        table: With our names of columns.
        task: That was asked for.
    """
    columns = set(table.columns)
    return (
        task in {None, TASK}
        and {"query", "reference"} <= columns
        and bool({"passage", "passages"} & columns)
        and not _OTHERS & columns
    )


def as_pairs(table: Table) -> Table:
    """The questions with ``answer`` and one ``passage`` each."""
    several = "passage" not in table.columns
    ours = {"reference": "answer", **({"passages": "passage"} if several else {})}

    def pair(row: Row) -> Row:
        found = {ours.get(name, name): value for name, value in row.items()}
        texts = found.get("passage")
        return {**found, "passage": "\n".join(map(str, texts))} if isinstance(texts, list | tuple) else found

    columns = tuple(ours.get(name, name) for name in table.columns)
    return replace(table, columns=columns, rows=tuple(map(pair, table.rows)), notes=(*table.notes, NOTE))


def with_verdicts(table: Table) -> Table:
    """The pairs whose single verdict, a grade or accept and reject, is that of the aspect ``reliable``."""
    column = f"{ASPECT_PREFIX}{RELIABLE}"
    ours: Mapping[str, str] = {name: column for name in ("accept", "grade") if name in table.columns}
    if len(ours) != 1 or column in table.columns:
        return table
    (theirs,) = ours

    def rated(row: Row) -> Row:
        found = {ours.get(name, name): value for name, value in row.items()}
        grade = as_grade(found.get(column))
        said = None if grade is None else as_accept(grade)
        return found if said is None else {**found, column: int(said)}

    columns = tuple(column if name == theirs else name for name in table.columns)
    return replace(table, columns=columns, rows=tuple(map(rated, table.rows)))
