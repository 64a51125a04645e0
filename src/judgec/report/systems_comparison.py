"""Systems compared by a judge that experts' labels correct: the answer in sentences, tables and a forest plot."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.report.columns import Column, TableColumns
from judgec.report.numbers import UNKNOWN, count, number, p_value, show
from judgec.report.page.interval_chart import interval_chart
from judgec.report.screen import TextTable
from judgec.stats.systems.compare import SystemComparison, SystemDifference, SystemStanding
from judgec.stats.systems.rows import RATING

MOST_NAMED = 4  # systems in a sentence
LETTERS = "Systems that share a letter are not told apart (5 %, all pairs, Holm)."
NAMES = {"accept_rate": "accept rate", "mean": "mean grade", "win_rate": "win rate", "rating": "rating"}
KINDS = ("corrected", "people", "judge")


@dataclass(frozen=True, slots=True)
class SystemLine:
    """A row of the table.

    Args:
        name: Of the system.
        found: Its figures.
        letters: Of those that it is not told apart from.
    """

    name: str
    found: SystemStanding
    letters: str


def comparison_columns(statistic: str, *, rest: bool = False) -> TableColumns[SystemLine]:
    """The table of one statistic; with ``rest`` all intervals, and what these very rows have."""

    def of(kind: str) -> Callable[[SystemLine], Estimate]:
        return lambda one: getattr(one.found.figures[statistic], kind)

    people, judge, corrected, these = map(of, ("experts", "judge", "corrected", "corrected_these_rows"))
    digits = 0 if statistic == RATING else 2
    return TableColumns(
        (
            Column("", lambda one: one.name),
            Column("labelled", lambda one: f"{count(one.found.labelled)}/{count(one.found.n)}"),
            Column("people", lambda one: show(people(one), digits) if rest else number(people(one).value, digits)),
            Column("judge", lambda one: show(judge(one), digits) if rest else number(judge(one).value, digits)),
            Column(
                "corrected [95 %]", lambda one: show(corrected(one), digits), value=corrected, metric=(statistic, None)
            ),
            *([Column("of these rows", lambda one: show(these(one), digits))] if rest else []),
            Column("group", lambda one: one.letters or UNKNOWN),
        ),
        lambda one: one.name,
    )


PAIRS: TableColumns[SystemDifference] = TableColumns(
    (
        Column("one less the other", lambda one: f"{one.a} - {one.b}"),
        Column("difference [95 %, all pairs]", lambda one: show(one.difference, sign=True)),
        Column("adjusted p", lambda one: p_value(one.p)),
        Column("told apart", lambda one: "yes" if one.shown else "no"),
    )
)
FAVOURS: TableColumns[SystemDifference] = TableColumns(
    (
        Column("", lambda one: one.a),
        Column("judge's error less that on the others [95 %]", lambda one: show(one.difference, sign=True)),
        Column("adjusted p", lambda one: p_value(one.p)),
    )
)


def comparison_metrics(found: SystemComparison) -> dict[str, Estimate | float]:
    """A metric a system and statistic, and how far the judge is trusted."""
    named: dict[str, Estimate | float] = {"weight": found.weight}
    for statistic in next(iter(found.systems.values())).figures:
        named |= comparison_columns(statistic).metrics(lines_of(found))
    return named


def lines_of(found: SystemComparison) -> list[SystemLine]:
    """The rows of the table, best first."""
    return [SystemLine(name, one, found.letters.get(name, "")) for name, one in found.systems.items()]


def comparison_tables(found: SystemComparison, *, rest: bool = False) -> list[TextTable]:
    """The table of what decides; with ``rest`` every table."""
    statistics = list(next(iter(found.systems.values())).figures)
    shown = statistics if rest else [found.statistic]
    tables = [
        TextTable(
            f"{NAMES[name].capitalize()}, judge {found.judge}, 95 % intervals over queries like these",
            *comparison_columns(name, rest=rest).screen(lines_of(found)),
        )
        for name in sorted(shown, key=lambda name: name != found.statistic)
    ]
    if rest:
        tables.append(TextTable(f"Differences of {NAMES[found.statistic]}", *PAIRS.screen(found.pairs)))
        tables += [TextTable("Whom the judge favours", *FAVOURS.screen(found.favours))] if found.favours else []
    return tables


def forest(found: SystemComparison) -> Markup:
    """Each system's corrected figure beside the judge's and the people's own."""
    figures = {name: one.figures[found.statistic] for name, one in found.systems.items()}
    label = f"{NAMES[found.statistic].capitalize()} of each system, corrected, by people alone and by the judge alone"
    rows = {name: (one.corrected, one.experts, one.judge) for name, one in figures.items()}
    return interval_chart(rows, label, kinds=KINDS)


