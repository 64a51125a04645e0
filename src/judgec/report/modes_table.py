"""Failure modes for people: columns that the screen and the judge's page share."""

from collections.abc import Sequence
from dataclasses import replace

from judgec.records.estimate import Estimate
from judgec.records.mode_agreement import FoundModes, ModesAgreement
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import shown as shown_estimate
from judgec.report.numbers import UNKNOWN, number, p_value, show
from judgec.report.screen import TextTable

TITLE = "Failure modes, with 95 % intervals"
MICRO, MACRO = "all labels (micro)", "mean of modes (macro)"
WORDS = {
    "precision": "of the items that the judge flags, the share that experts flag as well",
    "recall": "of the items that experts flag, the share that the judge flags as well",
    "p": "of no association, with Holm's correction over all modes",
    "threshold": "the probability from which the judge flags",
}
LEGEND = ". ".join(f"{word.capitalize()}: {meaning}" for word, meaning in WORDS.items()) + "."


def _estimate(head: str, name: str) -> Column[tuple[str, FoundModes, float | None]]:
    def of(row: tuple[str, FoundModes, float | None]) -> Estimate:
        found: Estimate = getattr(row[1], name)
        return found

    return Column(head, lambda row: show(of(row)), cell=lambda row: shown_estimate(of(row)))


COLUMNS: TableColumns[tuple[str, FoundModes, float | None]] = TableColumns(
    (
        Column("mode", lambda row: row[0]),
        _estimate("kappa", "kappa"),
        _estimate("precision", "precision"),
        _estimate("recall", "recall"),
        Column("p", lambda row: p_value(row[1].p_holm)),
        Column("experts see it", lambda row: f"{row[1].present} of {row[1].n}"),
        Column("judge flags", lambda row: str(row[1].flagged)),
        Column("unscored", lambda row: str(row[1].unscored)),
        Column("threshold", lambda row: UNKNOWN if row[2] is None else number(row[2])),
    )
)


def mode_rows(found: ModesAgreement) -> Sequence[tuple[str, FoundModes, float | None]]:
    """A row a mode, then all of them together and their mean."""
    mean = found.macro
    macro = replace(found.micro, kappa=mean["kappa"], precision=mean["precision"], recall=mean["recall"])
    each = [(mode, one, found.thresholds.get(mode)) for mode, one in found.modes.items()]
    return [*each, (MICRO, found.micro, None), (MACRO, macro, None)] if len(each) > 1 else each


def mode_table(found: ModesAgreement, title: str = TITLE) -> TextTable:
    """The same on the screen."""
    shown = COLUMNS if found.thresholds else TableColumns(COLUMNS.columns[:-1])  # of other judges nobody knows any
    heads, rows = shown.screen(mode_rows(found))
    return TextTable(title, heads, rows, legend=WORDS)
