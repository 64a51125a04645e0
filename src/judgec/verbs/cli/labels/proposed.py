"""The reports of ``judgec init``: what it saw, and what it wrote."""

from pathlib import Path

from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.table.rows.heads import is_low_good, words
from judgec.verbs.cli.output import command
from judgec.verbs.init import LabelSetup


def proposed_report(found: LabelSetup) -> Report:
    """Which column is what, with an example of each, and what was seen of raters and scale."""
    proposal, project, labels = found.proposal, found.project, found.labels
    rows = [(ours, theirs, found.examples.get(theirs, "")) for ours, theirs in found.roles()]
    queries = len({item.query_id for item in labels.items})
    graders = sorted({label.annotator for label in labels.labels})
    why = proposal.why
    title = f"{project.label_path}: task {proposal.task}"
    lines = [
        *([f"task: {why['task']}"] if "task" in why else []),
        *([f"annotators: {why['annotators']}; --annotators A,B,... names others"] if "annotators" in why else []),
        f"{len(labels.items)} items of {queries} queries, graded by {_some(graders)}",
        *_scale(found),
        *[why[key] for key in ("labels", "constant") if key in why],
        *[f"{name} looks like a judge's: {_measured(found, name)}" for name in proposal.judges],
        *([f"not read: {', '.join(proposal.unused)}"] if proposal.unused else []),
        f"judge: {project.name}, asks {project.lm}",
        *[f"note: {note}" for note in found.notes if not note.startswith("Task ")],
        *[f"not sure: {one}" for one in proposal.unsure],
    ]
    return Report(tables=[TextTable(title, ("judgec's", "your column", "for example"), rows)], lines=lines)


def _measured(found: LabelSetup, judge: str) -> str:
    """How a judge is measured: by its column, or by its rows among the annotators'."""
    path = str(found.project.label_path)
    own = found.proposal.labels
    aspect = words(judge)
    same = max(own, key=lambda name: (words(name) <= aspect, len(words(name) & aspect)), default="")
    labels = () if found.proposal.annotators else ("--expert", same)
    who = "" if judge in found.examples else "no annotator, "
    low = is_low_good(judge)  # nothing is turned round by a name alone
    typed = command("agreement", path, *labels, "--judge", judge, *["--reversed"] * low, home=Path())
    return f"{who}{'low is good by its name, ' if low else ''}measured with {typed}"


def _scale(found: LabelSetup) -> list[str]:
    if found.labels.accept_only:
        return ["labels: accept / reject"]
    scale = found.labels.scale
    seen = found.proposal.why.get("scale", "")
    at = f"; accepted from {scale.accept_at}" if scale.accept_at is not None else ""
    order = "" if scale.level == "nominal" else ", worst first"
    grades = ", ".join(map(str, scale.grades))
    return [f"scale {scale.name}{order}: {grades}{at}" + (f" ({seen})" if seen else "")]


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def written_report(found: LabelSetup) -> Report:
    """Where it is, and what comes next."""
    here = found.path.parent == Path()
    file = () if here else (str(found.project.label_path),)
    return Report(
        verdict=[f"wrote {found.path}: commands that are run here, or given a file beside it, need no further options"],
        next=[command("compile-judge", *file, home=Path())],
    )
