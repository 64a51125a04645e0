"""The report of ``judgec judge``: counts, the corrected rate, and a next command that works as printed."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path

from judgec.labels.project import find_project
from judgec.records.tasks.spec import ASPECT_PREFIX, MODE_PREFIX
from judgec.report.numbers import number
from judgec.report.report import Report
from judgec.verbs.cli.output import command
from judgec.verbs.judge_file import FileJudgments, Tally

MOST_REASONS = 5  # for missing judgments; the rows have them all


def judged_report(found: FileJudgments) -> Report:
    """Counts, notes and the next command."""
    agreement = found.report["agreement"]
    kappa = agreement["fleiss_kappa"] if isinstance(agreement, dict) else None
    among = [f"the verdicts among themselves: Fleiss' kappa {number(kappa)}"] if isinstance(kappa, float) else []
    return Report(
        verdict=[found.verdict],
        lines=[*asked_lines(found.report, found.tally), *among],
        notes=notes_of(found.report),
        next=next_step(found),
    )


def asked_lines(report: Mapping[str, object], tally: Tally) -> list[str]:
    """How many were left unscored and why, and what was asked."""
    return [
        *(f"unscored {count}: {reason}" for reason, count in tally.reasons.most_common(MOST_REASONS)),
        f"{report['lm_calls']} LM calls, {report['journaled']} from the journal",
    ]


def notes_of(report: Mapping[str, object]) -> list[str]:
    """The notes of a report."""
    notes = report["notes"]
    return notes if isinstance(notes, list) else []


def next_step(found: FileJudgments) -> list[str]:
    """How far the judge agrees with the labels in the file; where it has none, a sheet to grade on."""
    options, items = found.options, found.items
    if options.inputs and (pair := _measured(found)):
        expert, judge = pair
        typed = ["agreement", str(options.out), "--expert", expert, "--judge", judge, *_cluster(found)]
        return [command(*typed, home=options.home if found.in_folds else Path())]
    if items.labelled or items.learned.all():
        return []
    project = find_project(str(options.file))
    known = {} if project is None else project.columns
    told = [f"{theirs}={ours}" for theirs, ours in options.columns.items() if known.get(theirs) != ours]
    maps = [part for one in told for part in ("--map", one)]
    sheets = (options.out.with_name(f"{options.out.stem}.to-grade{n or ''}.csv") for n in count())
    sheet = next(path for path in sheets if not path.exists())
    typed = ["labels", str(options.file), *maps, "--judge", found.judges[0], "--export", str(sheet)]
    return [command(*typed, home=options.home)]


def _measured(found: FileJudgments) -> tuple[str, str] | None:
    """An expert's column and the judge's beside it."""
    rename = found.options.columns
    for expert in found.items.labelled:
        ours = rename.get(expert, expert)
        if ours.startswith(MODE_PREFIX) and len(found.cards[0].aspects) > 1:
            judged = found.names.added.get("grades", found.names.added.get(f"grade.{ours.removeprefix(MODE_PREFIX)}"))
            if judged is not None:
                column = judged.removesuffix(ours.removeprefix(MODE_PREFIX)).removesuffix(".")
                return f"{expert.removesuffix(ours.removeprefix(MODE_PREFIX))}*", f"{column}.*"
        wanted = ours if ours == "accept" or ours.startswith(ASPECT_PREFIX) else "grade"
        if wanted in found.names.added:
            return expert, found.names.added[wanted]
    return None


def _cluster(found: FileJudgments) -> list[str]:
    """Answers to one query are not independent."""
    rename = found.options.columns
    theirs = {rename.get(name, name): name for name in found.items.columns}
    column = theirs.get("query_id", theirs.get("query"))
    return [] if column is None else ["--cluster", column]
