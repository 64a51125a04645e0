"""``judgec.rubric``: what a compiled prompt says that the rubric did not, for a person to accept, edit or refuse."""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from judgec.compile.search.candidates import split_rubric
from judgec.errors import UserError
from judgec.labels.split.family import write_whole
from judgec.lm.watch import Watch
from judgec.raters.judge import load_judge
from judgec.raters.programs import Program
from judgec.raters.registry import judge_module
from judgec.records.counts import plural
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.table.datasheet import NAME, find_datasheet, read_datasheet
from judgec.table.regular import seen_at
from judgec.verbs.options.rubric import ALL, RubricOptions
from judgec.verbs.verb import verb
from judgec.verbs.workspace import Workspace


@dataclass(frozen=True)
class Rubric:
    """Lines that a judge is told beyond the rubric that its labels came with.

    Args:
        judge: ``NAME@VERSION``.
        added: Lines of its prompt that the rubric lacks, in order; numbered from 1.
        dropped: Lines of the rubric that its prompt left out.
        datasheet: Where accepted lines go; empty where the labels' file is not known.
        accepted: What was written there, as written.
        report: What ``rubric --json`` prints.
    """

    judge: str
    added: tuple[str, ...]
    dropped: tuple[str, ...]
    datasheet: str
    accepted: tuple[str, ...]
    report: Mapping[str, object]

    def __repr__(self) -> str:
        return f"<Rubric of {self.judge}: {plural(len(self.added), 'line')} added, {len(self.accepted)} accepted>"


@verb(RubricOptions)
def rubric(options: RubricOptions, watch: Watch) -> Rubric:
    """Show what a judge's prompt says that its rubric did not, and take over what a person accepts.

    A compile may name criteria that experts' reasons mention. Their text comes from whoever wrote the labels, so that
    nothing is taken over unread: lines that are accepted, as they are or in other words, join ``instructions`` under
    ``[judge]`` of the datasheet, which the next compile holds against the prompt as it is; the others stay out.
    ``all`` writes the judge's whole instructions, also without what they dropped.

    Raises:
        UserError: No such judge, no such line, or a datasheet that cannot be changed.

    Example:
        >>> found = judgec.rubric("sensors@latest")
        >>> found.added, found.accepted  # it asks no model
        ((), ())
    """
    program = Workspace(options.home).load(options.judge)
    name = f"{program.card.name}@{program.card.version}"
    watch.stage("rubric", name)
    own, told = _instructions(program)
    sheet = _sheet(options, program)
    kept = read_datasheet(str(_labels(options, program))).instructions if sheet is not None else ""
    before, after = (kept or own).splitlines() if told else [], told.splitlines()
    changes = list(difflib.ndiff(before, after))
    added = tuple(one[2:].strip() for one in changes if one.startswith("+ ") and one[2:].strip())
    dropped = tuple(one[2:].strip() for one in changes if one.startswith("- ") and one[2:].strip())
    chosen = _chosen(options, added)
    if chosen:
        if sheet is None:
            raise UserError(f"rubric {name}: the file of its labels is not known here. Name it with --labels FILE.")
        whole = told if options.accept == (ALL,) and not options.edit else "\n".join([*before, *chosen])
        write_whole(sheet, _with_instructions(sheet, whole))
    report = {
        "judge": name,
        "added": [*added],
        "dropped": [*dropped],
        "datasheet": "" if sheet is None else str(sheet),
        "accepted": [*chosen],
    }
    return Rubric(name, added, dropped, str(sheet or ""), chosen, report)


def rubric_report(found: Rubric) -> Report:
    """The lines as a diff, and what was taken over."""
    rows = [("", "-", line) for line in found.dropped]
    rows += [(str(number), "+", line) for number, line in enumerate(found.added, 1)]
    if not rows:
        return Report(data=found.report, lines=[f"{found.judge} adds no line to its rubric."])
    said = [f"written: {plural(len(found.accepted), 'line')} into {found.datasheet}"] if found.accepted else []
    commands = [] if found.accepted or not found.added else [f"judgec rubric {found.judge} --accept 1"]
    return Report(
        data=found.report,
        tables=[TextTable(f"{found.judge} beside its rubric", ("", "", "line"), rows)],
        lines=said,
        next=commands,
    )


