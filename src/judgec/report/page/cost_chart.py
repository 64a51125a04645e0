"""Cost beside worth as a drawing: every judge a mark, those on the front joined by steps.

Told apart without colour: judges on the front are filled and named, the others are rings; the one that ships has a
larger ring around it.
"""

from collections.abc import Callable, Sequence

import numpy as np
from markupsafe import Markup

from judgec.records.cost import JudgeCost
from judgec.report.numbers import dollars, number
from judgec.report.page.charts import LEFT, ChartMark, Plane, Ticks

WIDTH, HEIGHT = 640, 340
NAMED = 24  # most letters of a name on the drawing
ROOM = 0.08  # of the axis, free on either side
MOST_TICKS = 5


def cost_chart(rows: Sequence[JudgeCost]) -> Markup:
    """The drawing, or nothing where fewer than two judges have a worth or all cost the same.

    Args:
        rows: Of ``costs``; in dollars where all are known, else in calls an item. Where judges were asked about
            different items each stands above or below the one that ships by their difference on the items of both.
    """
    in_dollars = all(row.usd_per_1000 is not None for row in rows)
    price = {row.judge: (row.usd_per_1000 or 0.0) if in_dollars else row.calls_per_item for row in rows}
    base = next((row.dev.value or 0.0 for row in rows if row.chosen), 0.0)
    known = [(row, value) for row in rows if (value := _level(row, base)) is not None]
    if len(known) < 2 or len({price[row.judge] for row, _ in known}) < 2:
        return Markup()
    least = min(cost for cost in price.values() if cost > 0)

    def along(cost: float) -> float:
        """Free is at 0, and ten times the price is one step further where prices are far apart."""
        return float(np.log10(1.0 + cost / least))

    ends, values = [along(price[row.judge]) for row, _ in known], [value for _, value in known]
    wide, high = max(ends) - min(ends), max(max(values) - min(values), 0.02)
    plane = Plane(
        (min(ends) - ROOM * wide, max(ends) + ROOM * wide),
        (min(values) - ROOM * high, max(values) + 2 * ROOM * high),
        WIDTH,
        HEIGHT,
    )
    front = sorted(
        [(along(price[row.judge]), value, row.judge) for row, value in known if row.pareto], key=lambda one: one[:2]
    )
    marks = [_steps(plane, [(x, y) for x, y, _ in front])]
    for row, value in known:
        cost = dollars(row.usd_per_1000, "unknown price") if in_dollars else f"{number(row.calls_per_item)} calls"
        said = f"{row.judge}: {cost}, {number(value, 3)}"
        at = along(price[row.judge])
        marks.append(_with(plane.dot(at, value, 5.0 if row.pareto else 4.0, said), "dot" if row.pareto else "ring"))
        if row.chosen:
            marks.append(_with(plane.dot(at, value, 9.0, f"{row.judge} ships"), "ring ships"))
    ships = {row.judge for row in rows if row.chosen}
    marks += _names(plane, sorted(front, key=lambda one: one[2] not in ships))
    return plane.drawn(
        marks,
        label=f"Objective against cost of {len(known)} judges; on the front: {', '.join(name for *_, name in front)}",
        words=("US dollars for 1,000 items" if in_dollars else "calls an item", "objective"),
        ticks=Ticks(_prices(sorted(set(price.values())), along, in_dollars=in_dollars), _levels(values)),
    )


def _level(row: JudgeCost, base: float) -> float | None:
    """How high a judge stands: ``base``, which is that of the judge that ships, and the difference to it."""
    if row.minus_chosen is None or row.minus_chosen.value is None:
        return None if row.minus_chosen is not None else row.dev.value
    return base + row.minus_chosen.value


def _with(mark: ChartMark, css: str) -> ChartMark:
    return ChartMark(mark.kind, css, mark.x, mark.y, mark.x2, mark.y2, mark.text)


def _steps(plane: Plane, front: Sequence[tuple[float, float]]) -> ChartMark:
    """The most that a price buys: along at the same worth, then up."""
    points: list[tuple[float, float]] = []
    for x, y in front:
        points += [(x, points[-1][1]), (x, y)] if points else [(x, y)]
    return plane.path(points)


def _names(plane: Plane, front: Sequence[tuple[float, float, str]]) -> list[ChartMark]:
    """Above and left of each mark on the front its name, where it does not run over an earlier one."""
    marks: list[ChartMark] = []
    taken: list[tuple[float, float, float]] = []
    for x, y, name in front:
        short = name if len(name) <= NAMED else f"{name[: NAMED - 1]}…"
        width = 6.6 * len(short)
        left = max(plane.across(x) - width - 2.0, LEFT + 2.0)
        up = plane.up(y) - 10.0
        if all(left > end or left + width < begin or abs(up - level) > 13.0 for begin, end, level in taken):
            taken.append((left, left + width, up))
            marks.append(ChartMark("text", "tick", f"{left:.1f}", f"{up:.1f}", text=short))
    return marks


def _prices(prices: Sequence[float], along: Callable[[float], float], *, in_dollars: bool) -> list[tuple[float, str]]:
    places = np.unique(np.linspace(0, len(prices) - 1, MOST_TICKS).round().astype(int))
    return [(along(prices[i]), f"${prices[i]:.2g}" if in_dollars else number(prices[i], 1)) for i in places.tolist()]


def _levels(values: Sequence[float]) -> list[tuple[float, str]]:
    low, high = min(values), max(values)
    places = [low] if low == high else [low, (low + high) / 2, high]
    return [(value, number(value)) for value in places]
