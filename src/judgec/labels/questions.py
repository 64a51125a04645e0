"""Questions about labels that no table answers, and the scale that an answer declares."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from judgec.errors import UserError
from judgec.labels.roles import number_in
from judgec.records.scale import Grade
from judgec.table.rows.cells import as_grade

_RANGE = re.compile(r"([-+]?\d+)\.\.([-+]?\d+)")


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A thing that no table answers.

    Args:
        key: Of what: ``columns``, ``beside``, ``names``, ``grade``, ``graders``, ``scale``, ``winner_words``,
            ``missing``, ``ranges``, ``reasons`` or ``turn``.
        text: For people.
        options: What to type for it, ``?`` where only a person knows.
        usual: The answer of somebody who presses Enter; empty: there is none.
        graders: Whose words are meant; empty for all.
        optional: Labels are read without an answer, too.
    """

    key: str
    text: str
    options: tuple[str, ...]
    usual: str = ""
    graders: tuple[str, ...] = ()
    optional: bool = False


def grades_of(
    best: str | None, grades: Sequence[str], seen: Collection[str], where: str = "init"
) -> tuple[Grade, ...] | None:
    """The grades, worst first, that somebody declared; None where nobody did. Falling numbers become words.

    Args:
        best: One end of the whole numbers that are seen.
        grades: All of them, worst first; or one range such as ``1..5``.
        seen: The different cells.
        where: Of messages.

    Raises:
        UserError: Both, or an end that is none.
    """
    if best is not None and grades:
        raise UserError(f"{where}: --best {best} and --grades; one of them is valid. Drop one.")
    if len(grades) == 1 and (said := _RANGE.fullmatch(grades[0])):
        low, high = int(said[1]), int(said[2])
        return _rising(range(min(low, high), max(low, high) + 1), falling=low > high)
    if grades:
        read = [one if (number := as_grade(one)) is None else number for one in grades]
        numbers = [one for one in read if not isinstance(one, str)]
        if len(numbers) == len(read) and numbers != sorted(numbers):
            return tuple(map(str, read))
        return tuple(read)
    if best is None:
        return None
    whole = sorted({int(n) for text in seen if (n := number_in(text)) is not None and n.is_integer()})
    if not whole or best not in {str(whole[0]), str(whole[-1])}:
        ends = f"{whole[0]} and {whole[-1]}" if whole else "no whole numbers"
        raise UserError(f"--best {best}: the ends of the grades are {ends}. Name one, or all with --grades.")
    return _rising(range(whole[0], whole[-1] + 1), falling=best == str(whole[0]))


def _rising(numbers: range, *, falling: bool) -> tuple[Grade, ...]:
    return tuple(map(str, reversed(numbers))) if falling else tuple(numbers)


def ends_of(seen: Collection[str]) -> tuple[str, str] | None:
    """The lowest and highest of whole numbers; None where most cells are others."""
    numbers = sorted(n for text in seen if (n := number_in(text)) is not None)
    whole = len(numbers) > len(seen) / 2 and all(map(float.is_integer, numbers))
    return (f"{numbers[0]:g}", f"{numbers[-1]:g}") if whole else None
