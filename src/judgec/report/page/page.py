"""``report.html``: one self-contained page that says what a compiled judge is worth."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from markupsafe import Markup

from judgec.records.agreement import Agreement
from judgec.records.alternative_annotator import AltTest
from judgec.records.card import ProgramCard
from judgec.records.cost import JudgeCost
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.mode_agreement import ModesAgreement
from judgec.report import kit
from judgec.report.agreement_columns import (
    BIAS,
    BIAS_ALONE,
    REJECTS,
    SIZE,
    UNSCORED,
    AgreementColumn,
    statistic,
    statistics,
)
from judgec.report.columns import Column, TableColumns
from judgec.report.cost_table import COLUMNS as COSTS
from judgec.report.cost_table import OF_SIZES, SIZES, caption
from judgec.report.cost_table import TITLE as COSTS_TITLE
from judgec.report.items import BrowsedItem, embedded
from judgec.report.kit import interval_bar, marked, table, two_lines
from judgec.report.modes_table import COLUMNS as MODES
from judgec.report.modes_table import LEGEND, mode_rows
from judgec.report.modes_table import TITLE as MODES_TITLE
from judgec.report.numbers import dollars, number, short, show, statistic_name
from judgec.report.page.audits import audits_section
from judgec.report.page.charts import LEFT, ChartMark, Plane, Ticks
from judgec.report.page.interval_chart import NARROW, interval_chart
from judgec.report.replacement_table import ASPECTS as BY_ASPECT
from judgec.report.replacement_table import ASPECTS_TITLE, outcome_sentences
from judgec.report.replacement_table import COLUMNS as CONTESTS
from judgec.report.replacement_table import TITLE as REPLACES
from judgec.report.systems_table import PAIRS, PAIRS_TITLE
from judgec.report.words import CONSTRUCTED, JUDGES, row_name
from judgec.stats.agreement.registry import KNOWN, OF_SYSTEMS
from judgec.stats.agreement.systems import SystemAgreement

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
    """Level of a judge: ``base``, which is that of the judge that ships, and the difference to it."""
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


SECTIONS = {
    "judges": "Judges",
    "next": "Next",
    "charts": "Charts",
    "groups": "Groups",
    "items": "Items",
    "audits": "Audits",
    "prompt": "Prompt",
    "data": "Data and cost",
    "cite": "Cite",
}
MOST_GROUPS = 30


Found = Mapping[str, Any]
"""``report.json``, as a compile writes it."""


def judge_page(
    found: Found,
    card: ProgramCard,
    items: Sequence[BrowsedItem],
    *,
    but: Collection[str],
    sizes: Sequence[JudgeCost],
    charts: Mapping[str, Markup],
    prompt: Markup | None,
    texts: Mapping[str, Sequence[object]],
    tree: Markup,
) -> str:
    """The page as HTML: no script but the kit's, nothing loaded from elsewhere, every text of users escaped.

    Args:
        found: The report.
        card: The judge's, with its version.
        items: The test items, with what was said of them.
        but: Judges that the table leaves out.
        sizes: What panels of so many judges cost and are worth.
        charts: Finished figures by aspect.
        prompt: The section of the prompt, or None.
        texts: ``facts`` on why it was promoted or not, what to do ``next``, ``data`` and cost as rows of a table.
        tree: The judge as a picture.
    """
    name, head = f"{card.name}@{card.version}", found["standing"]["by"]
    judges = {name: Agreement.from_json(one) for name, one in found["test"].items()}
    parts = {
        "judges": _judges(found, {name: one for name, one in judges.items() if name not in but}, head, sizes),
        "next": texts["next"],
        "charts": {"by_aspect": charts},
        "groups": _groups(found, judges["compiled"], head),
        "items": embedded(items),
        "audits": audits_section((), name),
        "prompt": prompt,
        "data": {"rows": texts["data"], "notes": found["notes"]},
        "cite": _citation(card, head),
    }
    return kit.page(
        "judge.html",
        {
            **parts,
            "name": name,
            "verdict": found["verdict"],
            "detail": found["standing"]["detail"],
            "standing": found["standing"]["is"].rpartition(" ")[2],
            "facts": texts["facts"],
            "unscored": [f"{count} unscored: {reason}" for reason, count in found["unscored"].items()],
            "tree": tree,
            "stamps": [CONSTRUCTED] if card.labels == "constructed" else [],
            "what": " · ".join([card.task, card.engine or str(card.lm.get("model", "")), card.created]),
            "links": [(anchor, title) for anchor, title in SECTIONS.items() if parts[anchor] is not None],
        },
    )


def _judges(found: Found, judges: Mapping[str, Agreement], head: str, sizes: Sequence[JudgeCost]) -> dict[str, object]:
    """The judges with their intervals, all other statistics of them, and the compiled one by aspect."""
    ceiling, costs = judges["ceiling"].estimates.get(head), [JudgeCost.from_json(row) for row in found["costs"]]
    bar = _bar_column(head, list(judges.values()), None if ceiling is None else ceiling.value)
    others = statistics(judges, but=head)
    plain = [statistic(name, interval=False) for name in others if name not in OF_SYSTEMS]  # it has its own section
    every = [*map(statistic, others), BIAS, *REJECTS]
    return {
        "table": _table(judges, [statistic(head), bar, *plain, SIZE, UNSCORED], "judges", "Judges on the test items"),
        "everything": _table(judges, every, "", "All intervals"),
        "aspects": _aspects(judges["compiled"].aspects),
        "modes": _modes(ModesAgreement.from_json(found["modes"])) if "modes" in found else None,
        "replaces": _replaces(AltTest.from_json(found["alt_test"])) if "alt_test" in found else None,
        "pairs": _pairs(SystemAgreement.from_json(found["systems"])) if "systems" in found else None,
        "priced": [
            (title, table(*COSTS.page(rows), label=title), cost_chart(drawn), said)
            for title, rows, drawn, said in (
                (COSTS_TITLE, costs, costs, caption(costs)),
                (SIZES, sizes, [replace(row, usd_per_1000=None) for row in sizes], OF_SIZES),
            )
            if rows
        ],
    }


def _replaces(found: AltTest) -> dict[str, object]:
    """The Alternative Annotator Test, or in words why there is none."""
    made = table(*CONTESTS.page(found.contests), label=REPLACES) if found.contests else None
    each = table(*BY_ASPECT.page(list(found.aspects.items())), label=ASPECTS_TITLE) if found.aspects else None
    return {"title": REPLACES, "sentences": outcome_sentences(found), "table": made, "aspects": each}


def _pairs(found: SystemAgreement) -> tuple[str, Markup] | None:
    """The pairs of systems on which judge and people differ beyond noise; nothing where there are none."""
    return (PAIRS_TITLE, table(*PAIRS.page(found.differing), label=PAIRS_TITLE)) if found.differing else None


def _table(judges: Mapping[str, Agreement], columns: Sequence[AgreementColumn], kind: str, label: str) -> Markup:
    head, rows = TableColumns(columns).page(list(judges.values()))
    named = [two_lines(_shaded(judge), JUDGES.get(judge, "")) for judge in judges]
    return table(["", *head], [[name, *row] for name, row in zip(named, rows, strict=True)], kind, label=label)


def _shaded(judge: str) -> str:
    """The name of a row; the style shades the row of the judge that ships."""
    return marked("yours", judge) if judge == "compiled" else row_name(judge)


def _bar_column(name: str, agreements: Sequence[Agreement], line: float | None) -> AgreementColumn:
    """A statistic's intervals drawn on the axis that holds all of these, with a line across."""
    low, high = axis([one.estimates[name] for one in agreements if name in one.estimates])
    return Column(
        f"{short(low)} to {short(high)}", cell=lambda one: interval_bar(one.estimates.get(name), low, high, line)
    )


