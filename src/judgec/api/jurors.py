"""Finds the compiled judges that sit on a jury, and the models that they ask."""

from collections.abc import Mapping

from judgec.api.options.compile_judge import CompileJudgeOptions
from judgec.compiler.jurors import juror_name
from judgec.errors import UserError
from judgec.lm.spec import LMSpec
from judgec.store import programs
from judgec.store.programs import Program

LEAST = 2


def jury_of(options: CompileJudgeOptions) -> dict[str, Program]:
    """The jurors by ``NAME@VERSION``; empty where nobody asked for a jury.

    Raises:
        UserError: A single one, one twice, none of that name, or an option that a jury does not go with.
    """
    if not options.jury:
        return {}
    said = f"--jury {','.join(options.jury)}"
    others = {
        "--lm": options.lm != CompileJudgeOptions.lm,
        "--verdicts": bool(options.verdicts),
        "--from": options.start is not None,
        "--instructions": bool(options.instructions),
        "--optimizer": options.optimizer != CompileJudgeOptions.optimizer,
        "--reflection-lm": options.reflection_lm is not None,
        "--factors": bool(options.factors),
        "--has-citations": options.has_citations,
    }
    if given := [option for option, has in others.items() if has]:
        raise UserError(f"{said} and {given[0]}: jurors have their own prompts and models. Leave {given[0]} out.")
    loaded = [programs.load(options.home, name) for name in options.jury]
    found = {juror_name(program): program for program in loaded}
    if len(found) < len(loaded):
        twice = next(name for name in found if [juror_name(one) for one in loaded].count(name) > 1)
        raise UserError(f"{said}: {twice} more than once; different judges are valid. Name each once.")
    if len(found) < LEAST:
        raise UserError(f"{said}: one judge; two or more are valid. Name another, or compile without --jury.")
    return found


def jury_models(jury: Mapping[str, Program], options: CompileJudgeOptions) -> LMSpec:
    """The jurors' models.

    Args:
        jury: From ``jury_of``.
        options: With the endpoint of all of them.
    """
    base = options.api_base
    members = {
        name: LMSpec.from_card(program.card.lm, api_base=base, asks=not program.card.evidence_alone)
        for name, program in jury.items()
    }
    return LMSpec.jury(members, api_base=base)


def seat(jury: Mapping[str, Program], name: str) -> str:
    """``NAME@VERSION`` of a juror that is called by its name, or by both; without a jury, the name as it is.

    Raises:
        UserError: No juror has this name.
    """
    found = [one for one, program in jury.items() if name in {one, program.card.name}]
    if jury and len(found) != 1:
        raise UserError(f"{name}: {'no' if not found else 'more than one'} juror; one of {', '.join(jury)} is valid.")
    return found[0] if found else name
