"""The code blocks of a document, in order.

A fence names its language. ``sh`` and ``python`` are run, ``console`` has its ``$`` lines run, ``text`` is for looking
at, all others are parsed. A comment before a fence, ``<!-- file: NAME -->``, makes the block a file that later blocks
find. Comments anywhere in a document say how it is run: ``<!-- full -->``: by ``make test-full`` only;
``<!-- lm: openai -->``: a fake OpenAI server answers, ``<!-- lm: batches -->``: one that takes batches, too;
``<!-- needs: COMMAND -->``: skipped where that is missing.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"<!-- file: (\S+) -->\s*\Z")
MARK = re.compile(r"<!-- (full|lm|needs)(?:: (\S+))? -->")


@dataclass(frozen=True)
class Block:
    """One fence.

    Args:
        language: As written, or empty.
        text: What is in it.
        line: Where it begins.
        file: What the block is saved as, or empty.
    """

    language: str
    text: str
    line: int
    file: str = ""


def documents() -> list[Path]:
    """Everything that users read."""
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
    return [*found, *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "howto").glob("*.md"))]


def blocks(text: str) -> list[Block]:
    """The blocks of a document."""
    found = []
    for match in FENCE.finditer(text):
        named = FILE.search(text[: match.start()])
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match[1], match[2], line, named[1] if named else ""))
    return found


def marks(text: str) -> dict[str, str]:
    """How the document is run."""
    return {match[1]: match[2] or "" for match in MARK.finditer(text)}


def commands(text: str) -> str:
    """The ``$`` lines of a console block, with their continuations."""
    kept, going_on = [], False
    for line in text.splitlines():
        if going_on or line.startswith("$ "):
            kept.append(line if going_on else line[2:])
            going_on = line.endswith("\\")
    return "\n".join(kept) + "\n"
