"""Finds the columns that say why a grade was given: a reason belongs to whoever gave the grade that it stands with."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgec.labels.rows.raters import columns_of, fields, is_measured, rejoined
from judgec.records.label import REASON_NAMES
from judgec.records.tasks.registry import plain
from judgec.records.tasks.spec import PREFIXES
from judgec.table.rows.cells import as_grade, as_text, is_missing
from judgec.table.rows.columns import listed
from judgec.table.rows.heads import JUDGE_HEADS, PEOPLE, RATINGS, WEAK, machine_words
from judgec.table.table import Row, Table

RATIONALE = "rationale"
_ORDER = {name: at for at, name in enumerate(REASON_NAMES)}
_GLUE = frozenset(  # words of no weight in the head of a reason
    [
        *("for", "of", "the", "a", "an", "your", "this", "that", "text", "free", "decision", "rejection", "acceptance"),
        *("der", "die", "das", "zur", "zum", "fuer", "entscheidung", "ablehnung", "de", "du", "des", "la", "le", "el"),
        *("zu", "von", "by", "from", "par", "da", "do", "dos", "del", "di", "por", "van", "door", "av", "af", "fra"),
        *("til", "till", "od", "от", "по"),
    ]
)
_STEM, _ENDING = 2, 2  # letters of a name, and of what a case adds to it
_MOST_WORDS = 12  # different words in a column that a machine graded
_NO_TEXT = frozenset({"feedback", "comment", "comments"})  # thumbs are called so, too


def is_reason(name: str) -> bool:
    """True if a head says that a column holds reasons, whoever's: ``Mia comment``, ``reason for grade``."""
    return _rest(name) is not None


def reason_in(row: Row) -> str:
    """The reason in a row of a sheet: under ``rationale`` where it has that, else under what others call it."""
    if RATIONALE in row:
        said: object = row[RATIONALE]
    else:
        heads = {plain(name): name for name in reversed([*row])}
        said = next((row[heads[name]] for name in REASON_NAMES if name in heads), None)
    return "" if is_missing(said) else as_text(said)


def _tokens(name: str) -> frozenset[str]:
    """The words and numbers of a head, without a genitive's s and without a range of grades."""
    text = re.sub(r"(?<=\w)['\u2019]s\b|[(\[]?\b\d+ ?[-\u2013] ?\d+\b[)\]]?", " ", name)
    text = re.sub(r"(?<=[^\W\d_])(?=\d{1,2}\b)", " ", text)  # R2, as r 2 is, too
    return frozenset(plain(text).split("_")) - {""}


def _rest(name: str) -> frozenset[str] | None:
    """The words of a head beside the one for a reason and those of no weight; None where it is no reason's."""
    own = _tokens(name)
    return own - _ORDER.keys() - _GLUE - RATINGS if own & _ORDER.keys() else None


def reason_owners(
    columns: Sequence[str], graded: Collection[str], machines: Collection[str], by_people: Collection[str] = ()
) -> dict[str, str]:
    """The column of grades that each column of reasons stands with, of people's and machines' alike.

    A head that names another column goes with it (``Mia comment``, ``gpt_reason``), one that names nothing with the
    grades to its left that have no such, or the first to its right. A head that names anything else is no reason of a
    grade.

    Args:
        columns: Of the table, in order.
        graded: Those of grades whose reasons are wanted.
        machines: Those of a machine's grades.
        by_people: Those of reasons with gaps where a machine graded, which leaves none out; a head may say otherwise.
    """
    known = [name for name in columns if name in graded or name in machines]
    heads = {name: rest for name in columns if name not in known and (rest := _rest(name)) is not None}
    named = {
        name: next((one for one in known if _names(rest, one) or plain(name) in _composed(one)), "")
        for name, rest in heads.items()
    }
    owners = {name: one for name, one in named.items() if one}
    for name in [name for name in heads if name not in owners]:
        alike = [one for one in known if one not in owners.values() and _inflects(heads[name], one)]
        owners |= dict.fromkeys([name], alike[0]) if len(alike) == 1 else {}
    free = [one for one in known if one not in owners.values()]
    for name, rest in heads.items():
        if name in owners or machine_words(name) or not free or not all(map(str.isdecimal, rest - PEOPLE)):
            continue
        at = columns.index(name)
        able = [one for one in free if one in graded] if name in by_people else []
        before = [one for one in able or free if columns.index(one) < at]
        owners[name] = before[-1] if before else (able or free)[0]
    return owners


def _names(rest: frozenset[str], graded: str) -> bool:
    """True if the words of a head of reasons are those of a column of grades: ``Rater 1``, or its ``1`` alone."""
    key = _tokens(graded) - _GLUE - RATINGS
    return bool(rest) and (rest == key or (rest - PEOPLE == key - PEOPLE and bool(rest - PEOPLE)))


def _inflects(rest: frozenset[str], graded: str) -> bool:
    """Whether both are one name of which the last letters differ: ``Uwagi Anny`` and ``Ocena Anna``."""
    one, other = rest - PEOPLE, _tokens(graded) - _GLUE - RATINGS - PEOPLE
    if len(one) != 1 or len(other) != 1 or not all(map(str.isalpha, one | other)):
        return False
    (mine,), (theirs,) = one, other
    shorter, longer = sorted((mine, theirs), key=len)
    same = next((at for at, letter in enumerate(shorter) if longer[at] != letter), len(shorter))
    return same >= max(_STEM, len(shorter) - 1) and len(longer) - same <= _ENDING


