"""The audits of a judge as a part of its page that is put in anew whenever the judge is audited."""

import re
from collections.abc import Sequence

from markupsafe import Markup

from judgec.records.audit import Finding
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import marked, render, shown, table
from judgec.report.numbers import short, show
from judgec.report.systems_table import PAIRS, PAIRS_TITLE, systems_lines
from judgec.stats.agreement.systems import SystemAgreement

BEGIN, END = "<!--audits-->", "<!--/audits-->"  # no user's text can say so: it is escaped
BETWEEN = re.compile(f"{BEGIN}.*?{END}", re.DOTALL)
WORDS = {"pass": "✓ pass", "not shown": "? not shown", "fail": "✗ fail", "skipped": "– skipped"}
COLUMNS: TableColumns[Finding] = TableColumns(
    (
        Column("audit", lambda one: one.audit.replace("_", " ")),
        Column(
            "",
            lambda one: one.status,
            cell=lambda one: marked(one.status.replace(" ", "-"), WORDS.get(one.status, one.status)),
        ),
        Column("effect", lambda one: show(one.effect), cell=lambda one: shown(one.effect)),
        Column("bound", lambda one: short(one.bound)),
        Column("what was found", lambda one: one.sentence),
    ),
)


def audits_section(found: Sequence[Finding], judge: str, systems: SystemAgreement | None = None) -> Markup:
    """The section between its marks; without an audit it names the command that makes them.

    Args:
        found: The audits.
        judge: ``name@version``.
        systems: How it ranked whoever answered, beside people.
    """
    head, rows = COLUMNS.page(found)
    pairs = [table(*PAIRS.page(systems.differing), label=PAIRS_TITLE)] if systems and systems.differing else []
    said = [f"On the labelled items {one}." for one in systems_lines(systems)]
    return render("audits.html", {"head": head, "rows": rows, "judge": judge, "said": said, "pairs": pairs})


def with_audits(page: str, found: Sequence[Finding], judge: str, systems: SystemAgreement | None = None) -> str:
    """A judge's page with these audits in place of those it had; a page without the marks stays as it is."""
    return BETWEEN.sub(lambda _: audits_section(found, judge, systems), page, count=1)
