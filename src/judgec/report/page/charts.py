"""Charts as inline SVG: arrays in, markup out; colours are those of the page, so light, dark and print agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from markupsafe import Markup

from judgec.records.agreement import BlandAltman
from judgec.records.counts import plural
from judgec.records.label import FloatArray, IntArray
from judgec.report.kit import render
from judgec.report.numbers import number, percent, short, signed
from judgec.stats.agreement.reliability import bin_of, reliability_bins
from judgec.stats.intervals.proportion import share

WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 46, 18, 18, 44  # margins for the axes' words
LARGEST = 15.0  # radius of the largest dot


@dataclass(frozen=True, slots=True)
class ChartMark:
    """One thing on a drawing, placed in its pixels.

    Args:
        kind: ``text``, ``line``, ``path``, ``dot`` or ``column``.
        css: Its class.
        x: Left end, or centre of a dot.
        y: The same, from above.
        x2: Right end of a line, radius of a dot, width of a column.
        y2: Lower end of a line, height of a column.
        text: Words, what a dot or a column says when pointed at, or the places of a path.
        anchor: Which part of the words is at ``x``.
        turned: The words run upwards.
    """

    kind: Literal["text", "line", "path", "dot", "column"]
    css: str
    x: str = ""
    y: str = ""
    x2: str = ""
    y2: str = ""
    text: str = ""
    anchor: str = "start"
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Plane:
    """Data coordinates on the drawing.

    Args:
        x: Lower and upper end of the horizontal axis.
        y: The same of the vertical axis.
        width: Of the drawing.
        height: Of the drawing.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    width: int = WIDTH
    height: int = HEIGHT

    def across(self, value: float) -> float:
        """Horizontal place of a value."""
        return LEFT + (value - self.x[0]) / (self.x[1] - self.x[0]) * (self.width - LEFT - RIGHT)

    def up(self, value: float) -> float:
        """Vertical place of a value."""
        return self.height - BOTTOM - (value - self.y[0]) / (self.y[1] - self.y[0]) * (self.height - TOP - BOTTOM)

    def drawn(self, marks: Sequence[ChartMark], *, label: str, words: tuple[str, str], ticks: "Ticks") -> Markup:
        """The drawing with its axes.

        Args:
            marks: What is on it.
            label: What it shows, in a sentence, for who cannot see it.
            words: Below the horizontal axis and along the vertical one.
            ticks: Of both axes.
        """
        below = f"{self.height - BOTTOM + 16}"
        axes = [
            ChartMark("text", "tick", f"{self.across(at):.1f}", below, text=t, anchor="middle") for at, t in ticks.x
        ]
        for at, text in ticks.y:
            axes.append(self.level(at, "grid"))
            axes.append(ChartMark("text", "tick", f"{LEFT - 6}", f"{self.up(at) + 4:.1f}", text=text, anchor="end"))
        centre, middle = (LEFT + self.width - RIGHT) / 2, (self.height - BOTTOM + TOP) / 2
        axes.append(ChartMark("text", "tick", f"{centre}", f"{self.height - 6}", text=words[0], anchor="middle"))
        axes.append(ChartMark("text", "tick", "13", f"{middle}", text=words[1], anchor="middle", turned=True))
        size = {"width": self.width, "height": self.height}
        return render("chart.html", {"label": label, "marks": [*axes, *marks], **size})

    def level(self, value: float, kind: str) -> ChartMark:
        """A horizontal line through a value."""
        y = f"{self.up(value):.1f}"
        return ChartMark("line", kind, f"{LEFT}", y, f"{self.width - RIGHT}", y)

    def path(self, points: Sequence[tuple[float, float]]) -> ChartMark:
        """A line through the points."""
        return ChartMark("path", "curve", text=" ".join(f"{self.across(x):.1f},{self.up(y):.1f}" for x, y in points))

    def dot(self, x: float, y: float, radius: float, title: str) -> ChartMark:
        """A dot that says what it is when pointed at."""
        return ChartMark("dot", "dot", f"{self.across(x):.1f}", f"{self.up(y):.1f}", f"{radius:.1f}", text=title)


@dataclass(frozen=True, slots=True)
class Ticks:
    """Places and words along both axes."""

    x: Sequence[tuple[float, str]]
    y: Sequence[tuple[float, str]]


PERCENT = tuple((value / 4, f"{25 * value}") for value in range(5))


