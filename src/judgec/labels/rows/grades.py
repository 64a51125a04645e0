"""Turns label cells into positions on a scale that was declared."""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from judgec.errors import InputError, UserError
from judgec.labels.rows.means import Rounding, looks_like_means, nearest_grades
from judgec.labels.rows.ranges import grades_to
from judgec.records.counts import plural
from judgec.records.label import Task
from judgec.records.scale import ACCEPT_SCALE, Grade, Scale
from judgec.records.tasks.grade import ONE_TO_FIVE, ONE_TO_FIVE_ACCEPT
from judgec.records.tasks.registry import TASKS, compares, plain
from judgec.records.tasks.winners import UNSCORED, strength_dropped, unknown_words, winner_of
from judgec.table.rows.cells import as_accept, as_grade, as_text, is_accept_word, is_missing
from judgec.table.rows.columns import aspect_columns, listed
from judgec.table.table import Table

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
NO_END = "none"  # is best: classes have no order
SHOWN = 12  # grades that are listed one by one
MOST_GRADES = 11  # different ones; more, some of them no whole numbers, are numbers on an interval scale


@dataclass(frozen=True, slots=True)
class RawLabel:
    """One row's label before the scale is known; ``grades`` by aspect, blank ones absent."""

    grades: Mapping[str, Grade]
    accept: bool | None
    rationale: str


@dataclass(frozen=True, slots=True)
class RawLabels:
    """The label columns of a table.

    Args:
        aspects: Names, ``("grade",)`` when there is only one.
        columns: The column each aspect stands in, for messages.
        rows: One a table row; None where nothing was labelled.
        faults: (row, sentence) each.
        notes: What was assumed.
        means: What the numbers look like that are no whole ones, or empty.
    """

    aspects: tuple[str, ...]
    columns: Mapping[str, str]
    rows: tuple[RawLabel | None, ...]
    faults: tuple[tuple[int, str], ...]
    notes: tuple[str, ...]
    means: str = ""


def raw_labels(
    table: Table,
    task: Task,
    declared: Scale | None,
    rounding: Rounding = None,
    said: Mapping[str, str] = MappingProxyType({}),
) -> RawLabels:
    """Read grades, accepts and rationales; missing cells are no label, never a grade.

    Args:
        table: With judgec's names of columns.
        task: Of the labels.
        declared: The scale, where somebody declared one.
        rounding: A number between two grades is the nearest, of two as near the even.
        said: What words for the winner of a pair mean, as ``records.tasks.winners.winner_words`` makes it.
    """
    notes: list[str] = []
    spec, pairs = TASKS[task], compares(task)
    if spec.by_aspect:
        columns = {name.removeprefix(spec.prefix): name for name in aspect_columns(table.columns, spec.prefix)}
    else:
        columns = {"grade": spec.labels[0]} if spec.labels[0] in table.columns else {}
    accepts = "accept" if spec.takes_accept and "accept" in table.columns else ""
    grade_column = columns.get("grade", "")
    if spec.takes_accept and not accepts and declared is None and grade_column:
        seen = {grade for value in table.column(grade_column).values if (grade := as_grade(value)) is not None}
        if seen and all(map(is_accept_word, seen)):
            accepts, columns = grade_column, {}
            notes.append(f"Column {accepts} holds only {listed(sorted(map(str, seen)))}: read as accept / reject.")
    given = {aspect: _grades_in(table, column, declared, rounding, notes) for aspect, column in columns.items()}
    means = _means_in(list(columns.values()), [grade for column in given.values() for grade in column], notes)
    used = {grade for column in given.values() for grade in column if grade is not None}
    own = {grade: respelled(grade, spec.spellings) for grade in used}
    sides = {grade: winner_of(grade, said) for grade in own.values()} if pairs else {}
    notes += filter(None, [strength_dropped(sides)])

    def read(index: int) -> tuple[Mapping[str, Grade], bool | None, Grade | None, Grade | None]:
        """A row's grades and accept, and words of either that nobody knows."""
        grades = {aspect: own[grade] for aspect, column in given.items() if (grade := column[index]) is not None}
        odd = None
        if pairs and grades and (declared is None or position_of(grades["grade"], declared) is None):
            side = sides[grades["grade"]]
            odd = grades["grade"] if side is None else None
            grades = {} if side in {None, UNSCORED} else {"grade": side}
        word = words[index] if accepts else None
        accept = None if word is None else as_accept(word)
        return grades, accept, odd, None if word is None or accept is not None else word

    words = table.column(accepts).each(as_grade)
    reasons = table.column("rationale").each(lambda cell: "" if is_missing(cell) else as_text(cell))
    rows: list[RawLabel | None] = []
    faults: list[tuple[int, str]] = []
    unknown: list[tuple[int, Grade]] = []
    for index, reason in enumerate(reasons):
        grades, accept, odd, neither = read(index)
        if odd is not None:
            unknown.append((index, odd))
        if neither is not None:
            seen_here = f"{table.where(index)}: {accepts} {neither!r} is neither accept nor reject"
            valid = "valid are true / false, yes / no, 1 / 0, accept / reject, pass / fail"
            faults.append((index, f"{seen_here}; {valid}. Fix the row, or say that it means nothing with --missing."))
        rows.append(RawLabel(grades, accept, reason) if grades or accept is not None else None)
    if unknown:
        below = " and below" if len(unknown) > 1 else ""
        what = unknown_words(word for _, word in unknown)
        faults.append((unknown[0][0], f"{table.where(unknown[0][0])}{below}: {what}"))
    return RawLabels(tuple(columns) or ("grade",), columns, tuple(rows), tuple(faults), tuple(notes), means)


