"""``judgec init``."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from judgec.errors import UserError
from judgec.verbs.cli.shell import JsonOption, VerboseOption, command_of
from judgec.verbs.options.init import InitOptions

if TYPE_CHECKING:
    from judgec.verbs.init import LabelSetup

NONE = "-"  # typed for nothing at all


@command_of(InitOptions, project=False)
def init(
    options: InitOptions,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing: write what is seen.")] = False,
    verbose: VerboseOption = False,
    json: JsonOption = False,
) -> None:
    """Look at your labels and write judgec.toml beside them, so that no command needs to be told again.

    Example: judgec init labels.xlsx
    """
    from judgec.lm.watch import Silent
    from judgec.verbs.cli.output import print_report, show
    from judgec.verbs.init import proposed, proposed_report, written_report

    found = proposed(options, Silent())
    found = found.unasked() if yes else found
    if not json:
        print_report(proposed_report(found), verbose=verbose)
    if yes:
        found.require_sure()
    while not yes and not _agreed("Write this?", sure=not found.proposal.unsure):
        options = _corrected(options, found)
        found = proposed(options, Silent())
        print_report(proposed_report(found), verbose=verbose)
    if not yes and found.project.scale is not None and not found.project.scale.meanings:
        found = _with_meanings(found)
    found.write()
    show(written_report(found), json=json)


def _answer(question: str, usual: str) -> str:
    """What somebody types; the usual where they press Enter.

    Raises:
        UserError: When nobody is there to answer.
    """
    print(f"{question} [{usual}] " if usual else f"{question} ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        print(file=sys.stderr)
        raise UserError("judgec init: nobody answers; a terminal is needed to ask. Add --yes to write what is seen.")
    return line.strip() or usual


def _agreed(question: str, *, sure: bool) -> bool:
    """Whether somebody says yes; Enter says so only of what is sure."""
    return _answer(question, "Y/n" if sure else "y/N").casefold() in {"y", "yes", "j", "ja", *(["y/n"] * sure)}


def _corrected(options: InitOptions, found: "LabelSetup") -> InitOptions:
    """Ask for each part; Enter keeps it."""
    from judgec.lm.spec import NO_LM
    from judgec.records.conversation import DIALOGUE, TURNS
    from judgec.records.tasks.registry import TASKS, as_task
    from judgec.table.rows.columns import as_names

    proposal, project = found.proposal, found.project
    task = as_task(_answer(f"What is labelled ({', '.join(TASKS)})?", proposal.task))
    spec = TASKS[task]
    theirs = {ours: column for ours, column in found.roles() if ours != "annotator" or not proposal.annotators}
    columns = {}
    labels = () if proposal.annotators else spec.labels if not spec.by_aspect else ()
    asked = [name for name in spec.inputs if name in theirs or name not in {*TURNS, DIALOGUE}]  # found, or not there
    for ours in (*asked, "annotator", *labels):
        column = _answer(f"Which column is {ours}? ({NONE}: none)", theirs.get(ours, NONE))
        if column not in {NONE, ours}:
            columns[column] = ours
    raters = _answer(
        f"Columns of one annotator each, with commas? ({NONE}: none)", ",".join(proposal.annotators) or NONE
    )
    annotators = () if raters == NONE else as_names(raters)
    scale = project.scale
    usual = ",".join(map(str, scale.grades)) if scale else NONE
    grades = _answer("The grades, worst first?", usual)
    at = _answer("Accepted from grade?", str(scale.accept_at) if scale and scale.accept_at is not None else NONE)
    name = _answer("Name of the judge?", project.name or "")
    model = _answer(f"The model that the judge asks? ({NONE}: none)", project.lm or NONE)
    return replace(
        options,
        task=task,
        columns=columns,
        annotators=annotators,
        grades=options.grades if grades in {usual, NONE} else as_names(grades, "--grades"),
        accept_at=None if at == NONE else at,
        name=name,
        lm=NO_LM if model == NONE else model,
    )


def _with_meanings(found: "LabelSetup") -> "LabelSetup":
    """Ask what the grades mean; Enter at the first leaves all of them out."""
    scale = found.project.scale
    assert scale is not None  # as its caller looked
    meanings: list[str] = []
    for grade in scale.grades:
        said = _answer(f"What does {grade} mean, in a sentence? (Enter: leave out)", "")
        if not said:
            return found
        meanings.append(said)
    said_so = scale.model_copy(update={"meanings": tuple(meanings)})
    return replace(found, project=found.project.model_copy(update={"scale": said_so}))
