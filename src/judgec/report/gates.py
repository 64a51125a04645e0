"""The demands of a command and what they came to, as build servers read it: JUnit XML, and Markdown of a job."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judgec.report.junit import TestCase, junit
from judgec.report.screen import TextTable
from judgec.stats.intervals.gate import GateVerdict, worst

_MARKS = {"passed": "✅", "failed": "❌", "not shown": "⚠️"}
_NUMBER = re.compile(r"$|[-+–<~$± ]*(?:[.\d]|$)")
LONGEST_NUMBER = 30  # characters of a value with its interval; what is longer is a sentence that begins with a number
_SPECIAL = {ord(letter): f"&#{ord(letter)};" for letter in "&<>|`[*\\"}


@dataclass(frozen=True, slots=True)
class Gate:
    """What one demand came to.

    Args:
        name: The demand, as it was typed or as the audit is called.
        verdict: Only ``passed`` opens.
        sentence: The numbers behind it.
    """

    name: str
    verdict: GateVerdict
    sentence: str


@dataclass(frozen=True, slots=True)
class Gates:
    """All demands of one run.

    Args:
        verb: The command.
        demands: At least one; all of them have to pass.
        sentence: What they came to; what passed and needs no word is empty.
        page: Of the run.
    """

    verb: str
    demands: Sequence[Gate]
    sentence: str
    page: Path | None = None

    @property
    def verdict(self) -> GateVerdict:
        """Of all together."""
        return worst(gate.verdict for gate in self.demands)


def gates_junit(gates: Gates) -> str:
    """A test case for each demand, in a suite named after the command; one that is not shown is a failure, too."""
    suite = f"judgec {gates.verb}"
    about = suite, f"judgec.{gates.verb}"
    cases = [
        TestCase(*about, gate.name)
        if gate.verdict == "passed"
        else TestCase(*about, gate.name, "failure", f"gate {gate.verdict}", gate.sentence, gate.sentence)
        for gate in gates.demands
    ]
    return junit(suite, cases)


def gates_markdown(gates: Gates, tables: Sequence[TextTable]) -> str:
    """A heading with the verdict, the demands, then the tables that they are about."""
    verdict = gates.verdict
    shown = TextTable(
        "",
        ("gate", "verdict", "why"),
        [(gate.name, f"{_MARKS[gate.verdict]} {gate.verdict}", gate.sentence) for gate in gates.demands],
    )
    parts = [f"## judgec {gates.verb}: {_MARKS[verdict]} {verdict}", *_rows(shown)]
    for table in tables:
        parts += ["", f"### {_cell(table.title)}", *_rows(table)]
    if gates.page is not None:
        parts += ["", f"Report: `{_cell(str(gates.page))}`"]
    return "\n".join([*parts, "", ""])


def _rows(table: TextTable) -> list[str]:
    columns = list(zip(*table.rows, strict=True))[1:] or [()] * (len(table.heads) - 1)
    rule = " | ".join([":--", *("--:" if all(map(_is_number, column)) else ":--" for column in columns)])
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in (table.heads, *table.rows)]
    return ["", lines[0], f"| {rule} |", *lines[1:]]


def _is_number(cell: str) -> bool:
    """A number with what belongs to it, or nothing; numbers stand right, texts left."""
    return len(cell) <= LONGEST_NUMBER and _NUMBER.match(cell) is not None


def _cell(text: str) -> str:
    """Text of users as text: no column, tag, link or line of its own."""
    return " ".join(text.split()).translate(_SPECIAL)