def _grades_in(
    table: Table, column: str, declared: Scale | None, rounding: Rounding, notes: list[str]
) -> list[Grade | None]:
    """The cells of a column of grades."""
    given = table.column(column).each(as_grade)
    if rounding is None:
        return given
    numbers = [] if declared is None else [grade for grade in declared.grades if not isinstance(grade, str)]
    if declared is not None and len(numbers) < len(declared.grades):
        return given
    values = np.array(numbers, dtype=np.float64)

    def nearest(grade: Grade | None) -> Grade | None:
        if not isinstance(grade, float) or (numbers and not numbers[0] <= grade <= numbers[-1]):
            return grade
        return numbers[int(nearest_grades(np.array([grade]), values)[0])] if numbers else round(grade)

    rounded = [nearest(grade) for grade in given]
    if moved := sum(one != other for one, other in zip(given, rounded, strict=True)):
        notes.append(f"{column}: {moved} of {plural(len(given), 'grade')} rounded to the nearest (--round nearest).")
    return rounded


def _means_in(columns: Sequence[str], grades: Sequence[Grade | None], notes: list[str]) -> str:
    """Describes grades that are means of annotators; empty where they are not."""
    used = {float(grade) for grade in grades if grade is not None and not isinstance(grade, str)}
    found = looks_like_means(np.array(sorted(used))) if used else None
    if found is None:
        return ""
    notes.append(f"{listed(columns)}: {found}, {plural(len(used), 'different grade')}; --round nearest rounds them.")
    return found


def respelled(grade: Grade, spellings: Mapping[str, str]) -> Grade:
    """The grade that somebody wrote in another way."""
    return spellings.get(plain(grade), grade) if spellings and isinstance(grade, str) else grade