def figures(drawings: Sequence[tuple[Markup, str]], tables: Sequence[Markup] = ()) -> Markup:
    """Drawings beside each other, each with its caption, and folded below them the same as tables.

    A drawing that could not be made is left out.
    """
    return render("figures.html", {"drawings": [pair for pair in drawings if pair[0]], "tables": tables})


Bin = Mapping[str, Any]
"""Items that were stated about as likely: ``items``, ``stated``, ``observed``, and its interval ``low`` to ``high``."""


def reliability(probability: FloatArray, happened: FloatArray, cluster: IntArray) -> list[Bin]:
    """What happened beside what was stated, in those of ten equal bins that hold items.

    Args:
        probability: Stated, shape (n_items,), NaN where unscored.
        happened: 1 / 0, between them where both share the item, same shape, NaN where unknown.
        cluster: Code of the query that each came from, same shape.
    """
    known = np.isfinite(probability) & np.isfinite(happened)
    if not known.any():
        return []
    counts, stated, observed = reliability_bins(probability[known], happened[known])
    bins, made = bin_of(probability[known]), list[Bin]()
    for i in np.flatnonzero(counts).tolist():
        found = share(happened[known][bins == i], cluster[known][bins == i])
        values = {"items": int(counts[i]), "stated": float(stated[i]), "observed": float(observed[i])}
        made.append({**values, "low": found.low, "high": found.high})
    return made


def reliability_chart(bins: Sequence[Bin], *, words: tuple[str, str]) -> Markup:
    """Stated probability against what happened, in ten equal bins; a dot's area is the number of items.

    A line through a dot is the 95 % interval of what happened.

    Args:
        bins: Of ``reliability``.
        words: Below the horizontal axis and along the vertical one.
    """
    if not bins:
        return Markup()
    plane = Plane((-0.04, 1.04), (-0.04, 1.04))  # room for dots at the ends
    most, items = max(one["items"] for one in bins), sum(one["items"] for one in bins)
    left, low, right, high = (f"{at:.1f}" for at in (plane.across(0), plane.up(0), plane.across(1), plane.up(1)))
    ideal = ChartMark("line", "ideal", left, low, right, high)
    marks = []
    for one in bins:
        x, y, low, high = one["stated"], one["observed"], one["low"], one["high"]
        at, bounds = f"{plane.across(x):.1f}", ""
        if low is not None and high is not None:
            marks.append(ChartMark("line", "whisker", at, f"{plane.up(low):.1f}", at, f"{plane.up(high):.1f}"))
            bounds = f" [{percent(low)}, {percent(high)}]"
        said = f"{one['items']} items: stated {percent(x)}, observed {percent(y)}"
        marks.append(plane.dot(x, y, _radius(one["items"], most, largest=9.0), said + bounds))
    curve = plane.path([(one["stated"], one["observed"]) for one in bins])
    error = sum(one["items"] * abs(one["stated"] - one["observed"]) for one in bins) / items
    label = f"Reliability of {plural(items, 'item')}; expected calibration error {number(error)}"
    return plane.drawn([ideal, curve, *marks], label=label, words=words, ticks=Ticks(PERCENT, PERCENT))


def differences(expert: FloatArray, judge: FloatArray) -> list[list[float]]:
    """The mean of expert and judge, the judge minus the expert, and how many items are alike in both.

    Args:
        expert: Values in scale units, shape (n_items,), NaN where missing.
        judge: The same of the judge.
    """
    both = np.isfinite(expert) & np.isfinite(judge)
    points = np.column_stack([(expert[both] + judge[both]) / 2, judge[both] - expert[both]])
    places, counts = np.unique(points.round(9), axis=0, return_counts=True)
    return [[float(x), float(y), int(n)] for (x, y), n in zip(places, counts, strict=True)]


