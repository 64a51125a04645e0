"""``judgec init``."""

import shlex
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from judgec.errors import UserError
from judgec.verbs.cli.shell import JsonOption, VerboseOption, command_of
from judgec.verbs.options.init import InitOptions

if TYPE_CHECKING:
    from judgec.labels.questions import OpenQuestion
    from judgec.verbs.label_draft import LabelDraft


class NobodyAnswersError(UserError):
    """A question that nobody answers, or whose answer ends it."""


@command_of(InitOptions, project=False)
def init(
    options: InitOptions,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", help="Ask nothing: write what is certain, or say what to type.")
    ] = False,
    verbose: VerboseOption = False,
    json: JsonOption = False,
) -> None:
    """Look at your labels, ask what no table tells, and write judgec.toml beside them.

    Example: judgec init labels.xlsx --annotators ines,marek,tomas --best 5
    """
    from judgec.verbs.cli.output import print_report, show
    from judgec.verbs.init import certain, draft_report, read_draft, read_report, written_report
    from judgec.verbs.label_draft import drafted, sheets_of

    while not yes and len(sheets := sheets_of(options)) > 1:
        said = _line(f"Which of these holds the labels: {', '.join(sheets)}? ")
        if said is None:
            break  # the error says what to type
        named = said if said in sheets else f"{options.file}#{said}"
        options = replace(options, file=named if named in sheets else options.file)
    draft = drafted(options)
    if not json:
        print_report(draft_report(draft), verbose=verbose)
    passed: set[str] = set()
    while not yes and (questions := [one for one in draft.questions() if one.text not in passed]):
        passed |= {questions[0].text} if questions[0].optional else set()
        try:
            draft = drafted(_answered(draft, questions[0]), draft.proposed)
        except NobodyAnswersError:
            raise
        except UserError as fault:  # a slip of the pen costs no answer that was given before
            print(fault, file=sys.stderr)
            passed.discard(questions[0].text)
    if not yes:
        print(f"What was answered: {draft.typed(())}", file=sys.stderr)
    while not yes and (stop := next((one for one in read_draft(draft).checks if one.stops), None)):
        if (_line(f"{stop.text} Is it right as it is? (y/N) ") or "").casefold() not in {"y", "yes"}:
            raise UserError(f"{options.file}: {stop.text}")
        draft = replace(draft, checked=(*draft.checked, stop.name))
    found = certain(draft)
    if not json:
        print_report(read_report(found), verbose=verbose)
    found.write()
    show(written_report(found), json=json)


def _answered(draft: "LabelDraft", question: "OpenQuestion") -> InitOptions:
    """The options with what somebody answers to a question.

    Raises:
        UserError: Nobody is there to answer, or the answer ends it.
    """
    from judgec.labels.reading import as_reading
    from judgec.labels.rows.ranges import as_judges
    from judgec.records.tasks.spec import PAIR
    from judgec.records.tasks.winners import sides_said
    from judgec.table.rows.columns import ROLE, as_names, as_rename

    options, said = draft.options, _answer(draft, question)
    yes = said.casefold() in {"y", "yes"}
    match question.key:
        case "columns":
            typed = {} if yes else as_rename(as_names(said, "columns"), "columns")
            asked = {name: draft.roles.columns[name] for name in draft.roles.asked if name not in typed}
            kept = {theirs: ours for theirs, ours in asked.items() if ours not in typed.values()}
            return replace(options, columns={**options.columns, **kept, **typed})
        case "ranges":
            ends = {} if said == question.usual else as_judges(f"{question.graders[0]}={said}")
            return replace(options, judges={**options.judges, **ends})
        case "reasons":
            column, _, whose = shlex.split(question.options[0])[1].rpartition("=")
            return replace(options, columns={**options.columns, **({column: whose} if yes else {})})
        case "turn" | "orders":
            return replace(options, **{question.key: getattr(as_reading(**{question.key: said}), question.key)})
        case "roles":
            columns = as_rename([f"{ROLE}{question.graders[0]}={said}"])
            return replace(options, columns={**options.columns, **columns})
        case "item":
            unused = as_rename(shlex.split(question.options[0])[1:])
            own = {name: draft.roles.columns[name] for name in unused} if said == question.usual else unused
            return replace(options, columns={**options.columns, **own})
        case "beside":
            pair = said.casefold() == "pair"
            both = dict(zip(draft.roles.beside, PAIR, strict=True))
            return replace(options, columns={**options.columns, **(both if pair else {said: "answer"})})
        case "names" | "grade" | "order":
            ours = {"names": "annotator", "grade": draft.label}.get(question.key, question.key)
            return replace(options, columns={**options.columns, said: ours})
        case "graders":
            return _with_graders(draft, said)
        case "unnamed":
            if not yes:
                raise NobodyAnswersError(
                    f"{options.file}: no person's grades; name the columns of people. Add --annotators A,B."
                )
            own = {name: draft.roles.columns.get(name, name) for name in draft.unnamed}
            return replace(options, columns={**options.columns, **own})
        case "scale":
            return _with_scale(draft, said)
        case "winner_words":
            sides = sides_said(said, draft.values())
            own = {f"{name}:{word}": side for name in question.graders for word, side in sides.items()}
            return replace(options, winner_words={**options.winner_words, **(own or sides)})
        case _:
            words = question.options[0].removeprefix("--missing ").strip("'\"") if yes else said
            return replace(options, missing=as_names(words))


