"""The Alternative Annotator Test for people: columns and sentences that the screen and the judge's page share."""

from judgec.records.alternative_annotator import ENOUGH, AltTest, AnnotatorContest
from judgec.records.counts import plural
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import marked, shown
from judgec.report.numbers import number, p_value, percent, short, show

TITLE = "May it replace an annotator"
COLUMNS: TableColumns[AnnotatorContest] = TableColumns(
    (
        Column("annotator", lambda one: one.annotator),
        Column("rho, judge", lambda one: number(one.rho_judge)),
        Column("rho, own", lambda one: number(one.rho_annotator)),
        Column(
            "difference [95 %]",
            lambda one: show(one.difference, sign=True),
            cell=lambda one: shown(one.difference, sign=True),
        ),
        Column("adjusted p", lambda one: p_value(one.p_adjusted)),
        Column(
            "wins",
            lambda one: "yes" if one.wins else "not shown",
            cell=lambda one: marked("pass" if one.wins else "not-shown", "✓ yes" if one.wins else "? not shown"),
        ),
        Column("labels (queries)", lambda one: f"{one.items}" + ("" if one.queries is None else f" ({one.queries})")),
    )
)


ASPECTS_TITLE = f"{TITLE}, by aspect"
ASPECTS: TableColumns[tuple[str, AltTest]] = TableColumns(
    (
        Column("aspect", lambda one: one[0]),
        Column("winning rate", lambda one: "not tested" if one[1].omega is None else number(one[1].omega)),
        Column("wins against", lambda one: ", ".join(own.annotator for own in one[1].contests if own.wins) or "nobody"),
        Column("rho, judge", lambda one: number(one[1].rho)),
        Column(
            "most frequent grade", lambda one: "" if one[1].majority_omega is None else number(one[1].majority_omega)
        ),
        Column(
            "may replace",
            lambda one: {True: "yes", False: "not shown", None: ""}[one[1].passes],
            cell=lambda one: (
                ""
                if one[1].passes is None
                else marked("pass" if one[1].passes else "not-shown", "✓ yes" if one[1].passes else "? not shown")
            ),
        ),
        Column("labels", lambda one: f"{one[1].items}"),
    )
)

JUDGES: TableColumns[tuple[str, AltTest]] = TableColumns((Column("judge", lambda one: one[0]), *ASPECTS.columns[1:]))


def outcome_sentences(found: AltTest) -> tuple[str, ...]:
    """The outcome in words, and what the reader has to know of it."""
    if found.omega is None:
        return (f"{TITLE}? Not tested: {found.note}.",)
    wins = sum(one.wins for one in found.contests)
    outcome = "Yes" if found.passes else "Not shown"
    rate = f"winning rate {number(found.omega)}, {short(ENOUGH)} is needed; epsilon {short(found.epsilon)}"
    said = [
        f"{TITLE}? {outcome}: it wins against {wins} of {len(found.contests)} ({rate}).",
        f"On {percent(found.rho)} of the labels it is at least as close to the others as the annotator is.",
    ]
    if found.note:
        said.append(f"{found.note[0].upper()}{found.note[1:]}.")
    if found.unscored:
        said.append(
            f"{found.unscored} of {plural(found.items, 'label')} without a judgment, which counts against the judge."
        )
    if found.majority_omega is not None and found.majority_omega >= ENOUGH:
        said.append(
            "A judge that always gives the most frequent grade would pass, too (winning rate "
            f"{number(found.majority_omega)}): nearly all labels are alike, so passing says little."
        )
    return tuple(said)
