"""The ordered grades of a task, their meanings and where "accept" begins."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from judgec.records.counts import plural

Grade = int | float | str
MOST_VALUES = 1001  # of an interval scale, which keeps a position for each: thousandths of its range
ENDS = 2  # grades of an interval scale of which somebody said no more


class Aspect(BaseModel):
    """Declaration of one aspect: what is asked, and what each grade means there.

    Args:
        asks: What the judge is asked about it; empty for the task's own words.
        meanings: One sentence a grade of the scale, worst first, or empty.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    asks: str = ""
    meanings: tuple[str, ...] = ()


class Scale(BaseModel):
    """An ordered set of grades, worst first; the rubric in every prompt is made from it.

    Args:
        name: What is graded, for example ``faithfulness``.
        level: ``ordinal`` (order matters), ``nominal`` (classes such as a / b / tie) or ``interval`` (any number from
            the first grade to the last, such as means of annotators).
        grades: At least two distinct grades, worst first; numbers or words. Of labels on an interval scale every
            different value.
        meanings: One sentence a grade, or empty.
        aspects: What is said of single aspects, by name; it goes before ``meanings``.
        accept_at: The lowest grade that counts as accepted, or None when nobody said.
        as_percent: A reply may state a share of the highest grade: 80 % on 1-5 is 4.
        listed: Of an interval scale the grades that somebody listed, to which ``meanings`` belong; empty where only
            its ends were said.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "grade"
    level: Literal["ordinal", "nominal", "interval"] = "ordinal"
    grades: tuple[Grade, ...]
    meanings: tuple[str, ...] = ()
    aspects: Mapping[str, Aspect] = {}
    accept_at: Grade | None = None
    as_percent: bool = Field(default=False, exclude_if=lambda said: not said)
    listed: tuple[Grade, ...] = Field(default=(), exclude_if=lambda said: not said)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(self.grades) < 2 or len(set(self.grades)) != len(self.grades):
            raise ValueError(
                f"scale {self.name}: grades {list(self.grades)}; at least two distinct grades are needed, worst first."
            )
        described = self.listed or self.grades
        if self.meanings and len(self.meanings) != len(described):
            raise ValueError(
                f"scale {self.name}: {len(self.meanings)} meanings for {plural(len(described), 'grade')}; "
                "give one meaning a grade, or none."
            )
        for name, aspect in self.aspects.items():
            if aspect.meanings and len(aspect.meanings) != len(described):
                raise ValueError(
                    f"aspects.{name}: {len(aspect.meanings)} meanings for the {len(described)} grades of scale "
                    f"{self.name}; give one meaning a grade, or none."
                )
        numbers = [grade for grade in self.grades if not isinstance(grade, str)]
        if self.interval and len(numbers) < len(self.grades):
            raise ValueError(
                f"scale {self.name}: grades {list(self.grades)} with level interval; numbers are valid there. "
                "Give its ends, such as grades = [0, 1], or drop level."
            )
        if self.level != "nominal" and len(numbers) == len(self.grades) and numbers != sorted(numbers):
            raise ValueError(f"scale {self.name}: grades {numbers} are not in rising order; list the worst first.")
        within = self.interval and not isinstance(self.accept_at, str | None) and self._holds(self.accept_at)
        if self.accept_at is not None and self.accept_at not in self.grades and not within:
            raise ValueError(
                f"scale {self.name}: accept_at {self.accept_at} is not a grade; "
                f"the grades are {', '.join(map(str, self.grades))}."
            )
        return self

    @property
    def interval(self) -> bool:
        """True where every number between the ends is a label, and distances mean the same everywhere."""
        return self.level == "interval"

    def _holds(self, number: float) -> bool:
        return self.values[0] <= number <= self.values[-1]

    def with_values(self, numbers: Iterable[float]) -> Self:
        """The interval scale with every one of these numbers that lies on it, so that each has a position.

        Where they are more than ``MOST_VALUES``, multiples of a thousandth of the range stand for them.
        """
        low, high = self.values[0], self.values[-1]
        listed = [float(grade) for grade in (*self.listed, *self.grades) if not isinstance(grade, str)]
        found = {low, high, *listed, *(float(one) for one in numbers if self._holds(one))}
        if self.accept_at is not None and not isinstance(self.accept_at, str):
            found.add(self.accept_at)
        if len(found) > MOST_VALUES:
            step = (high - low) / (MOST_VALUES - 1)
            found = {low + step * place for place in range(MOST_VALUES - 1)} | {high}
        grades = tuple(sorted(int(one) if one == int(one) else one for one in found))
        shown = self.listed or (self.grades if len(self.grades) > ENDS else ())
        return self.model_copy(update={"grades": grades, "listed": shown})

    @property
    def values(self) -> tuple[float, ...]:
        """The number each grade stands for: the grade itself, or its position for words."""
        numbers = [float(grade) for grade in self.grades if not isinstance(grade, str)]
        if len(numbers) == len(self.grades):
            return tuple(numbers)
        return tuple(float(position) for position in range(len(self.grades)))

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest value."""
        return min(self.values), max(self.values)

    @property
    def step(self) -> float:
        """Distance of two neighbouring grades; 0 on an interval scale, which has no steps."""
        return 0.0 if self.interval else min(high - low for low, high in pairwise(self.values))

    @property
    def accept_index(self) -> int | None:
        """Position of the lowest accepted grade, or None when no threshold is known."""
        if self.accept_at is None or isinstance(self.accept_at, str) or not self.interval:
            return None if self.accept_at is None else self.grades.index(self.accept_at)
        return int(bisect_left(self.values, self.accept_at))

    def aspect(self, name: str) -> Aspect:
        """Declaration of an aspect, in whatever case its name is written; an empty one where there is none."""
        said = {each.casefold(): aspect for each, aspect in self.aspects.items()}
        return said.get(name.casefold(), Aspect())

    def nearest(self, number: float) -> int | None:
        """Position of the value nearest to a number, of two the lower; None outside the scale."""
        if not self._holds(number):
            return None
        above = bisect_left(self.values, number)
        if above and number - self.values[above - 1] <= self.values[above] - number:
            return above - 1
        return above

    def stated(self, position: int, score: float) -> Grade:
        """The grade of a judgment: of numbers the listed grade that is nearest to the score, where some are listed."""
        numbers = [grade for grade in self.listed if not isinstance(grade, str)]
        return min(numbers, key=lambda grade: abs(grade - score)) if numbers else self.grades[position]

    def position(self, grade: Grade) -> int:
        """Position of ``grade`` in ``grades``.

        Raises:
            ValueError: When it is not on the scale.
        """
        return self.grades.index(grade)


ACCEPT_SCALE = Scale(
    name="accept",
    grades=(0, 1),
    meanings=("reject: the answer is not good enough", "accept: the answer is good enough"),
    accept_at=1,
)
"""The scale of tasks labelled with accept / reject only: position 1 is accept."""

PRESENCE_SCALE = Scale(
    name="failure mode",
    grades=(0, 1),
    meanings=("absent: the answer does not show it", "present: the answer shows it"),
)
"""The scale of failure modes: position 1 is present. Nothing says which of the two is accepted."""