def _with_graders(draft: "LabelDraft", said: str) -> InitOptions:
    """The options with who graded: people as they were said, and judges among the others; or with what columns are.

    Raises:
        UserError: Somebody who did not grade.
    """
    from judgec.labels.rows.ranges import as_judges
    from judgec.labels.rows.raters import rejoined
    from judgec.table.rows.columns import as_names, as_rename

    if "=" in said:  # aspects, of which one person said something each
        return replace(draft.options, columns={**draft.options.columns, **as_rename(as_names(said))})
    people = _known(draft, rejoined(as_names(said), draft.graders))
    left = [name for name in draft.graders if name not in people]
    judges = _line(f"Which are judges: {', '.join(left)}? (Enter: none) ") if left and said != "*" else ""
    own = as_judges(judges) or draft.options.judges
    _known(draft, own)
    return replace(draft.options, annotators=people, judges=own)


def _with_scale(draft: "LabelDraft", said: str) -> InitOptions:
    """The options with the best grade or all, and from which on one is accepted.

    Raises:
        UserError: What is no grade.
    """
    from judgec.records.tasks.grade import ONE_TO_FIVE, ONE_TO_FIVE_ACCEPT
    from judgec.table.rows.columns import as_names

    whole = "," in said or ".." in said
    told = replace(draft.options, best=None if whole else said, grades=as_names(said) if whole else ())
    scale = replace(draft, options=told).scale()
    if scale is not None and scale.level == "nominal":
        return told
    usual = str(ONE_TO_FIVE_ACCEPT) if scale is not None and scale.grades == ONE_TO_FIVE else ""
    at = _line(f"Accepted from which grade? (Enter: {usual or 'none'}) ")
    told = replace(told, accept_at=at or told.accept_at or usual or None)
    replace(draft, options=told).scale()
    return told


def _known(draft: "LabelDraft", names: Iterable[str]) -> tuple[str, ...]:
    """The names, each of which graded.

    Raises:
        UserError: One did not.
    """
    found = tuple(names)
    if strange := [name for name in found if name not in (*draft.graders, *draft.table.columns, "*")]:
        raise UserError(f"{', '.join(strange)}: nobody of that name graded; there are {', '.join(draft.graders)}.")
    return found


def _answer(draft: "LabelDraft", question: "OpenQuestion") -> str:
    usual = f"(Enter: {question.usual}) " if question.usual else ""
    said = _line(f"{question.text} {usual}")
    if said is None:
        left = [one for one in draft.questions() if not one.optional]
        rest = f" --yes to go on without{', or add '.join(['', *question.options])}" if question.optional else ""
        raise NobodyAnswersError(f"judgec init: nobody answers. Type {draft.typed(left)}{rest}.")
    return said or question.usual or _answer(draft, question)


def _line(question: str) -> str | None:
    """What somebody types; None where nobody is there."""
    print(question, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        print(file=sys.stderr)
    return line.strip() if line else None