def _instructions(program: Program) -> tuple[str, str]:
    """Instructions of the judge as it was, and as it is; each without the meanings of the grades.

    Both are empty where it has no prompt of its own.
    """
    card, judge = program.card, load_judge(program)
    if not judge.asks_lm or judge.joint is not None or card.settings.get("kind") == "recorded":
        return "", ""
    plain = judge_module(card.task, card.scale, card.aspects, card.fields, card.languages)
    own, told = (module.predictors()[0].signature.instructions for module in (plain, judge.module))
    return split_rubric(own)[0], split_rubric(told)[0]


def _labels(options: RubricOptions, program: Program) -> Path | None:
    source = program.report.get("source")
    known = source.get("path") if isinstance(source, dict) else None
    path = options.labels or known
    there = bool(path) and (Path(str(path)).is_file() or Path(str(path)).is_dir())
    return Path(str(path)) if there else None


def _sheet(options: RubricOptions, program: Program) -> Path | None:
    """The datasheet beside the labels, or the one that will be there; None where the labels are not found."""
    path = _labels(options, program)
    if path is None:
        if options.labels is not None:
            seen = seen_at(Path(options.labels))
            raise UserError(f"--labels {options.labels}: {seen}; that of the judge's labels is needed. Name it.")
        return None
    return find_datasheet(str(path)) or (path / NAME if path.is_dir() else path.parent / f"{path.stem}.{NAME}")


def _chosen(options: RubricOptions, added: tuple[str, ...]) -> tuple[str, ...]:
    """The accepted lines in their order, those that were edited in the person's words."""
    valid = f"1 to {len(added)}" if added else "none: its prompt adds no line"
    edited: dict[int, str] = {}
    for one in options.edit:
        number, equals, text = one.partition("=")
        if not (equals and text.strip() and number.strip().isdigit() and 1 <= int(number) <= len(added)):
            raise UserError(f"--edit {one}: N=TEXT is valid, with a number of {valid}. Give both.")
        edited[int(number)] = " ".join(text.split())
    taken = set(range(1, len(added) + 1)) if options.accept == (ALL,) else set()
    for number in () if options.accept == (ALL,) else options.accept:
        if not (number.isdigit() and 1 <= int(number) <= len(added)):
            raise UserError(f"--accept {number}: {ALL} and numbers are valid, {valid}. Choose of them.")
        taken.add(int(number))
    return tuple(edited.get(number, added[number - 1]) for number in sorted(taken | set(edited)))


def _with_instructions(sheet: Path, text: str) -> str:
    """The datasheet with these instructions, and all else as it is.

    Raises:
        UserError: Where it says them in a way that cannot be replaced.
    """
    old = sheet.read_text(encoding="utf-8") if sheet.exists() else ""
    content = tomllib.loads(old)
    before, header, rest = old.partition("[judge]")
    if header:  # the only key of this table is instructions
        lines = rest.splitlines(keepends=True)
        ends = [n for n, line in enumerate(lines) if line.startswith("[")]
        rest = "".join(lines[ends[0] :]) if ends else ""
    said = "".join(char for char in text.strip() if char == "\n" or char.isprintable())
    quoted = said.replace("\\", "\\\\").replace('"', '\\"')
    new = f'{before.rstrip()}\n\n[judge]\ninstructions = """\n{quoted}"""\n\n{rest}'.strip() + "\n"
    try:
        read = tomllib.loads(new)
    except tomllib.TOMLDecodeError:
        read = {}
    if read != {**content, "judge": {"instructions": said}}:
        raise UserError(
            f"{sheet}: its [judge] is written in a way that cannot be replaced; a table of its own is valid. Write "
            "instructions there by hand."
        )
    return new
