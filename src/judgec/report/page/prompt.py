"""A judge's prompt as lines of text, and what changed in it."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from judgec.report.kit import cut, render

MOST_LINES = 300  # of a difference
MOST_WIDTH = 240  # characters of one line in a difference
MOST_PROMPT = 12_000  # characters of the prompt itself


def prompt_lines(prompts: Mapping[str, Mapping[str, Any]]) -> list[str]:  # Any: JSON of ``raters.tree.Prompt``
    """Saved prompts as lines, by name: instructions, descriptions of fields and demonstrations, or their turns."""
    lines: list[str] = []
    for name, prompt in prompts.items():
        for aspect, turns in prompt["turns"].items():
            for role, text in turns:
                lines += [f"== {' '.join(filter(None, (name, aspect)))}: {role}", *text.splitlines()]
        if not prompt["fields"]:
            continue
        lines += [f"== {name}: instructions", *prompt["instructions"].splitlines(), f"== {name}: fields"]
        lines += [f"{field['name']}: {field['description']}" for field in prompt["fields"]]
        for number, demo in enumerate(prompt["demos"], 1):
            lines.append(f"== {name}: demonstration {number}")
            for field, value in demo.items():
                first, *rest = str(value).splitlines() or [""]
                lines += [f"{field}: {first}", *rest]
    return lines


def prompt_section(now: Sequence[str], before: Sequence[str] | None, parent: str) -> Markup:
    """The prompt, and its difference from ``parent``'s; None where there is nothing to compare it with."""
    changes = [] if before is None else list(difflib.unified_diff(before, now, lineterm="", n=2))[2:]
    added, removed = (sum(line.startswith(sign) for line in changes) for sign in "+-")
    return render(
        "prompt.html",
        {
            "parent": parent,
            "comparable": before is not None,
            "changes": [_line(line) for line in changes[:MOST_LINES]],
            "more": max(len(changes) - MOST_LINES, 0),
            "added": added,
            "removed": removed,
            "prompt": cut("\n".join(now), MOST_PROMPT),
        },
    )


def _line(line: str) -> tuple[str, str]:
    """Mark of a line of the difference, and its text."""
    if line.startswith("@@"):
        return "between", "…"
    kind = {"+": "ins", "-": "del"}.get(line[:1], "")
    return kind, line[:MOST_WIDTH] + ("…" if len(line) > MOST_WIDTH else "")
