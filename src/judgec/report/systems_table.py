"""The order of systems by a judge beside that by people: a sentence and tables that screens and pages share."""

from collections.abc import Mapping

from judgec.records.counts import plural
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import shown
from judgec.report.numbers import number, p_value, percent, show
from judgec.report.screen import TextTable
from judgec.stats.agreement.system_tau import LEAST_SYSTEMS
from judgec.stats.agreement.systems import SystemAgreement, SystemPair

PAIRS_TITLE = "Pairs of systems on which judge and people differ beyond noise"
PAIRS: TableColumns[SystemPair] = TableColumns(
    (
        Column("one less the other", lambda one: f"{one.a} - {one.b}"),
        Column(
            "judge [95 %]",
            lambda one: show(one.judge, sign=True),
            cell=lambda one: shown(one.judge, sign=True),
        ),
        Column(
            "people [95 %]",
            lambda one: show(one.people, sign=True),
            cell=lambda one: shown(one.people, sign=True),
        ),
        Column("adjusted p", lambda one: p_value(one.p)),
    )
)

JUDGES_TITLE = "The order of systems, by judges and by people"
JUDGES: TableColumns[tuple[str, SystemAgreement]] = TableColumns(
    (
        Column("judge", lambda one: one[0]),
        Column("queries", lambda one: str(one[1].n_queries)),
        Column("tau-b", lambda one: show(one[1].tau_b)),
        Column("Spearman", lambda one: show(one[1].spearman)),
        Column("people on halves", lambda one: number(one[1].people)),
        Column("same decisions", lambda one: percent(one[1].share_same)),
        Column("opposite", lambda one: str(one[1].opposite)),
        Column("beyond noise", lambda one: str(len(one[1].differing))),
    )
)


def systems_lines(found: SystemAgreement | None) -> tuple[str, ...]:
    """Sentence on whether a judge ranks systems as people do; none of fewer systems than an order needs."""
    if found is None or len(found.systems) < LEAST_SYSTEMS:
        return ()
    if found.tau_b.value is None:
        return (f"the order of {plural(len(found.systems), 'system')} cannot be compared: {found.tau_b.note}",)
    beside = "" if found.people is None else f"; between two halves of these, people agree by {number(found.people)}"
    apart = ""
    if found.differing:
        first, few = found.differing[0], len(found.differing)
        apart = (
            f"; judge and people differ beyond noise on {few}, most on {first.a} minus {first.b}: "
            f"{show(first.judge, sign=True)} by the judge, {show(first.people, sign=True)} by people"
        )
    said = (
        f"its order of {len(found.systems)} systems agrees with people's by tau-b {show(found.tau_b)} (on "
        f"{found.n_queries} queries where both graded all systems{beside}); at the 5 % level it decides {found.same} "
        f"of {found.pairs} pairs as people do, {found.opposite} the other way round{apart}"
    )
    return (said,)


def systems_in_short(found: SystemAgreement | None) -> list[str]:
    """The beginning of the sentence, for a screen: the order alone."""
    return [line.partition(" (on ")[0] for line in systems_lines(found)]


def pairs_tables(found: Mapping[str, SystemAgreement]) -> list[TextTable]:
    """Of each judge the pairs on which it and people differ beyond noise; of several judges their orders before."""
    tables = [TextTable(JUDGES_TITLE, *JUDGES.screen(list(found.items())))] if len(found) > 1 else []
    return tables + [
        TextTable(f"{judge}: {PAIRS_TITLE[0].lower()}{PAIRS_TITLE[1:]}", *PAIRS.screen(one.differing))
        for judge, one in found.items()
        if one.differing
    ]