def bland_altman_chart(points: Sequence[Sequence[float]], limits: BlandAltman) -> Markup:
    """Difference of judge and expert against their mean; a dot's area is the number of items.

    Args:
        points: Of ``differences``.
        limits: Bias and limits of agreement.
    Source: Bland and Altman (1986), The Lancet 327(8476).
    """
    if not points or limits.bias is None or limits.low is None or limits.high is None:
        return Markup()
    places, counts = np.array(points)[:, :2], np.array([int(n) for *_, n in points])
    least, most = float(places[:, 0].min()), float(places[:, 0].max())
    reach = 1.15 * max(float(np.abs(places[:, 1]).max()), abs(limits.low), abs(limits.high), 0.5)
    margin = 0.08 * (most - least) + 0.1
    plane = Plane((least - margin, most + margin), (-reach, reach))
    dots = [
        plane.dot(
            float(x),
            float(y),
            _radius(int(n), int(counts.max())),
            f"{plural(n, 'item')}: mean {short(x)}, difference {short(y, sign=True)}",
        )
        for (x, y), n in zip(places, counts, strict=True)
    ]
    lines = [plane.level(limits.bias, "mid"), plane.level(limits.low, "limit"), plane.level(limits.high, "limit")]
    named = [("bias", limits.bias), ("upper limit", limits.high), ("lower limit", limits.low)]
    said = [
        ChartMark("text", "tick said", f"{LEFT + 4}", f"{plane.up(value) - 4:.1f}", text=f"{name} {signed(value)}")
        for name, value in named
    ]
    x_ticks = [(value, short(value)) for value in np.linspace(least, most, 5).round(2)]
    y_ticks = [(value, short(value, sign=True)) for value in (-_tick(reach), 0.0, _tick(reach))]
    low, bias, high = (signed(value) for value in (limits.low, limits.bias, limits.high))
    return plane.drawn(
        [*dots, *lines, *said],
        label=f"Bland-Altman of {plural(int(counts.sum()), 'grade')}: bias {bias}, limits {low} to {high}",
        words=("mean of expert and judge", "judge − expert"),
        ticks=Ticks(x_ticks, y_ticks),
    )


def histogram_chart(raters: Sequence[tuple[str, Sequence[int]]], grades: Sequence[str]) -> Markup:
    """Histogram of each rater's grades, as shares of what the rater graded; the last rater is the judge.

    Args:
        raters: Name, and how often it gave each grade.
        grades: Of the scale, worst first.
    """
    k = len(grades)
    counts = [np.array(given) for _, given in raters]
    parts = [count / max(int(count.sum()), 1) for count in counts]
    top = max(float(part.max()) for part in parts) or 1.0
    plane = Plane((-0.5, k - 0.5), (0.0, top * 1.08))
    step = 0.84 / len(raters)
    columns = []
    for position, ((name, _), part, count) in enumerate(zip(raters, parts, counts, strict=True)):
        kind = "judged" if position == len(raters) - 1 else "other"
        for grade in range(k):
            left = plane.across(grade - 0.42 + step * position)
            right = plane.across(grade - 0.42 + step * (position + 0.92))
            y = plane.up(float(part[grade]))
            said = f"{name}: {count[grade]} times {grades[grade]} ({percent(part[grade])})"
            width, height = f"{right - left:.1f}", f"{plane.up(0) - y:.1f}"
            columns.append(ChartMark("column", kind, f"{left:.1f}", f"{y:.1f}", width, height, text=said))
    ticks = Ticks([(i, cut_to(text, 12)) for i, text in enumerate(grades)], [(0.0, "0"), (top, f"{100 * top:.0f}")])
    return plane.drawn(
        columns, label="Grades by annotator, the judge last", words=("grade", "% of grades"), ticks=ticks
    )


def coverage_chart(points: Sequence[tuple[float, float]]) -> Markup:
    """Agreement against the share of items that the judge still grades; both 0-1."""
    if len(points) < 2:
        return Markup()
    plane = Plane((0.0, 1.0), (0.0, 1.0))
    dots = [plane.dot(x, y, 4.0, f"{percent(x)} graded: agreement {percent(y)}") for x, y in points]
    (_, whole), (least, surest) = points[0], points[-1]
    label = f"Agreement from {percent(whole)} of all items to {percent(surest)} of the surest {percent(least)}"
    words = ("% of items that the judge grades", "% in agreement")
    return plane.drawn([plane.path(points), *dots], label=label, words=words, ticks=Ticks(PERCENT, PERCENT))


def _radius(count: int, most: int, *, largest: float = LARGEST) -> float:
    return max(largest * float(np.sqrt(count / most)), 2.5)


def _tick(reach: float) -> float:
    return float(f"{reach / 1.25:.1g}")


def cut_to(text: str, most: int) -> str:
    """A name of at most so many letters."""
    return text if len(text) <= most else text[: most - 1] + "…"
