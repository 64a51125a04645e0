"""The audits of a judge as a part of its page that is put in anew whenever the judge is audited."""

import re
from collections.abc import Sequence
from html import escape

from judgec.records.audit import Finding
from judgec.report.page.skeleton import section, shown, table

BEGIN, END = "<!--audits-->", "<!--/audits-->"  # no user's text can say so: it is escaped
BETWEEN = re.compile(f"{BEGIN}.*?{END}", re.DOTALL)
WORDS = {"pass": "✓ pass", "not shown": "? not shown", "fail": "✗ fail", "skipped": "– skipped"}


def audits_section(found: Sequence[Finding], judge: str) -> str:
    """The section between its marks; without an audit it names the command that makes them.

    Args:
        found: The audits.
        judge: ``name@version``.
    """
    if found:
        rows = [
            [
                escape(one.audit.replace("_", " ")),
                f"<span class={one.status.replace(' ', '-')}>{WORDS.get(one.status, escape(one.status))}</span>",
                shown(one.effect),
                f"{one.bound:g}",
                escape(one.sentence),
            ]
            for one in found
        ]
        body = table(["audit", "", "effect", "bound", "what was found"], rows, "audits", label="Audits")
    else:
        body = (
            "<p>Not audited: nobody has looked for a bias to position, length, style or authority, or for injection. "
            f"To do so: <code>judgec audit --judge {escape(judge)}</code></p>"
        )
    return f"{BEGIN}{section('audits', 'Audits', body)}{END}"


def with_audits(page: str, found: Sequence[Finding], judge: str) -> str:
    """A judge's page with these audits in place of those it had; a page without the marks stays as it is."""
    return BETWEEN.sub(lambda _: audits_section(found, judge), page, count=1)
