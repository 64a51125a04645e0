"""The code blocks of a document, in order.

A fence names its language. ``sh`` and ``python`` are run, ``console`` has its ``$`` lines run, ``text`` is for
looking at, all others are parsed. Of what a ``console`` block shows below its ``$`` lines, each line with a digit has
to be printed, but those that begin with ``...``; seconds and rates are not compared. A comment before a
fence, ``<!-- file: NAME -->``, makes the block a file that later blocks find; ``<!-- written: NAME -->`` says that
the blocks before have written it as it stands here. Comments anywhere in a document say how it is run:
``<!-- lm: openai -->``: a fake OpenAI server answers, ``<!-- lm: batches -->``: one that takes batches, too;
``<!-- soak -->``: by ``make soak``, as it needs Ray, or a minute of a processor and more;
``<!-- needs: COMMAND -->``: skipped where that is missing.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"<!-- file: (\S+) -->\s*\Z")
WRITTEN = re.compile(r"<!-- written: (\S+) -->\s*\Z")
TIMED = re.compile(r"\d+(?:\.\d+)?(?= (?:s|min|calls/s|items/s)\b)")  # seconds and rates, which no two machines share
CALLED = re.compile(r"(\S+ -m |\S*/)judgec\b")
MARK = re.compile(r"<!-- (lm|needs|soak)(?:: (\S+))? -->")


@dataclass(frozen=True)
class Block:
    """One fence.

    Args:
        language: As written, or empty.
        text: What is in it.
        line: Where it begins.
        file: What the block is saved as, or empty.
        written: The file that is to hold the same by now, or empty.
    """

    language: str
    text: str
    line: int
    file: str = ""
    written: str = ""


def documents() -> list[Path]:
    """Everything that users read."""
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
    return [*found, *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "howto").glob("*.md"))]


def blocks(text: str) -> list[Block]:
    """The blocks of a document."""
    found = []
    for match in FENCE.finditer(text):
        named, written = (kind.search(text[: match.start()]) for kind in (FILE, WRITTEN))
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match[1], match[2], line, named[1] if named else "", written[1] if written else ""))
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


def numbers(block: Block) -> list[str]:
    """The lines with a digit that the commands of a console block print, each without what only widths differ in."""
    found, going_on = [], False
    for line in block.text.splitlines() if block.language == "console" else ():
        if going_on or line.startswith("$ "):
            going_on = line.endswith("\\")
        elif not line.startswith("...") and re.search(r"\d", line):
            found.append(line)
    return printed("\n".join(found))


def printed(text: str) -> list[str]:
    """Lines as compared: rules and blank ones left out, runs of spaces as one, ``judgec`` however it is called here,
    times and rates left out.
    """
    lines = (" ".join(CALLED.sub("judgec", line).replace("\u2500", " ").split()) for line in text.splitlines())
    return [TIMED.sub("N", line) for line in lines if line]
