"""The parts every page is made of; whatever comes from users is escaped before it gets here, or here."""

from collections.abc import Sequence
from html import escape

from judgec.records.estimate import Estimate
from judgec.report.render import number

POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # no script, nothing loaded, whatever a text may say


def document(title: str, style: str, parts: Sequence[str]) -> str:
    """A whole page: no script, nothing loaded from elsewhere.

    Args:
        title: Plain text.
        style: The style sheet.
        parts: Finished HTML.
    """
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8>"
        f'<meta http-equiv=Content-Security-Policy content="{POLICY}">'
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{style}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    )


def section(anchor: str, title: str, *parts: str) -> str:
    """A section of finished HTML; an empty text where all parts are empty."""
    body = "".join(parts)
    return f"<section id={anchor}><h2>{escape(title)}</h2>{body}</section>" if body else ""


def shown(estimate: Estimate | None) -> str:
    """``.56 [.48, .63]`` as HTML, or a dash that says why on hover."""
    if estimate is None or estimate.value is None:
        return f"<span title='{escape(estimate.note if estimate else '', quote=True)}'>–</span>"
    value = f"<b>{number(estimate.value)}</b>"
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} <span class=quiet>[{number(estimate.low)}, {number(estimate.high)}]</span>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "", *, label: str) -> str:
    """A table of finished HTML cells that scrolls sideways on narrow screens, by keyboard too.

    Args:
        head: Of the columns.
        rows: The first cell of each is its heading.
        kind: CSS class.
        label: What the table is, for screen readers.
    """
    heads = "".join(f"<th scope=col>{cell}" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}' for cell in row)}" for row in rows)
    return (
        f"<div class=wide tabindex=0 role=region aria-label='{escape(label, quote=True)}'><table class='{kind}'>"
        f"<thead><tr>{heads}</thead><tbody>{body}</tbody></table></div>"
    )


def scrolling(body: str, kind: str = "text", *, label: str) -> str:
    """Finished HTML that scrolls where it is long, by keyboard too.

    Args:
        body: What it holds.
        kind: CSS classes.
        label: What it is, for screen readers.
    """
    return f"<div class='{kind}' tabindex=0 role=group aria-label='{escape(label, quote=True)}'>{body}</div>"


def interval_bar(estimate: Estimate | None, low: float, high: float, line: float | None = None) -> str:
    """The interval as a bar and the value as a dot on an axis from ``low`` to ``high``; ``line`` is marked."""
    if estimate is None or estimate.value is None:
        return ""

    def place(value: float) -> float:
        return 100.0 * (min(max(value, low), high) - low) / (high - low)

    mark = "" if line is None else f"<s style='left:{place(line):.1f}%'></s>"
    bar = ""
    if estimate.low is not None and estimate.high is not None:
        left, right = place(estimate.low), place(estimate.high)
        bar = f"<span style='left:{left:.1f}%;width:{right - left:.1f}%'></span>"
    return f"<div class=bar aria-hidden=true>{mark}{bar}<i style='left:{place(estimate.value):.1f}%'></i></div>"


def more(summary: str, body: str, *, opened: bool = False) -> str:
    """A block that opens; both arguments are finished HTML."""
    return f"<details{' open' if opened else ''}><summary>{summary}</summary><div class=in>{body}</div></details>"


def notes(sentences: Sequence[str]) -> str:
    """Plain sentences as a list; nothing for none."""
    return f"<ul class=notes>{''.join(f'<li>{escape(each)}' for each in sentences)}</ul>" if sentences else ""


def cut(text: str, most: int) -> str:
    """Plain text as HTML, shortened to ``most`` characters; says so where it is empty or shortened."""
    if not text.strip():
        return "<i class=quiet>(empty)</i>"
    rest = len(text) - most
    return escape(text[:most]) + (f" <i class=quiet>… {rest:,} more characters</i>" if rest > 0 else "")
