"""A table's columns, declared once: screen, page, CSV, JSON and MLflow are made from the same declaration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Generic, TypeVar

from judgec.records.estimate import Estimate
from judgec.report.numbers import UNKNOWN

Row = TypeVar("Row")
Other = TypeVar("Other")
Value = float | int | str | Estimate | None
Place = Sequence[str | None]  # steps of a name; None stands for the row
NO_NUMBER = "–"  # on pages


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column: what it is called on each surface, and how a row fills it.

    Args:
        head: Above it, for people.
        text: A row's cell for people; None where only programs read the column.
        value: What programs get of a row; None and NaN are unknown.
        csv: Its name in the CSV file; empty where it is not there.
        json: Its place in the report, such as ``("elo", None, "sd")``; empty where it is not there.
        metric: The steps of its name in MLflow, such as ``("elo", None)``; empty where it is not there.
        logged: What MLflow gets, if it is more than ``value``.
        cell: The cell on the page, if it is not ``text``: made by ``kit``, so that texts of users are escaped.
        screen: It is shown on the screen.
        page: It is shown on the page.
        headline: Its metric is a tag of the judge's version, too.
        absent: Rows that the report and MLflow have no such entry for: an agent does not play itself.
    """

    head: str = ""
    text: Callable[[Row], str] | None = None
    value: Callable[[Row], Value] | None = None
    csv: str = ""
    json: Place = ()
    metric: Place = ()
    logged: Callable[[Row], Estimate | float] | None = None
    cell: Callable[[Row], str] | None = None
    screen: bool = True
    page: bool = True
    headline: bool = False
    absent: Callable[[Row], bool] = lambda _: False

    def known(self, row: Row) -> Value:
        """The row's value; None where it is unknown."""
        found = None if self.value is None else self.value(row)
        return None if isinstance(found, float) and isnan(found) else found

    def of(self, part: Callable[[Other], Row]) -> "Column[Other]":
        """The same column of a table whose rows have such a row as a part."""
        text, value, logged, cell, absent = self.text, self.value, self.logged, self.cell, self.absent
        return Column(
            head=self.head,
            text=None if text is None else lambda row: text(part(row)),
            value=None if value is None else lambda row: value(part(row)),
            csv=self.csv,
            json=self.json,
            metric=self.metric,
            logged=None if logged is None else lambda row: logged(part(row)),
            cell=None if cell is None else lambda row: cell(part(row)),
            screen=self.screen,
            page=self.page,
            headline=self.headline,
            absent=lambda row: absent(part(row)),
        )


@dataclass(frozen=True, slots=True)
class TableColumns(Generic[Row]):
    """The columns of a table.

    Args:
        columns: From left to right.
        key: What a row is called in the report and in MLflow: an agent's name.
    """

    columns: Sequence[Column[Row]]
    key: Callable[[Row], str] = str

    def screen(self, rows: Sequence[Row]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Heads and rows of text."""
        shown = [(one.head, one.text) for one in self.columns if one.screen and one.text is not None]
        return tuple(head for head, _ in shown), [tuple(text(row) for _, text in shown) for row in rows]

    def turned(self, rows: Sequence[Row]) -> list[tuple[str, ...]]:
        """The screen's table with a column a row: each column as its head and its cells."""
        heads, cells = self.screen(rows)
        return [(head, *(row[place] for row in cells)) for place, head in enumerate(heads)]

    def page(self, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
        """Heads and cells for ``kit.table``, which escapes what is not made by ``kit``."""
        shown = [(one.head, one.cell or one.text) for one in self.columns if one.page]
        made = [(head, fill) for head, fill in shown if fill is not None]
        cells = [[fill(row) for _, fill in made] for row in rows]
        return [head for head, _ in made], [[NO_NUMBER if cell == UNKNOWN else cell for cell in row] for row in cells]

    def csv(self, rows: Sequence[Row]) -> list[list[object]]:
        """The header, then a row each; unknown is an empty cell."""
        kept = [one for one in self.columns if one.csv]
        cells: list[list[object]] = [["" if (x := one.known(row)) is None else x for one in kept] for row in rows]
        return [[one.csv for one in kept], *cells]

    def frame(self, rows: Sequence[Row]) -> dict[str, list[object]]:
        """The columns of the CSV file for a DataFrame, by name; unknown is NaN."""
        kept = [one for one in self.columns if one.csv]
        return {one.csv: [float("nan") if (x := one.known(row)) is None else x for row in rows] for one in kept}

    def json(self, rows: Sequence[Row]) -> dict[str, object]:
        """The columns' places in the report, nested; unknown is null."""
        report: dict[str, object] = {}
        for one, row in self._entries([one for one in self.columns if one.json], rows):
            *above, last = self._steps(one.json, row)
            place = report
            for step in above:
                inner = place.setdefault(step, {})
                assert isinstance(inner, dict)  # a declaration that puts a value above others is ours
                place = inner
            known = one.known(row)
            place[last] = known.to_json() if isinstance(known, Estimate) else known
        return report

    def metrics(self, rows: Sequence[Row]) -> dict[str, Estimate | float]:
        """Metrics that MLflow logs, by name; numbers that are unknown are NaN, which it leaves out."""
        logged = [one for one in self.columns if one.metric]
        return {".".join(self._steps(one.metric, row)): _logged(one, row) for one, row in self._entries(logged, rows)}

    def tags(self, rows: Sequence[Row]) -> dict[str, str]:
        """The headline metrics as tags of the judge's version; unknown ones are left out."""
        return {
            ".".join(self._steps(one.metric, row)): f"{known:.1f}"
            for one in self.columns
            for row in rows
            if one.headline and isinstance(known := one.known(row), float)
        }

    def _entries(self, columns: Sequence[Column[Row]], rows: Sequence[Row]) -> list[tuple[Column[Row], Row]]:
        return [(one, row) for row in rows for one in columns if not one.absent(row)]

    def _steps(self, place: Place, row: Row) -> list[str]:
        return [self.key(row) if step is None else step for step in place]


def _logged(column: Column[Row], row: Row) -> Estimate | float:
    if column.logged is not None:
        return column.logged(row)
    known = column.known(row)
    if isinstance(known, Estimate):
        return known
    return float("nan") if known is None else float(known)