def _aspects(aspects: Mapping[str, Agreement]) -> Markup | None:
    if not aspects:
        return None
    names = [name for name in statistics(aspects) if name in KNOWN]
    head, rows = TableColumns([statistic(name) for name in names]).page(list(aspects.values()))
    named = [[aspect, *row] for aspect, row in zip(aspects, rows, strict=True)]
    return table(["aspect", *head], named, label="The compiled judge by aspect")


def _modes(found: ModesAgreement) -> dict[str, object]:
    made = table(*MODES.page(mode_rows(found)), label=MODES_TITLE)
    return {"title": MODES_TITLE, "table": made, "legend": LEGEND, "notes": found.notes}


def _groups(found: Found, whole: Agreement, head: str) -> dict[str, object] | None:
    if len(found["groups"]) < 2:
        return None
    shown = [(name, Agreement.from_json(one)) for name, one in found["groups"].items()][:MOST_GROUPS]
    columns = [statistic(head), statistic("accept_agreement"), BIAS_ALONE, SIZE, UNSCORED]
    heads, rows = TableColumns(columns).page([one for _, one in shown])
    named = [[group, *row] for (group, _), row in zip(shown, rows, strict=True)]
    drawn = {"all items": whole.estimates[head], **{group: one.estimates[head] for group, one in shown}}
    title = statistic_name(head)
    return {
        "chart": interval_chart(drawn, f"{title} by group, with 95 % intervals", width=NARROW),
        "statistic": title,
        "table": table(["group", *heads], named, label="Agreement by group"),
        "most": MOST_GROUPS,
    }


def _citation(card: ProgramCard, name: str) -> str:
    numbers = card.test.get(name)
    test = ""
    if numbers is not None and numbers.value is not None:
        said = f"{statistic_name(name)} {show(numbers)}"
        test = f", {said} on {plural(numbers.n, 'test item')} of {plural(numbers.n_clusters, 'query')}"
    model = card.engine or str(card.lm.get("model", ""))
    return (
        f"{card.name} version {card.version} ({card.created[:4]}). LLM judge compiled with judgec "
        f"{card.versions.get('judgec', '')} on {model}{test}. Labels SHA-256 {card.data_digest[:16]}, "
        f"test split SHA-256 {card.split_digest[:16]}."
    )


def axis(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Ends of the axis that holds all values and intervals, in steps of .2; from 0 where none is negative."""
    known = [x for one in estimates for x in (one.value, one.low, one.high) if x is not None]
    low, high = min([0.0, *known]), max([0.2, *known])
    return -0.2 * -(low // 0.2) if low < 0 else 0.0, min(0.2 * -(-high // 0.2), max(1.0, high))