def settle_scale(
    table: Table,
    task: Task,
    raw: RawLabels,
    declared: Scale | None,
    accept_at: str | None,
    best: str | None = None,
    *,
    columns: Mapping[str, str] = MappingProxyType({}),
    classes: bool = False,
) -> tuple[Scale, bool, list[str]]:
    """The scale, whether the labels are accept / reject alone, and what was assumed; words may be ``classes``.

    Args:
        table: With judgec's names of columns.
        task: Of the labels.
        raw: These.
        declared: The scale, where somebody declared one.
        accept_at: The lowest accepted grade.
        best: The best of the whole numbers that were given, which are the scale; ``none``: they are classes.
        columns: As ``own_scale``; empty where the labels stand in a column an annotator.
        classes: Words whose order nobody declares are classes without one.

    Raises:
        InputError: Nobody declared a scale.
        UserError: When ``accept_at`` is not on the scale, or ``best`` no end of it.
    """
    used = Counter(grade for label in raw.rows if label for grade in label.grades.values())
    said = sum(label.accept is not None for label in raw.rows if label)
    accept_only, spec = not used and said > 0, TASKS[task]
    notes: list[str] = []
    if accept_only:
        scale = ACCEPT_SCALE
        if declared is not None:
            notes.append(f"The labels are accept / reject alone; the scale {declared.name} is not used.")
    elif declared is not None:
        scale = declared
        if spec.of_modes and scale.grades != spec.scale.grades:
            seen = f"{table.path}:1: the scale {scale.name} has the grades {listed(scale.grades)}"
            raise InputError([f"{seen}; a failure mode is 0 (absent) or 1 (present). Drop [scale] from the datasheet."])
    elif spec.settled:
        scale = spec.scale
    elif best not in (None, NO_END):
        scale = _from_best(table.path, task, used, as_grade(best))
    elif len(used) > 1 and (best == NO_END or (classes and all(isinstance(grade, str) for grade in used))):
        scale = classes_of(used)
        counts = listed(f"{grade} ({used[grade]})" for grade in scale.grades)
        notes.append(f"Classes without an order: {counts}. --grades WORST,...,BEST gives them one.")
    elif own := own_scale(task, columns, used):
        scale = own
        at = "" if own.accept_at is None else f", accepted from {own.accept_at}"
        ends = f"{own.grades[0]} is the worst, {own.grades[-1]} the best"
        notes.append(f"Column {listed(columns)}, judgec's own: {ends}{at}; --best says otherwise.")
    else:
        raise InputError([_undeclared(table.path, used)])
    if accept_at is not None:
        scale = accepted_from(scale, accept_at)
    elif scale.accept_at is None and scale.grades == ONE_TO_FIVE:
        scale = scale.model_copy(update={"accept_at": ONE_TO_FIVE_ACCEPT})
        notes.append("Grades 4 and 5 count as accepted, as usual on 1-5; --accept-at changes it.")
    elif scale.accept_at is None and scale.level != "nominal" and not said and not spec.of_modes:
        notes.append(
            f"No accept threshold is known on the scale {scale_shown(scale)}: accept statistics "
            "stay empty. "
            "Give one with --accept-at GRADE, or accept_at in the datasheet."
        )
    if said and not accept_only and scale.accept_at is not None:
        notes.append(f"Where 'accept' is filled in, it beats the threshold {scale.accept_at}.")
    return scale, accept_only, notes


def classes_of(used: Collection[object]) -> Scale:
    """The scale of classes, none of which is better."""
    return Scale(name="class", level="nominal", grades=tuple(sorted(map(str, used))))


def _from_best(path: str, task: Task, used: Counter[Grade], best: Grade | None) -> Scale:
    """The whole numbers from the lowest to the highest seen, of which ``best`` is one end; words are slips.

    Raises:
        UserError: It is none, or some grades are no whole numbers.
    """
    whole = [grade for grade in used if isinstance(grade, int)]
    grades = None if any(isinstance(grade, float) for grade in used) else grades_to(best, whole)
    if grades is None:
        raise UserError(f"--best {best} is no end of whole numbers: {_undeclared(path, used)}")
    return Scale(name=TASKS[task].scale.name, grades=grades)


def _undeclared(path: str, used: Counter[Grade]) -> str:
    """Names the grades and the line to type: which end is good no table tells."""
    numbers = sorted(grade for grade in used if not isinstance(grade, str))
    words = [grade for grade, _ in used.most_common() if isinstance(grade, str)]
    if words and not numbers and all(map(_DAY.fullmatch, words)):
        seen = f"{path}:1: the grades are days ({listed(sorted(words)[:SHOWN])}), which spreadsheets make of 1/5 or 1-5"
        return f"{seen}; grades are numbers or words. Format the column as text, and type the grades again."
    whole = [grade for grade in numbers if isinstance(grade, int)]
    if len(whole) < len(numbers):
        ends = f"{math.floor(numbers[0])}..{math.ceil(numbers[-1])}"
        asks, typed = "what they mean", f"--scale {ends} where any number is valid, else --round nearest --best ?"
        python = "scale=, or round= and best="
    elif len(whole) > 1:
        asks, typed, python = f"which end is good, {whole[0]} or {whole[-1]}", "--best ?", "best="
        typed += " and --missing with words that say nothing" * bool(words)
    else:
        asks, typed, python = (
            "which is the worst, and so on up to the best",
            "--grades ?, or --best none where they are classes",
            "grades=",
        )
    shown = listed(f"{grade} ({used[grade]})" for grade in [*numbers, *words][:SHOWN])
    more = f" and {len(used) - SHOWN} more" if len(used) > SHOWN else ""
    return (
        f"{path}:1: the grades are {shown}{more}, and nobody said {asks}; a scale that somebody declared is needed. "
        f"Type {typed} (in Python {python}), or write [scale] with grades, worst first, into a datasheet.toml."
    )


