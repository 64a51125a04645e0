"""Charts as inline SVG: arrays in, markup out; colours are those of the page, so light, dark and print agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from judgec.records.agreement import BlandAltman
from judgec.records.label import FloatArray, IntArray
from judgec.report.render import number
from judgec.stats.agreement.reliability import calibration_error, reliability_bins

WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 46, 18, 18, 44  # margins for the axes' words
LARGEST = 15.0  # radius of the largest dot


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

    def drawn(self, parts: Sequence[str], *, label: str, words: tuple[str, str], ticks: "Ticks") -> str:
        """The drawing with its axes.

        Args:
            parts: Finished SVG.
            label: What it shows, in a sentence, for who cannot see it.
            words: Below the horizontal axis and along the vertical one.
            ticks: Of both axes.
        """
        axes = [
            f"<text class=tick x={self.across(at):.1f} y={self.height - BOTTOM + 16} text-anchor=middle>"
            f"{escape(text)}</text>"
            for at, text in ticks.x
        ]
        for at, text in ticks.y:
            y = self.up(at)
            axes.append(f"<line class=grid x1={LEFT} x2={self.width - RIGHT} y1={y:.1f} y2={y:.1f} />")
            axes.append(f"<text class=tick x={LEFT - 6} y={y + 4:.1f} text-anchor=end>{escape(text)}</text>")
        middle = (self.height - BOTTOM + TOP) / 2
        axes.append(
            f"<text class=tick x={(LEFT + self.width - RIGHT) / 2} y={self.height - 6} text-anchor=middle>"
            f"{escape(words[0])}</text>"
            f"<text class=tick transform='translate(13 {middle}) rotate(-90)' text-anchor=middle>"
            f"{escape(words[1])}</text>"
        )
        return (
            f"<svg viewBox='0 0 {self.width} {self.height}' role=img aria-label='{escape(label, quote=True)}'>"
            f"{''.join(axes)}{''.join(parts)}</svg>"
        )

    def level(self, value: float, kind: str) -> str:
        """A horizontal line through a value."""
        y = self.up(value)
        return f"<line class={kind} x1={LEFT} x2={self.width - RIGHT} y1={y:.1f} y2={y:.1f} />"

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        """A line through the points."""
        places = " ".join(f"{self.across(x):.1f},{self.up(y):.1f}" for x, y in points)
        return f"<polyline class=curve points='{places}' />"

    def dot(self, x: float, y: float, radius: float, title: str) -> str:
        """A dot that says what it is when pointed at."""
        return (
            f"<circle class=dot cx={self.across(x):.1f} cy={self.up(y):.1f} r={radius:.1f}>"
            f"<title>{escape(title)}</title></circle>"
        )


@dataclass(frozen=True, slots=True)
class Ticks:
    """Places and words along both axes."""

    x: Sequence[tuple[float, str]]
    y: Sequence[tuple[float, str]]


PERCENT = tuple((value / 4, f"{25 * value}") for value in range(5))
STYLE = """
figure{margin:0;min-width:0}figcaption{font-size:.9rem;color:var(--quiet);margin:.2rem 0 .6rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1rem 1.6rem}
svg{display:block;width:100%;max-width:30rem;height:auto}
svg .tick{font:12px system-ui,sans-serif;fill:var(--quiet)}svg .grid{stroke:var(--line);stroke-width:1}
svg .dot{fill:var(--hue);fill-opacity:.75}svg .curve{fill:none;stroke:var(--hue);stroke-width:2}
svg .ideal{stroke:var(--quiet);stroke-dasharray:5 4;stroke-width:1.2}svg .mid{stroke:var(--alarm);stroke-width:1.6}
svg .limit{stroke:var(--alarm);stroke-width:1.4;stroke-dasharray:6 4}svg .said{fill:var(--alarm);font-weight:600;
paint-order:stroke;stroke:var(--paper);stroke-width:4px}
svg .column{fill:var(--hue);fill-opacity:.75}svg .other{fill:var(--quiet);fill-opacity:.55}
"""


def figure(svg: str, caption: str) -> str:
    """A drawing with its caption, which is finished HTML."""
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def reliability_chart(probability: FloatArray, happened: IntArray, *, words: tuple[str, str]) -> str:
    """Stated probability against what happened, in ten equal bins; a dot's area is the number of items.

    Args:
        probability: Stated, shape (n_items,), NaN where unscored.
        happened: 1 / 0, same shape, -1 where unknown.
        words: Below the horizontal axis and along the vertical one.
    """
    known = np.isfinite(probability) & (happened >= 0)
    if not known.any():
        return ""
    counts, stated, observed = reliability_bins(probability[known], happened[known])
    plane = Plane((0.0, 1.0), (0.0, 1.0))
    filled = [int(i) for i in np.flatnonzero(counts)]
    ideal = (
        f"<line class=ideal x1={plane.across(0):.1f} y1={plane.up(0):.1f} x2={plane.across(1):.1f} "
        f"y2={plane.up(1):.1f} />"
    )
    dots = [
        plane.dot(
            float(stated[i]),
            float(observed[i]),
            _radius(int(counts[i]), int(counts.max())),
            f"{counts[i]} items: stated {stated[i]:.0%}, observed {observed[i]:.0%}",
        )
        for i in filled
    ]
    curve = plane.path([(float(stated[i]), float(observed[i])) for i in filled])
    error = calibration_error(probability[known], happened[known])
    label = f"Reliability of {int(known.sum())} items; expected calibration error {number(error)}"
    return plane.drawn([ideal, curve, *dots], label=label, words=words, ticks=Ticks(PERCENT, PERCENT))


def bland_altman_chart(expert: FloatArray, judge: FloatArray, limits: BlandAltman) -> str:
    """Difference of judge and expert against their mean; a dot's area is the number of items.

    Args:
        expert: Values in scale units, shape (n_items,), NaN where missing.
        judge: The same of the judge.
        limits: Bias and limits of agreement, all known.
    Source: Bland and Altman (1986), The Lancet 327(8476).
    """
    both = np.isfinite(expert) & np.isfinite(judge)
    if not both.any() or limits.bias is None or limits.low is None or limits.high is None:
        return ""
    points = np.column_stack([(expert[both] + judge[both]) / 2, judge[both] - expert[both]])
    places, counts = np.unique(points.round(9), axis=0, return_counts=True)
    least, most = float(places[:, 0].min()), float(places[:, 0].max())
    reach = 1.15 * max(float(np.abs(places[:, 1]).max()), abs(limits.low), abs(limits.high), 0.5)
    margin = 0.08 * (most - least) + 0.1
    plane = Plane((least - margin, most + margin), (-reach, reach))
    dots = [
        plane.dot(float(x), float(y), _radius(int(n), int(counts.max())), f"{n} items: mean {x:g}, difference {y:+g}")
        for (x, y), n in zip(places, counts, strict=True)
    ]
    lines = [plane.level(limits.bias, "mid"), plane.level(limits.low, "limit"), plane.level(limits.high, "limit")]
    named = [("bias", limits.bias), ("upper limit", limits.high), ("lower limit", limits.low)]
    said = [
        f"<text class='tick said' x={LEFT + 4} y={plane.up(value) - 4:.1f}>{name} {value:+.2f}</text>"
        for name, value in named
    ]
    x_ticks = [(value, f"{value:g}") for value in np.linspace(least, most, 5).round(2)]
    y_ticks = [(value, f"{value:+g}") for value in (-_tick(reach), 0.0, _tick(reach))]
    label = f"Bland-Altman of {int(both.sum())} grades: bias {limits.bias:+.2f}, limits {limits.low:+.2f} to "
    return plane.drawn(
        [*dots, *lines, *said],
        label=f"{label}{limits.high:+.2f}",
        words=("mean of expert and judge", "judge − expert"),
        ticks=Ticks(x_ticks, y_ticks),
    )


def histogram_chart(raters: Sequence[tuple[str, IntArray]], grades: Sequence[str]) -> str:
    """How often each rater gave each grade, as shares of what the rater graded; the last rater is the judge.

    Args:
        raters: Name and grade positions, -1 where missing.
        grades: Of the scale, worst first.
    """
    k = len(grades)
    counts = [np.bincount(given[given >= 0], minlength=k) for _, given in raters]
    shares = [count / max(int(count.sum()), 1) for count in counts]
    top = max(float(share.max()) for share in shares) or 1.0
    plane = Plane((-0.5, k - 0.5), (0.0, top * 1.08))
    width = 0.84 / len(raters)
    columns = []
    for position, ((name, _), share, count) in enumerate(zip(raters, shares, counts, strict=True)):
        kind = "column" if position == len(raters) - 1 else "other"
        for grade in range(k):
            left = plane.across(grade - 0.42 + width * position)
            right = plane.across(grade - 0.42 + width * (position + 0.92))
            y = plane.up(float(share[grade]))
            said = f"{name}: {count[grade]} times {grades[grade]} ({share[grade]:.0%})"
            columns.append(
                f"<rect class={kind} x={left:.1f} y={y:.1f} width={right - left:.1f} "
                f"height={plane.up(0) - y:.1f}><title>{escape(said)}</title></rect>"
            )
    ticks = Ticks([(i, _short(text)) for i, text in enumerate(grades)], [(0.0, "0"), (top, f"{100 * top:.0f}")])
    return plane.drawn(columns, label="Grades by rater, the judge last", words=("grade", "% of grades"), ticks=ticks)


def coverage_chart(points: Sequence[tuple[float, float]]) -> str:
    """Agreement against the share of items that the judge still grades; both 0-1."""
    if len(points) < 2:
        return ""
    plane = Plane((0.0, 1.0), (0.0, 1.0))
    dots = [plane.dot(x, y, 4.0, f"{x:.0%} graded: agreement {y:.0%}") for x, y in points]
    label = f"Agreement from {points[0][1]:.0%} of all items to {points[-1][1]:.0%} of the surest {points[-1][0]:.0%}"
    words = ("% of items that the judge grades", "% in agreement")
    return plane.drawn([plane.path(points), *dots], label=label, words=words, ticks=Ticks(PERCENT, PERCENT))


def _radius(count: int, largest: int) -> float:
    return max(LARGEST * float(np.sqrt(count / largest)), 2.5)


def _tick(reach: float) -> float:
    return float(f"{reach / 1.25:.1g}")


def _short(text: str, most: int = 12) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
