"""Values with their intervals as a drawing: a dot and a line a row, on one axis; several kinds of value in groups."""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from judgec.records.estimate import Estimate
from judgec.report.kit import render
from judgec.report.numbers import show
from judgec.report.page.charts import cut_to

WIDTH = 560
NARROW = 420  # as the other drawings of a page, so that letters are as large on a phone
ROW = 22
CLOSE = 14  # between the rows of one group
KEY = 24  # what the kinds of value are called, above the drawing
LETTER = 7  # units of the drawing that a letter of a name takes
FOOT = 30
RIGHT = 24
MOST_LETTERS = 34
MOST_TICKS = 5


def interval_chart(
    rows: Mapping[str, Estimate] | Mapping[str, Sequence[Estimate]],
    label: str,
    *,
    kinds: Sequence[str] = (),
    digits: int = 2,
    width: int = WIDTH,
) -> Markup:
    """The drawing; nothing where no value is known.

    Args:
        rows: From top to bottom, one value each or a group of several. One without a value says so, one without an
            interval is a dot alone.
        label: What it shows, for screen readers.
        kinds: Of values in a group, which are marked alike in all of them: at most three.
        digits: Of the axis and of what a dot says on hover.
        width: Of the drawing.
    """
    groups = {name: [one] if isinstance(one, Estimate) else list(one) for name, one in rows.items()}
    ends = [end for own in groups.values() for one in own for end in (one.value, one.low, one.high) if end is not None]
    if not ends:
        return Markup()
    most = min(MOST_LETTERS, width // 3 // LETTER)
    names = LETTER * min(most, max(map(len, rows))) + 16
    low, high = min(ends), max(ends)
    room = 0.05 * (high - low) or 0.5

    def at(value: float | None) -> float | None:
        share = None if value is None else (value - low + room) / (high - low + 2 * room)
        return None if share is None else round(names + share * (width - names - RIGHT), 1)

    step = _step((high - low) or 1.0)
    ticks = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    drawn, top = [], KEY if kinds else 0
    for name, own in groups.items():
        for place, one in enumerate(own):
            called = f"{name}, {kinds[place]}" if kinds else name
            drawn.append(
                {
                    "name": cut_to(name, most) if place == (len(own) - 1) // 2 else "",
                    "y": top + CLOSE * place + ROW // 2,
                    "left": at(one.low) if one.high is not None else None,
                    "right": at(one.high),
                    "dot": at(one.value),
                    "kind": place,
                    "said": f"{called}: {show(one, digits)}" if one.value is not None else "unknown",
                }
            )
        top += CLOSE * (len(own) - 1) + ROW
    values = {
        "width": width,
        "height": top + FOOT,
        "names": names,
        "label": label,
        "rows": drawn,
        "kinds": [
            {"x": names + place * (width - names) // len(kinds), "text": kind} for place, kind in enumerate(kinds)
        ],
        "ticks": [{"x": at(float(tick)), "text": f"{tick + 0.0:.{digits}f}"} for tick in ticks],
    }
    return render("intervals.html", values)


def _step(width: float) -> float:
    """1, 2 or 5 times a power of ten, so that at most so many ticks fit."""
    power = 10.0 ** np.floor(np.log10(width / MOST_TICKS))
    return float(next(step * power for step in (1, 2, 5, 10) if width / (step * power) <= MOST_TICKS))
