"""Values with their intervals as a drawing: a dot and a line a row, on one axis."""

from collections.abc import Mapping

import numpy as np
from markupsafe import Markup

from judgec.records.estimate import Estimate
from judgec.report.kit import render
from judgec.report.numbers import show
from judgec.report.page.charts import cut_to

WIDTH = 560
NARROW = 420  # as the other drawings of a page, so that letters are as large on a phone
ROW = 22
LETTER = 7  # units of the drawing that a letter of a name takes
FOOT = 30
RIGHT = 24
MOST_LETTERS = 34
MOST_TICKS = 5


def interval_chart(rows: Mapping[str, Estimate], label: str, *, digits: int = 2, width: int = WIDTH) -> Markup:
    """The drawing; nothing where no value is known.

    Args:
        rows: From top to bottom. One without a value says so, one without an interval is a dot alone.
        label: What it shows, for screen readers.
        digits: Of the axis and of what a dot says on hover.
        width: Of the drawing.
    """
    ends = [end for one in rows.values() for end in (one.value, one.low, one.high) if end is not None]
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
    drawn = [
        {
            "name": cut_to(name, most),
            "y": ROW * place + ROW // 2,
            "left": at(one.low) if one.high is not None else None,
            "right": at(one.high),
            "dot": at(one.value),
            "said": f"{name}: {show(one, digits)}" if one.value is not None else "unknown",
        }
        for place, (name, one) in enumerate(rows.items())
    ]
    values = {
        "width": width,
        "height": ROW * len(rows) + FOOT,
        "names": names,
        "label": label,
        "rows": drawn,
        "ticks": [{"x": at(float(tick)), "text": f"{tick + 0.0:.{digits}f}"} for tick in ticks],
    }
    return render("intervals.html", values)


def _step(width: float) -> float:
    """1, 2 or 5 times a power of ten, so that at most so many ticks fit."""
    power = 10.0 ** np.floor(np.log10(width / MOST_TICKS))
    return float(next(step * power for step in (1, 2, 5, 10) if width / (step * power) <= MOST_TICKS))
