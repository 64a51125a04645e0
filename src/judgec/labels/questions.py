"""Questions about labels that no table answers, and the scale that an answer declares."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from judgec.errors import UserError
from judgec.labels.roles import number_in
from judgec.labels.rows.ranges import grades_to, scale_of_grades
from judgec.records.scale import Grade
from judgec.table.rows.cells import as_grade


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A thing that no table answers.

    Args:
        key: Of what: ``columns``, ``roles``, ``beside``, ``names``, ``grade``, ``graders``, ``scale``,
            ``winner_words``, ``order``, ``orders``, ``item``, ``missing``, ``ranges``, ``reasons`` or ``turn``.
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


def grades_of(best: str | None, grades: Sequence[str], seen: Collection[str]) -> tuple[Grade, ...] | None:
    """The grades, worst first, that somebody declared; None where nobody did.

    Args:
        best: One end of the whole numbers that are seen.
        grades: As ``scale_of_grades``.
        seen: The different cells; those that are no whole numbers are asked about later.

    Raises:
        UserError: Both, or an end that is none.
    """
    if best is not None and grades:
        raise UserError(f"--best {best} and --grades; one of them is valid. Drop one.")
    if best is None:
        declared = scale_of_grades(grades)
        return None if declared is None else tuple(declared["grades"])  # type: ignore[arg-type]  # a list
    whole = sorted({int(n) for text in seen if (n := number_in(text)) is not None and n.is_integer()})
    found = grades_to(as_grade(best), whole)
    if found is None:
        ends = f"{whole[0]} and {whole[-1]}" if whole else "no whole numbers"
        raise UserError(f"--best {best}: the ends of the grades are {ends}. Name one, or all with --grades.")
    return found


def ends_of(seen: Collection[str]) -> tuple[str, str] | None:
    """The lowest and highest of whole numbers; None where most cells are others."""
    numbers = sorted(n for text in seen if (n := number_in(text)) is not None)
    whole = len(numbers) > len(seen) / 2 and all(map(float.is_integer, numbers))
    return (f"{numbers[0]:g}", f"{numbers[-1]:g}") if whole else None
