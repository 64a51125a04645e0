"""Names the candidates of a compile: prompts with a model, recorded verdicts, functions, compiled judges, evidence.

``--lm``, ``--judges`` and ``--jury`` are short for one or several of them.
"""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from judgec.compile.beside import check_judge, judge_name, of_judge, of_task
from judgec.compile.manners import MANNERS
from judgec.compile.search.candidates import Candidate
from judgec.compile.search.registry import NONE
from judgec.errors import UserError
from judgec.labels.rows.ranges import MARK, with_range
from judgec.lm.functions import Function
from judgec.lm.spec import NO_LM, RECORDED, LMSpec, members_of
from judgec.rag.functions import PYTHON, python_function
from judgec.raters import programs
from judgec.raters.predictors import function_module
from judgec.raters.programs import Program
from judgec.raters.replies import is_form
from judgec.raters.tree import EVIDENCE
from judgec.records.card import ProgramCard
from judgec.records.label import LabelSet
from judgec.table.regular import seen_at
from judgec.verbs.options.compile_judge import CompileJudgeOptions

if TYPE_CHECKING:
    from judgec.verbs.frames import Source

LEAST = 2
POOL, BEST, CASCADE = "pool", "best", "cascade"
ALL, AUTO = "all", "auto"  # of --panel
OWN_PROMPT = "prompt:"
FORMS = (
    "a model (provider/name), prompt:FILE[@MODEL], recorded:FILE[#GLOB], python:module:function, NAME@VERSION of a "
    "judge, evidence"
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A model that is asked with the prompt of the task, or with one of yours.

    Args:
        model: ``provider/name``.
        name: What it is called among judges; by default the model.
        instructions: In place of the task's with its rubric, word for word; the grades are in the reply's form.
        manner: How the grade is found, of ``judgec.compile.manners.MANNERS``: a sentence that is added.
        verdict: The form of a verdict that the instructions ask for, with ``{v}`` in the place of the grade
            (``Puntuación: {v}``): it and judgec's own form are read, and no other statement.
    """

    model: str
    name: str | None = None
    instructions: str | None = None
    manner: str = "plain"
    verdict: str | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """Verdicts that one judge once gave on the labelled items.

    Args:
        name: What it is called among judges.
        verdicts: A table of ``item_id`` and ``grade`` or ``preference``.
        range: Its worst and best number, where its numbers are not grades of the scale: ``(0, 1)``.

    Raises:
        UserError: A range of one number.
    """

    name: str
    verdicts: "Source" = field(repr=False)
    range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.range is not None and self.range[0] == self.range[1]:
            raise UserError(f"Recorded {self.name}: range {self.range}; two different numbers, the worst first.")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Features of the items alone: no model is asked."""


_Side: TypeAlias = Prompt | Function | Program
_Given: TypeAlias = "_Side | Evidence | Recorded | RecordedFile"


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of a compile.

    Args:
        options: With what they come to: ``lm``, ``verdicts``, ``panel``, ``cascade``.
        beside: Those that are asked side by side, by name; none where one prompt is searched for.
        recorded: The options that name recorded verdicts beside them; None where none are.
    """

    options: CompileJudgeOptions
    beside: Mapping[str, _Side] = field(default_factory=dict)
    recorded: CompileJudgeOptions | None = None

    @property
    def functions(self) -> dict[str, object]:
        """Functions that are called, by name."""
        return dict(self.options.functions) | {
            name: one for name, one in self.beside.items() if isinstance(one, Function)
        }

    def models(self, recorded: Mapping[str, LMSpec] = MappingProxyType({})) -> LMSpec:
        """The model that is asked, and where the verdicts of the others are.

        Args:
            recorded: Where those of each recorded judge are, by its name.

        Raises:
            UserError: A recorded judge has the name of one that is asked.
        """
        base = self.options.api_base
        if not self.beside:
            return LMSpec.parse(self.options.lm, api_base=base)
        if twice := sorted(self.beside.keys() & recorded.keys()):
            raise UserError(f"--candidate: {twice[0]} twice; each needs a name of its own. Say NAME=SPEC.")
        asked = {name: _model(one, base) for name, one in self.beside.items()}
        return LMSpec.jury({**asked, **recorded}, api_base=base)

    def asked(self, labels: LabelSet) -> tuple[Candidate, ...]:
        """They for these labels.

        Raises:
            UserError: A compiled judge that judges something else.
        """
        found = []
        for name, one in self.beside.items():
            if isinstance(one, Program):
                check_judge(one, labels)
                found.append(of_judge(one, labels))
            elif isinstance(one, Function):
                found.append(Candidate(name, function_module(labels.fields, labels.aspects, labels.scale)))
            else:
                told = (one.instructions, one.manner, one.verdict) if isinstance(one, Prompt) else (None,)
                found.append(of_task(name, labels, *told))
        return tuple(found)

    def named(self, name: str, recorded: Collection[str] = ()) -> str:
        """A candidate by its name, or a compiled judge by its name without a version.

        Args:
            name: As it is typed.
            recorded: Names of recorded judges beside them.

        Raises:
            UserError: There is none.
        """
        if name in recorded:
            return name
        found = [
            one
            for one, side in self.beside.items()
            if name == one or (isinstance(side, Program) and name == side.card.name)
        ]
        if self.beside and len(found) != 1:
            few = "no" if not found else "more than one"
            raise UserError(f"{name}: {few} candidate; one of {', '.join((*self.beside, *recorded))} is valid.")
        return found[0] if found else name


def _model(one: _Side, base: str | None) -> LMSpec:
    if isinstance(one, Function):
        return one.spec
    if isinstance(one, Prompt):
        return LMSpec.parse(one.model, api_base=base)
    return programs.model_of(one.card, api_base=base)


def candidates_of(options: CompileJudgeOptions) -> Candidates:
    """The candidates of a compile.

    Raises:
        UserError: Candidates that do not go together, or with another option.
    """
    if options.prompts is not None:
        return _several_prompts(options, options.prompts)
    if competing(options) and options.lm != NO_LM:
        return _beside(options, [_parsed(options.lm, options), RecordedFile("", None)])
    if not options.candidates:
        if options.combine == BEST:
            options = replace(options, combine=None, panel=BEST)
        if options.combine is not None:
            raise UserError(f"--combine {options.combine}: combines candidates; none is named. Add --candidate.")
        return Candidates(options, _jury(options))
    _check_alone(options)
    return _beside(options, [one if not isinstance(one, str) else _parsed(one, options) for one in options.candidates])


def competing(options: CompileJudgeOptions) -> Mapping[str, str]:
    """The judges beside the labels, which compete unless somebody names candidates in another way."""
    others = (options.candidates, options.jury, options.prompts, options.lm.startswith(RECORDED))
    return {} if any(others) or options.verdicts is not None else options.judges


def _beside(options: CompileJudgeOptions, given: Sequence[_Given]) -> Candidates:
    """Candidates as they are compared; a recorded one of no file is the columns of the labels."""
    options = replace(_combined(options, given), candidates=(), combine=None)
    recorded = [one for one in given if isinstance(one, (Recorded, RecordedFile))]
    sides = [one for one in given if not isinstance(one, (Recorded, RecordedFile, Evidence))]
    if recorded and not sides:
        return Candidates(_with_recorded(options, recorded))
    if not sides:
        return Candidates(replace(options, lm=NO_LM))
    if len(sides) == 1 and isinstance(sides[0], Prompt) and sides[0].instructions is None and not recorded:
        return Candidates(replace(options, lm=sides[0].model))
    prompts = any(isinstance(one, Prompt) for one in sides)
    _check_beside(options, "--candidate", searched=prompts and searches(options))
    told = replace(options, optimizer=CompileJudgeOptions.optimizer, reflection_lm=None)  # of the prompts beside them
    return Candidates(options, _by_name(sides), _with_recorded(told, recorded) if recorded else None)


def _several_prompts(options: CompileJudgeOptions, n: int) -> Candidates:
    """One model with so many prompts of the task, each with another manner; as few as are enough become the judge.

    Raises:
        UserError: Options that name other candidates or change the one prompt, or no model with a prompt.
    """
    said = f"--prompts {n}"
    others = (
        ("--candidate", bool(options.candidates)),
        ("--combine", options.combine is not None),
        *_names_candidates(options),
    )
    for option, given in others:
        if given:
            raise UserError(f"{said} and {option}: prompts are of one model. Leave {option} out.")
    if options.lm == NO_LM or options.lm.startswith((RECORDED, PYTHON)):
        raise UserError(f"{said}: {options.lm} has no prompt; a model is needed. Add --lm provider/name.")
    _check_beside(options, said)
    sides = [Prompt(options.lm, manner, manner=manner) for manner in list(MANNERS)[:n]]
    joined = options.panel is not None or bool(options.cascade)
    return Candidates(replace(options, prompts=None, panel=options.panel if joined else AUTO), _by_name(sides))


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """A file of recorded verdicts, and a pattern of the names of its judges."""

    file: str
    glob: str | None


def _parsed(text: str, options: CompileJudgeOptions) -> Prompt | RecordedFile | Function | Program | Evidence:
    """A candidate as it is typed: ``[NAME=]SPEC``."""
    where = f"--candidate {text}"
    name, spec = _split(text)
    if spec == EVIDENCE:
        return Evidence()
    if spec.startswith(RECORDED):
        rest, within = with_range(spec.removeprefix(RECORDED))
        file, _, glob = rest.partition("#")
        if name:
            raise UserError(f"{where}: recorded judges have names of their own. Leave {name}= out.")
        return RecordedFile(file if within is None else f"{file}{MARK}{within}", glob or None)
    if spec.startswith(PYTHON):
        reference, within = with_range(spec)
        call = python_function(reference, Path(), "--candidate")
        return Function(name, call, None if within is None else (within.worst, within.best))
    if spec.startswith(OWN_PROMPT):
        return _own_prompt(where, name, spec.removeprefix(OWN_PROMPT), options)
    if "/" in spec:
        return Prompt(LMSpec.parse(spec).model, name or None)
    if name:
        raise UserError(f"{where}: a compiled judge keeps its name. Leave {name}= out.")
    try:
        return programs.load(options.home, spec)
    except UserError as error:
        raise UserError(f"{where}: {error} Else one of these is valid: {FORMS}.") from None


def _own_prompt(where: str, name: str, spec: str, options: CompileJudgeOptions) -> Prompt:
    """A prompt of one's own, put to the model behind it or to ``--lm``.

    Raises:
        UserError: No such file, an empty one, or no model.
    """
    said, _, model = spec.partition("@") if not Path(spec).exists() else (spec, "", "")
    model, path = model or options.lm, Path(said)
    if not path.is_file() or not (text := path.read_text(encoding="utf-8", errors="replace").strip()):
        seen = "empty" if path.is_file() else seen_at(path)
        raise UserError(f"{where}: {said} is {seen}; a prompt as text is needed.")
    if model == NO_LM or model.startswith((RECORDED, PYTHON)):
        raise UserError(f"{where}: {model} has no prompt; a model is needed. Say {OWN_PROMPT}{said}@provider/name.")
    verdict, text = _declared(where, said, text)
    return Prompt(LMSpec.parse(model).model, name or path.stem, text, verdict=verdict)


def _declared(where: str, file: str, text: str) -> tuple[str | None, str]:
    """The form of a verdict that the first line of a prompt declares (``verdict = 'Nota: {v}'``), and the rest of it.

    Raises:
        UserError: It is no form, or nothing follows.
    """
    first, _, rest = text.partition("\n")
    if not re.match(r"verdict\s*=", first):
        return None, text
    try:
        form = tomllib.loads(first).get("verdict")
    except tomllib.TOMLDecodeError:
        form = None
    if not isinstance(form, str) or not is_form(form) or not rest.strip():
        raise UserError(
            f"{where}: {file}:1: {first}; verdict = 'Nota: {{v}}' above a prompt is valid. Correct the line."
        )
    return form, rest.strip()


def _split(text: str) -> tuple[str, str]:
    """Name and rest of a candidate; a function without one is called as it is."""
    name, equals, spec = text.partition("=")
    if not equals or any(mark in name for mark in ":/#"):
        name, spec = "", text
    if spec.startswith(PYTHON) and not name:
        name = with_range(spec)[0].rpartition(":")[2]
    return name, spec


def functions_to_type(card: ProgramCard, options: CompileJudgeOptions) -> tuple[str, ...]:
    """Options to type behind a command that asks a judge of functions.

    Args:
        card: Of the judge.
        options: That it was compiled with.
    """
    called = members_of(card.lm)
    typed = [_split(one) for one in options.candidates if isinstance(one, str)]
    known = {name: with_range(spec)[0].removeprefix(PYTHON) for name, spec in typed if spec.startswith(PYTHON)}
    known |= {name: one for name, one in options.functions.items() if isinstance(one, str)}
    return tuple(word for name in called if name in known for word in ("--function", f"{name}={known[name]}"))


def _by_name(sides: Sequence[_Side]) -> dict[str, _Side]:
    found: dict[str, _Side] = {}
    for one in sides:
        name = _name_of(one)
        if name in found:
            raise UserError(f"--candidate: {name} twice; each needs a name of its own. Say NAME=SPEC.")
        found[name] = one
    return found


def _check_alone(options: CompileJudgeOptions) -> None:
    """Refuse what says the same in another way, or what candidates side by side have no use for."""
    for option, given in _names_candidates(options):
        if given:
            raise UserError(f"--candidate and {option}: both say what is compared; one is valid. Leave {option} out.")


def _names_candidates(options: CompileJudgeOptions) -> tuple[tuple[str, bool], ...]:
    """Options that name candidates in another way, and whether they were given."""
    return (
        ("verdicts", options.verdicts is not None),
        ("--jury", bool(options.jury)),
    )


def searches(options: CompileJudgeOptions) -> bool:
    """True if the prompts of several candidates are searched for: somebody says how, or who rewrites them."""
    return options.optimizer not in (CompileJudgeOptions.optimizer, NONE) or options.reflection_lm is not None


def _check_beside(options: CompileJudgeOptions, said: str, *, searched: bool = False) -> None:
    """Refuse what changes a prompt, beside candidates that are asked as they are or whose prompts are searched for."""
    others = {
        "--instructions": bool(options.instructions),
        "--optimizer": options.optimizer not in (CompileJudgeOptions.optimizer, NONE) and not searched,
        "--reflection-lm": options.reflection_lm is not None and not searched,
        "--factors": bool(options.factors),
        "--has-citations": options.has_citations,
    }
    if given := [option for option, has in others.items() if has]:
        raise UserError(f"{said} and {given[0]}: candidates are asked as they are. Leave {given[0]} out.")


def _combined(options: CompileJudgeOptions, given: Sequence[object]) -> CompileJudgeOptions:
    """``--combine`` as ``--panel`` and ``--cascade``.

    Raises:
        UserError: None of its words, or said twice.
    """
    if options.combine is None:
        return options
    said = f"--combine {options.combine}"
    if options.panel is not None or options.cascade:
        raise UserError(f"{said} and {'--panel' if options.panel is not None else '--cascade'}: one is valid.")
    how, _, rest = options.combine.partition(":")
    if how == BEST and not rest:
        return replace(options, panel=BEST)
    if how in {POOL, AUTO} and not (how == AUTO and rest):
        several = len(given) - sum(isinstance(one, Evidence) for one in given) > 1 or any(
            isinstance(one, RecordedFile) for one in given
        )
        if several:
            return replace(options, panel=rest or (ALL if how == POOL else AUTO))
        if how == AUTO:
            return options
        raise UserError(f"{said}: one candidate; two or more are pooled. Name another.")
    if how == CASCADE:
        names = tuple(filter(None, rest.split(",")))
        if not names and any(isinstance(one, RecordedFile) for one in given):
            raise UserError(
                f"{said}: a file may hold several recorded judges; cascade:FIRST,THEN with the names of two is valid."
            )
        return replace(options, cascade=names or tuple(map(_name_of, given)))
    raise UserError(f"{said}: best, pool, pool:N, cascade, cascade:FIRST,THEN or auto is valid. Correct it.")


def _name_of(one: object) -> str:
    if isinstance(one, Evidence):
        return EVIDENCE
    if isinstance(one, Program):
        return judge_name(one)
    return str(getattr(one, "name", None) or getattr(one, "model", ""))


def _with_recorded(options: CompileJudgeOptions, recorded: Sequence[Recorded | RecordedFile]) -> CompileJudgeOptions:
    files = [one for one in recorded if isinstance(one, RecordedFile)]
    if files and len(recorded) > 1:
        raise UserError(
            "--candidate: more than one source of recorded verdicts; one file with a column judge is valid. Put them "
            "into one."
        )
    if files and not files[0].file:  # columns of the labels
        return replace(options, lm=NO_LM)
    if files:
        return replace(options, lm=f"{RECORDED}{files[0].file}", verdicts=(files[0],))  # type: ignore[arg-type]  # as below
    names = [one.name for one in recorded if isinstance(one, Recorded)]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise UserError(f"candidates: {twice[0]} twice; each needs a name of its own. Say Recorded(NAME, ...).")
    return replace(options, verdicts=tuple(recorded))  # type: ignore[arg-type]  # as Python may


def _jury(options: CompileJudgeOptions) -> dict[str, _Side]:
    """The jurors by ``NAME@VERSION``; empty where nobody asked for a jury.

    Raises:
        UserError: A single one, one twice, none of that name, or an option that a jury does not go with.
    """
    if not options.jury:
        return {}
    said = f"--jury {','.join(options.jury)}"
    for option, given in (("--lm", options.lm != CompileJudgeOptions.lm), *_names_candidates(options)):
        if given and option != "--jury":
            raise UserError(f"{said} and {option}: jurors have their own prompts and models. Leave {option} out.")
    _check_beside(options, said)
    loaded = [programs.load(options.home, name) for name in options.jury]
    found: dict[str, _Side] = {judge_name(program): program for program in loaded}
    if len(found) < len(loaded):
        twice = next(name for name in found if [judge_name(one) for one in loaded].count(name) > 1)
        raise UserError(f"{said}: {twice} more than once; different judges are valid. Name each once.")
    if len(found) < LEAST:
        raise UserError(f"{said}: one judge; two or more are valid. Name another, or compile without --jury.")
    return found