def _composed(graded: str) -> set[str]:
    """Heads of its reasons: ``score_reason``, and of a score within an object the reason within the same."""
    inside = plain(graded.rpartition(".")[0])
    return {f"{stem}_{name}" for stem in filter(None, (plain(graded), inside)) for name in REASON_NAMES}


def machine_columns(columns: Sequence[str], rows: Sequence[Row], judges: Collection[str] = ()) -> list[str]:
    """Columns of a machine's grades: by the head, where the values may be grades."""
    named = [
        name
        for name in columns
        if not is_reason(name)
        and (
            is_measured(name, judges)
            or machine_words(name)
            or plain(name) in JUDGE_HEADS
            or (_tokens(name) & WEAK and _tokens(name) & RATINGS and not _tokens(name) & PEOPLE)
        )
    ]
    return [name for name in named if _is_graded(row.get(name) for row in rows)]


def _is_graded(values: Iterable[object]) -> bool:
    grades = [as_grade(value) for value in values if not is_missing(value)]
    words = {grade for grade in grades if isinstance(grade, str)}
    return bool(grades) and (not words or len(words) <= min(_MOST_WORDS, len(grades) // 2))


def _are_texts(table: Table, name: str) -> bool:
    """True if a column holds texts: thumbs up and down are called feedback, too, and a remark stands in few rows."""
    column = table.column(name)
    said = [value for value in column.values if not is_missing(value)]
    few = 2 * int((~column.missing).sum()) < len(table.rows) and all(isinstance(as_grade(value), str) for value in said)
    if not _tokens(name) & _NO_TEXT or (few and not _tokens(name) & {"feedback"}):
        return True
    return any(isinstance(value, str) and as_grade(value) is not None and " " in value.strip() for value in said)


def reason_columns(
    table: Table, annotators: Sequence[str] = (), labels: Collection[str] = (), judges: Collection[str] = ()
) -> dict[str, dict[str, str]]:
    """Columns that hold people's reasons: by the name that they are read by, the column of each column of grades.

    Args:
        table: Under judgec's names of columns, or with those of its labels said.
        annotators: Columns of one annotator each.
        labels: The columns of labels; empty for those that judgec calls so.
        judges: Judges that are measured: their columns, or their names.
    """
    raters = [(name, columns_of(name, table.columns)) for name in rejoined(annotators, table.columns)]
    person = {c: name for name, own in raters if not is_measured(name, judges) for c in own if own[c] != RATIONALE}
    ours = fields() - {RATIONALE}
    graded = {*person} or {*labels} or {c for c in table.columns if c in ours or c.startswith(PREFIXES)}
    machines = [c for c in machine_columns(table.columns, table.rows, judges) if c not in graded]
    judged = np.zeros(len(table.rows), dtype=np.bool_)
    for name in machines:
        judged |= ~table.column(name).missing
    by_people = [c for c in table.columns if is_reason(c) and bool((table.column(c).missing & judged).any())]
    owners = reason_owners([c for c in table.columns if c != RATIONALE], graded, machines, by_people)
    taken = {c: one for c, one in owners.items() if one in graded and _are_texts(table, c)}
    together = len(taken) == 1 and len({*person.values()}) > 1 and not (_rest(next(iter(taken))) or PEOPLE) - PEOPLE
    wanted: dict[str, dict[str, str]] = {}
    for column in sorted(taken, key=_place):
        owner = taken[column]
        target = RATIONALE if together or owner not in person else f"{person[owner]}.{RATIONALE}"
        if target not in table.columns:
            wanted.setdefault(target, {}).setdefault(owner, column)
    return wanted


def with_reasons(table: Table, annotators: Sequence[str] = (), judges: Collection[str] = ()) -> Table:
    """The table with people's reasons as ``rationale``, of columns of one annotator each as ``NAME.rationale``.

    Where there is such a column already it counts alone. Of several reasons of one grade the first counts, as
    ``REASON_NAMES`` has them; reasons of several aspects are put together, each behind its aspect.

    Args:
        table: Under judgec's names of columns.
        annotators: Columns of one annotator each.
        judges: Judges that are measured: their columns, or their names.
    """
    wanted = reason_columns(table, annotators, judges=judges)
    if not wanted:
        return table
    used = {column: target for target, own in wanted.items() for column in own.values()}
    said = {c: _aspect(owner) for own in wanted.values() if len(own) > 1 for owner, c in own.items()}
    rows = [_told(row, wanted, said) for row in table.rows]
    columns = dict.fromkeys(used.get(name, name) for name in table.columns)
    note = f"Read as reasons: {listed(name for name in table.columns if name in used)}."
    return replace(table, columns=tuple(columns), rows=tuple(rows), notes=(*table.notes, note))


def _place(column: str) -> int:
    """Of the word for a reason in the list; as they stand where it is the same."""
    return min(_ORDER[token] for token in _tokens(column) & _ORDER.keys())


def _aspect(column: str) -> str:
    return column.rpartition(".")[2]


def _told(row: Row, wanted: Mapping[str, Mapping[str, str]], aspects: Mapping[str, str]) -> Row:
    """The row with each reason under the name that it is read by."""
    gone = {column for own in wanted.values() for column in own.values()}
    out = {name: value for name, value in row.items() if name not in gone}
    for target, own in wanted.items():
        texts = [
            f"{aspects[column]}: {text}" if column in aspects else text
            for column in own.values()
            if not is_missing(value := row.get(column)) and (text := as_text(value))
        ]
        if texts:
            out[target] = "\n".join(texts)
    return out
