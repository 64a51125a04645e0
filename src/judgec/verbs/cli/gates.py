"""Ends a command that was asked for a gate: the build server is told, and only a gate that passed exits 0."""

import os
from collections.abc import Sequence
from pathlib import Path

from judgec.errors import GateError, UserError
from judgec.labels.splits import write_whole
from judgec.report.gates import Gate, gate_cases, markdown
from judgec.report.junit import junit
from judgec.report.screen import TextTable
from judgec.stats.intervals.gate import announced, worst
from judgec.verbs.cli.output import say

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