def own_scale(task: Task, columns: Mapping[str, str], seen: Collection[Grade]) -> Scale | None:
    """The task's own scale, where its labels stand under judgec's own names and hold only grades of it; else None.

    Args:
        task: Of the labels.
        columns: judgec's names of the columns that hold them, by those of the file.
        seen: The different grades.
    """
    scale = TASKS[task].scale
    own = bool(columns) and all(theirs == ours for theirs, ours in columns.items())
    return scale if own and seen and all(position_of(one, scale) is not None for one in seen) else None


def position_of(grade: Grade, scale: Scale) -> int | None:
    """Position of a grade on the scale, words compared without case; None when it is not on it."""
    if grade in scale.grades:
        return scale.position(grade)
    if scale.interval:
        return None if isinstance(grade, str) else scale.nearest(float(grade))
    key = _key(grade)
    return next((i for i, valid in enumerate(scale.grades) if _key(valid) == key), None)


def _key(grade: Grade) -> str:
    """Equal for 3 and "3", for "Refused then answered" and "refused_then_answered"."""
    return str(grade).strip().casefold().replace(" ", "_").replace("-", "_") if isinstance(grade, str) else str(grade)


def accepted_from(scale: Scale, accept_at: str) -> Scale:
    """The scale, of which a grade is the lowest that is accepted.

    Raises:
        UserError: It is none of the scale, or the scale has no order.
    """
    grade = as_grade(accept_at)
    position = None if grade is None else position_of(grade, scale)
    if scale.level == "nominal":
        raise UserError(
            f"--accept-at {accept_at}: the scale {scale.name} ({listed(scale.grades)}) has no order; "
            "a threshold needs one. Drop --accept-at."
        )
    if position is None:
        raise UserError(
            f"--accept-at {accept_at}: not a grade of the scale {scale.name}; "
            f"the grades are {scale_shown(scale)}. Give one of them."
        )
    at = grade if scale.interval and grade is not None else scale.grades[position]
    return scale.model_copy(update={"accept_at": at})


def scale_shown(scale: Scale) -> str:
    """The grades of a scale for people; of an interval scale its ends."""
    return f"any number from {scale.grades[0]} to {scale.grades[-1]}" if scale.interval else grades_shown(scale.grades)


def interval_of(used: Collection[Grade]) -> tuple[int, int] | None:
    """The ends of the interval scale that these different grades propose, whole numbers; None where they are grades.

    More than ``MOST_GRADES`` different numbers, of which some are no whole ones, are measured or means of annotators.
    """
    numbers = [grade for grade in used if not isinstance(grade, str)]
    if len(numbers) <= MOST_GRADES or len(numbers) < len(used) or all(one == int(one) for one in numbers):
        return None
    return math.floor(min(numbers)), math.ceil(max(numbers))


def grades_shown(grades: Sequence[Grade]) -> str:
    """Grades for people: listed, or where there are many their ends and how many there are."""
    if len(grades) <= SHOWN:
        return listed(grades)
    first, last = grades[0], grades[-1]
    whole = isinstance(first, int) and isinstance(last, int) and len(grades) == last - first + 1
    return f"{first} to {last} ({len(grades)} {'whole numbers' if whole else 'grades'})"


def one_class(path: str, grade: Grade, count: int) -> str:
    """The sentence for labels that are all alike."""
    return (
        f"{path}: all {count} labels are {grade}; at least two different labels are needed to tell a judge from a "
        "constant. Add items of another grade."
    )
