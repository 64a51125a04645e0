"""A judge's prompt as lines of text, and what changed in it."""

import difflib
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from judgec.report.page.skeleton import cut, more, scrolling

MOST_LINES = 300  # of a difference
MOST_WIDTH = 240  # characters of one line in a difference
MOST_PROMPT = 12_000  # characters of the prompt itself


def prompt_lines(state: Mapping[str, Any]) -> list[str]:  # Any: JSON of ``store.programs``, checked when it was loaded
    """A saved prompt as lines: instructions, field descriptions and demonstrations of each predictor."""
    lines: list[str] = []
    for name, predictor in state.items():
        lines += [f"== {name}: instructions", *str(predictor["signature"]["instructions"]).splitlines()]
        lines.append(f"== {name}: fields")
        lines += [f"{field['prefix']} {field['description']}" for field in predictor["signature"]["fields"]]
        for number, demo in enumerate(predictor["demos"], 1):
            lines.append(f"== {name}: demonstration {number}")
            for field, value in demo.items():
                first, *rest = str(value).splitlines() or [""]
                lines += [f"{field}: {first}", *rest]
    return lines


def prompt_section(now: Sequence[str], before: Sequence[str] | None, parent: str) -> str:
    """The prompt, and its difference from ``parent``'s; None where there is nothing to compare it with."""
    whole = more(
        "The whole prompt",
        scrolling(cut(chr(10).join(now), MOST_PROMPT), "text code", label="prompt"),
    )
    if before is None:
        return f"<p>There is no {escape(parent)} to compare it with.</p>{whole}"
    changes = list(difflib.unified_diff(before, now, lineterm="", n=2))[2:]
    added = sum(line.startswith("+") for line in changes)
    removed = sum(line.startswith("-") for line in changes)
    if not changes:
        return f"<p>The same prompt as {escape(parent)}.</p>{whole}"
    shown = "".join(_line(line) for line in changes[:MOST_LINES])
    if len(changes) > MOST_LINES:
        shown += f"<span class=quiet>… {len(changes) - MOST_LINES} more lines</span>"
    said = f"{added} lines added, {removed} removed against {escape(parent)}."
    diff = more(
        "The difference, line by line",
        scrolling(shown, "text code", label="difference"),
        opened=added < 30,
    )
    return f"<p>{said}</p>{diff}{whole}"


def _line(line: str) -> str:
    kind = {"+": "ins", "-": "del"}.get(line[:1])
    text = escape(line[:MOST_WIDTH]) + ("…" if len(line) > MOST_WIDTH else "") + "\n"
    if line.startswith("@@"):
        return "<span class=quiet>…</span>\n"
    return text if kind is None else f"<{kind}>{text}</{kind}>"