def comparison_sentences(found: SystemComparison) -> list[str]:
    """Which system is best and how sure that is; what more labels it takes where that is open."""
    known, favoured = [name for name in found.systems if name in found.letters], _favoured(found)
    if not known:
        return [f"No system has labels enough to say which is best{favoured}."]
    first, *others = known
    figure = f"{NAMES[found.statistic]} {show(found.systems[first].figures[found.statistic].corrected)}"
    if not others:
        return [f"{first} has {figure}, and no other system has labels enough to be compared with it{favoured}."]
    ties = found.beside
    if not ties:
        return [f"{first} is best, {figure}: better than every other system (5 %, all pairs, Holm){favoured}."]
    beaten = [name for name in others if name not in ties]
    said = f"{first} leads, {figure}: better than {_named(beaten)}, not told apart from {_named(ties)}"
    if not beaten:
        said = f"No system is shown to be best: {first} leads, {figure}, not told apart from {_named(ties)}"
    return [f"{said}{favoured}.", *filter(None, [_more(found)])]


def _more(found: SystemComparison) -> str:
    """The labels that would tell the first system from those beside it, and where there are too few rows for them."""
    first, have = next(iter(found.letters)), {name: one.labelled for name, one in found.systems.items()}
    needs = {name: found.needed.get(name, 0) for name in found.beside}
    alike = [name for name, n in needs.items() if n is None]
    enough = [name for name, n in needs.items() if n == 0]
    beyond = {name: n for name, n in needs.items() if n and n > found.systems[name].n - have[name]}
    near = {name: n for name, n in needs.items() if n and name not in beyond}
    if near:  # the first needs as many labels as they have then
        own = max(have[name] + n for name, n in near.items()) - have[first]
    else:
        own = 0 if beyond else found.needed.get(first) or 0
    said = [f"{count(n)} of {name}" for name, n in {first: own, **near}.items() if n > 0]
    rest = f" and more of {len(said) - MOST_NAMED} others" if len(said) > MOST_NAMED else ""
    told, parts = [*near, *enough], []
    if said:
        them = "them" if len(told) == len(needs) > 1 else _named(told)
        listed = ", ".join(said[:MOST_NAMED]).replace(" of ", " more labels of ", 1)
        parts.append(f"About {listed}{rest} would tell {them} from {first}.")
    if beyond:
        least = min(beyond, key=beyond.__getitem__)
        much = f"{least} about {count(beyond[least])} more labels"
        parts.append(f"{_named(list(beyond))} would take further queries, too: {much}.")
    parts += [f"{_named(alike)} and {first} are alike in these rows."] if alike else []
    return " ".join(parts)


def _favoured(found: SystemComparison) -> str:
    """Whom the judge favours, as the end of a sentence."""
    shown = sorted((one for one in found.favours if one.shown), key=lambda one: -abs(one.difference.value or 0.0))
    said = [
        f"favours {one.a} by {show(one.difference)}"
        if (one.difference.value or 0.0) > 0
        else f"is hard on {one.a} by {show(turned(one.difference))}"
        for one in shown[:MOST_NAMED]
    ]
    more = f" and {plural(len(shown) - MOST_NAMED, 'more')}" if len(shown) > MOST_NAMED else ""
    return f"; the judge {', '.join(said)}{more}" if said else ""


def turned(difference: Estimate) -> Estimate:
    """The difference the other way round."""
    value, low, high = (None if end is None else -end for end in (difference.value, difference.high, difference.low))
    return difference.model_copy(update={"value": value, "low": low, "high": high})


def _named(names: Sequence[str]) -> str:
    """As many as fit a sentence, and how many there are beside them."""
    shown = names if len(names) <= MOST_NAMED + 1 else names[:MOST_NAMED]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")
