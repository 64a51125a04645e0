"""Ends a command that was asked for a gate: build servers are told, and only a gate that passed exits 0."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judgec.errors import GateError, UserError
from judgec.labels.split.family import write_whole
from judgec.report.junit import TestCase, junit
from judgec.report.screen import TextTable
from judgec.stats.intervals.gate import GateVerdict, announced, worst
from judgec.verbs.cli.output import say

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


def gate_cases(verb: str, gates: Sequence[Gate]) -> list[TestCase]:
    """A test case for each demand, in a suite named after the command; one that is not shown is a failure, too."""
    about = f"judgec {verb}", f"judgec.{verb}"
    return [
        TestCase(*about, gate.name)
        if gate.verdict == "passed"
        else TestCase(*about, gate.name, "failure", f"gate {gate.verdict}", gate.sentence, gate.sentence)
        for gate in gates
    ]


def markdown(verb: str, gates: Sequence[Gate], tables: Sequence[TextTable], report: Path | None) -> str:
    """A heading with the worst verdict, the gates, then what they are about."""
    worst = min((gate.verdict for gate in gates), key=["failed", "not shown", "passed"].index, default="passed")
    shown = TextTable(
        "",
        ("gate", "verdict", "why"),
        [(gate.name, f"{_MARKS[gate.verdict]} {gate.verdict}", gate.sentence) for gate in gates],
    )
    parts = [f"## judgec {verb}: {_MARKS[worst]} {worst}", *_rows(shown)]
    for table in tables:
        parts += ["", f"### {_cell(table.title)}", *_rows(table)]
    if report is not None:
        parts += ["", f"Report: `{_cell(str(report))}`"]
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


SUMMARY = "GITHUB_STEP_SUMMARY"
"""The file that GitHub shows on the page of a job; what a step appends to it is Markdown."""


def needs_gate(junit_file: Path | None, *, gated: bool, option: str) -> None:
    """Refuse ``--junit`` before any work where nothing is demanded.

    Raises:
        UserError: When there is a file to write and no gate.
    """
    if junit_file is not None and not gated:
        raise UserError(
            f"--junit {junit_file}: no gate is asked for; {option} makes one. Add it, or leave --junit out."
        )


def end_gated(
    verb: str,
    gates: Sequence[Gate],
    *,
    sentence: str,
    junit_file: Path | None,
    tables: Sequence[TextTable] = (),
    report: Path | None = None,
    quiet: bool = False,
    announce: bool = True,
) -> None:
    """Write what build servers read, and say or raise what the gates came to.

    Args:
        verb: The command.
        gates: At least one; all of them have to pass.
        sentence: The numbers, after the verdict in capitals.
        junit_file: Written whole; None leaves it out.
        tables: What the gates are about, for the summary of a job on GitHub.
        report: The page.
        quiet: Say nothing when it passed.
        announce: Put the verdict in capitals before the sentence.

    Raises:
        GateError: When one has not passed; the files are there.
    """
    if junit_file is not None:
        write_whole(junit_file, junit(f"judgec {verb}", gate_cases(verb, gates)))
    if summary := os.environ.get(SUMMARY):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(markdown(verb, gates, tables, report))
    verdict = worst(gate.verdict for gate in gates)
    said = announced(verdict, sentence) if announce else sentence
    if verdict != "passed":
        raise GateError(said)
    if not quiet:
        say(said)
