"""``report.html``: one self-contained page that says what a compiled judge is worth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from markupsafe import Markup

from judgec.records.agreement import Agreement
from judgec.records.alternative_annotator import AltTest
from judgec.records.audit import Finding
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
from judgec.report.page.prompt import prompt_section
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


@dataclass(frozen=True, slots=True)
class JudgePage:
    """The content of a judge's page.

    Args:
        card: The judge's, with its version.
        verdict: In words.
        standing: As the report has it: how it stands beside the experts (``is``), by which statistic, in detail.
        agreements: By judge, in the order of the table.
        facts: Sentences on why it was promoted or not.
        charts: Finished figures by aspect.
        groups: Agreement in each group of items, largest first.
        unscored: How many test items have no grade, by reason.
        prompt: Lines of the prompt.
        before: Lines of the parent's, or None.
        parent: What the parent is called.
        data: Rows of the table of data and cost.
        notes: What the reader has to know.
        next: What to do after reading, a sentence each.
        audits: Of the judge.
        costs: What each recorded judge costs and is worth.
        sizes: What panels of so many judges cost and are worth.
        alt_test: Whether it may replace an annotator, or None where there is one only.
        systems: How it ranks whoever answered beside people, or None where nobody names them.
        items: The test items, with what was said of them.
        modes: How experts and judge agree on failure modes.
        tree: The judge as a picture.
    """

    card: ProgramCard
    verdict: str
    standing: Mapping[str, str]
    agreements: Mapping[str, Agreement]
    facts: Sequence[str]
    charts: Mapping[str, Markup]
    groups: Mapping[str, Agreement]
    unscored: Mapping[str, int]
    prompt: Sequence[str]
    before: Sequence[str] | None
    parent: str
    data: Sequence[tuple[str, str]]
    notes: Sequence[str] = ()
    next: Sequence[str] = ()
    audits: Sequence[Finding] = field(default_factory=tuple)
    alt_test: AltTest | None = None
    systems: SystemAgreement | None = None
    items: Sequence[BrowsedItem] = ()
    costs: Sequence[JudgeCost] = ()
    sizes: Sequence[JudgeCost] = ()
    modes: ModesAgreement | None = None
    tree: Markup | None = None


def judge_page(page: JudgePage) -> str:
    """The page as HTML: no script but the kit's, nothing loaded from elsewhere, every text of users escaped."""
    name = f"{page.card.name}@{page.card.version}"
    parts = {
        "judges": _judges(page),
        "next": page.next,
        "charts": {"by_aspect": page.charts},
        "groups": _groups(page),
        "items": embedded(page.items),
        "audits": audits_section(page.audits, name),
        "prompt": prompt_section(page.prompt, page.before, page.parent) if page.prompt else None,
        "data": {"rows": page.data, "notes": page.notes},
        "cite": _citation(page),
    }
    return kit.page(
        "judge.html",
        {
            **parts,
            "name": name,
            "verdict": page.verdict,
            "detail": page.standing["detail"],
            "standing": page.standing["is"].rpartition(" ")[2],
            "facts": page.facts,
            "unscored": [f"{count} unscored: {reason}" for reason, count in page.unscored.items()],
            "tree": page.tree,
            "stamps": [CONSTRUCTED] if page.card.labels == "constructed" else [],
            "what": " · ".join(
                [page.card.task, page.card.engine or str(page.card.lm.get("model", "")), page.card.created]
            ),
            "links": [(anchor, title) for anchor, title in SECTIONS.items() if parts[anchor] is not None],
        },
    )


def _judges(page: JudgePage) -> dict[str, object]:
    """The judges with their intervals, all other statistics of them, and the compiled one by aspect."""
    head = page.standing["by"]
    ceiling = page.agreements["ceiling"].estimates.get(head)
    bar = _bar_column(head, list(page.agreements.values()), None if ceiling is None else ceiling.value)
    others = statistics(page.agreements, but=head)
    plain = [statistic(name, interval=False) for name in others if name not in OF_SYSTEMS]  # it has its own section
    every = [*map(statistic, others), BIAS, *REJECTS]
    return {
        "table": _table(page, [statistic(head), bar, *plain, SIZE, UNSCORED], "judges", "Judges on the test items"),
        "everything": _table(page, every, "", "All intervals"),
        "aspects": _aspects(page),
        "modes": _modes(page.modes),
        "replaces": _replaces(page.alt_test),
        "pairs": _pairs(page.systems),
        "priced": [
            (title, table(*COSTS.page(rows), label=title), cost_chart(drawn), said)
            for title, rows, drawn, said in (
                (COSTS_TITLE, page.costs, page.costs, caption(page.costs)),
                (SIZES, page.sizes, [replace(row, usd_per_1000=None) for row in page.sizes], OF_SIZES),
            )
            if rows
        ],
    }


def _replaces(found: AltTest | None) -> dict[str, object] | None:
    """The Alternative Annotator Test, or in words why there is none; nothing with a single annotator."""
    if found is None:
        return None
    made = table(*CONTESTS.page(found.contests), label=REPLACES) if found.contests else None
    each = table(*BY_ASPECT.page(list(found.aspects.items())), label=ASPECTS_TITLE) if found.aspects else None
    return {"title": REPLACES, "sentences": outcome_sentences(found), "table": made, "aspects": each}


def _pairs(found: SystemAgreement | None) -> tuple[str, Markup] | None:
    """The pairs of systems on which judge and people differ beyond noise; nothing where there are none."""
    return (PAIRS_TITLE, table(*PAIRS.page(found.differing), label=PAIRS_TITLE)) if found and found.differing else None


def _table(page: JudgePage, columns: Sequence[AgreementColumn], kind: str, label: str) -> Markup:
    head, rows = TableColumns(columns).page(list(page.agreements.values()))
    named = [two_lines(_shaded(judge), JUDGES.get(judge, "")) for judge in page.agreements]
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


def _aspects(page: JudgePage) -> Markup | None:
    aspects = page.agreements["compiled"].aspects
    if not aspects:
        return None
    names = [name for name in statistics(aspects) if name in KNOWN]
    head, rows = TableColumns([statistic(name) for name in names]).page(list(aspects.values()))
    named = [[aspect, *row] for aspect, row in zip(aspects, rows, strict=True)]
    return table(["aspect", *head], named, label="The compiled judge by aspect")


def _modes(found: ModesAgreement | None) -> dict[str, object] | None:
    if found is None:
        return None
    made = table(*MODES.page(mode_rows(found)), label=MODES_TITLE)
    return {"title": MODES_TITLE, "table": made, "legend": LEGEND, "notes": found.notes}


def _groups(page: JudgePage) -> dict[str, object] | None:
    if len(page.groups) < 2:
        return None
    head = page.standing["by"]
    shown = list(page.groups.items())[:MOST_GROUPS]
    whole = page.agreements["compiled"]
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


def _citation(page: JudgePage) -> str:
    card, name = page.card, page.standing["by"]
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
