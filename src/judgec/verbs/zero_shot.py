"""Makes the papers' judges without any labels: the prompt of a task as it is, measured against nobody."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from judgec.errors import UserError
from judgec.labels.project import find_project
from judgec.labels.reading import read_datasheet
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Account
from judgec.lm.watch import Watch
from judgec.raters import programs
from judgec.raters.judge import uncompiled
from judgec.raters.programs import Program
from judgec.raters.registry import PAPER, WORDING, judge_module
from judgec.raters.signatures import fingerprint
from judgec.raters.tasks.papers import PAPERS
from judgec.records.card import Cost, ProgramCard
from judgec.records.claim import NUGGETS
from judgec.records.judgment import Judgments
from judgec.records.scale import Scale
from judgec.records.tasks.registry import TASKS, as_task, told_by
from judgec.records.tasks.spec import TaskSpec
from judgec.report.numbers import percent
from judgec.table.table import Table
from judgec.table.tables import as_it_stands
from judgec.tournament.files.entries import Entries
from judgec.verbs.judge import Judge
from judgec.verbs.whom import as_loaded
from judgec.verbs.workspace import Workspace

NAME = "zero-shot"
UMBRELA = "umbrela"
UMBRELA_SCALE = Scale(
    name="relevance",
    grades=(0, 1, 2, 3),
    meanings=(
        "the passage has nothing to do with the query",
        "the passage is related to the query and does not answer it",
        "the passage has some answer, which is unclear or hidden among other information",
        "the passage is about the query and contains the exact answer",
    ),
)  # Upadhyay et al. (2024), UMBRELA
PAIRS = "preference"  # what a tournament's judge does unless another task is named
HEAD = 200  # lines of a file that say which inputs its items have
ASPECTS = ("grade",)  # what the labels of one verdict are called
FEW = 50  # labels that people may be asked for in a first hour
_REACH = 1.96 * (0.25 / FEW) ** 0.5  # half the widest 95 % interval of a share of so many
UNTESTED = f"it was compiled on no labels, so it has no test set; with {FEW} labels you can compile it"
UNLABELLED = (
    f"no label was given, so nobody knows how far {NAME} agrees with people; {FEW} labels measure and compile it"
)
WHY = (
    f"no label was given, so nobody knows how far {NAME} agrees with people. Let experts label {FEW} games (--sample "
    f"{FEW} writes them): they measure its agreement to within {percent(_REACH)}, and a judge can be compiled on them"
)


def require_model(lm: str | None, where: str = f"--judge {NAME}") -> str:
    """The model that it is to ask.

    Raises:
        UserError: When none is named.
    """
    if lm is None:
        raise UserError(f"{where}: it has no model of its own; --lm MODEL is needed. Add the model to ask.")
    return lm


@dataclass(frozen=True)
class UncompiledJudge(Judge):
    """The prompt of a task, which is built for the inputs that the rows have."""

    def _judged(self, table: Table, *, account: Account, watch: Watch) -> Judgments:
        wording = str(self.card.settings.get(WORDING, ""))
        there = _fields(TASKS[self.card.task], table.columns)
        about = TASKS[self.card.task], there, self.spec, self.card.reason
        program = uncompiled_program(*about, scale=self.card.scale, wording=wording)
        fitted = replace(self, program=program, compiled=as_loaded(program, api_base=self.spec.api_base).compiled)
        return super(UncompiledJudge, fitted)._judged(table, account=account, watch=watch)

    def __repr__(self) -> str:
        return f"<Judge {NAME}, {self.card.task}, {self.spec.model}, UNPROVEN: {self.card.reason}>"


def zero_shot(
    task: str,
    *,
    lm: str,
    home: str | Path = ".",
    tracking_uri: str | None = None,
    api_base: str | None = None,
    budget: int | None = None,
    max_cost: float | None = None,
) -> Judge:
    """Make the judge of a task before there is any label: the paper's prompt, put to a model; unproven.

    Args:
        task: ``relevance`` (RAGElo, 0-2), ``umbrela`` (the same on UMBRELA's 0-3), ``grade`` (vRAG-Eval, 1-5),
            ``answer`` (RAGElo's aspects), ``preference``, ``rejection``, or another task of judgec; ``paper:TASK`` is
            the paper's prompt in its own words, for the first four of these but ``umbrela``.
        lm: The model that it asks.
        home: Folder of .judgec/, which keeps its calls.
        tracking_uri: Where runs are tracked, for ``judge.workspace``.
        api_base: An OpenAI-compatible endpoint.
        budget: Most LM calls each time it is called.
        max_cost: Most US dollars each time it is called.

    Raises:
        UserError: There is no such task.

    Example:
        >>> judge = judgec.zero_shot("relevance", lm="openai/gpt-4o-mini")
        >>> judge.card.promoted
        False
    """
    wording, said = _wording(task)
    spec, scale = _task(said)
    asked = LMSpec.parse(lm, api_base=api_base)
    shown = _fields(spec, spec.inputs if wording else ())
    program = uncompiled_program(spec, shown, asked, UNLABELLED, scale=scale, wording=wording)
    given, workspace = as_loaded(program, api_base=api_base), Workspace(home, tracking_uri)
    return UncompiledJudge(**vars(given), workspace=workspace, budget=budget, max_cost=max_cost)


def said_of(name: str, usual: str) -> str:
    """The text behind ``zero-shot:``, with the task that is meant where none does."""
    said = name.partition(":")[2]
    return f"{PAPER}:{usual}" if said == PAPER else said or usual


def said_by(card: ProgramCard) -> str:
    """The text that follows ``zero-shot:`` for the judge of a card."""
    if card.scale == UMBRELA_SCALE:
        return UMBRELA
    return f"{PAPER}:{card.task}" if card.settings.get(WORDING) == PAPER else card.task


def _wording(said: str) -> tuple[str, str]:
    """``paper`` where its own words are wanted, and the task, which may be empty."""
    first, _, task = said.partition(":")
    return (PAPER, task) if first == PAPER else ("", said)


def _task(said: str) -> tuple[TaskSpec, Scale | None]:
    """The task that is called so, and its scale where that is another than the usual one."""
    if said == UMBRELA:
        return TASKS["relevance"], UMBRELA_SCALE
    return TASKS[as_task(said)], None


def _fields(spec: TaskSpec, there: Collection[str]) -> tuple[str, ...]:
    """The inputs that the prompt of a task shows of those that are there."""
    return tuple(one for one in spec.inputs if (one in there or one in spec.required) and one not in spec.hidden)


def zero_shot_of_entries(entries: Entries, lm: str, api_base: str | None, said: str = PAIRS) -> Program:
    """The uncompiled judge of a tournament, as if it had been saved: no calibration, no test, never promoted.

    Args:
        entries: What it will judge; documents and references are shown where there are any.
        lm: The model that it asks.
        api_base: Its endpoint.
        said: The task, ``umbrela``, or ``paper:TASK``.

    Source: Rackauckas et al. (2024), RAGElo, whose judges are prompts.
    """
    wording, said = _wording(said)
    spec, scale = _task(said)
    has = {
        "reference": bool(entries.references),
        "contexts": bool(entries.retrieved or entries.shared),
        NUGGETS: bool(entries.nuggets),
    }
    fields = _fields(spec, [name for name, there in has.items() if there])
    why = WHY if spec.pairs else UNLABELLED
    asked = LMSpec.parse(lm, api_base=api_base)
    return uncompiled_program(spec, fields, asked, why, scale=scale, wording=wording)


def is_zero_shot(name: str, home: Path) -> bool:
    """True if a judge's name means the paper's prompt, and no judge of that name; ``zero-shot`` or with ``:TASK``."""
    return name.partition(":")[0] == NAME and not programs.versions(home, NAME)


def zero_shot_of_file(
    name: str, file: str | Table, columns: Mapping[str, str], lm: str | None, api_base: str | None
) -> Program:
    """The uncompiled judge of the items of a file.

    Args:
        name: ``zero-shot``, ``zero-shot:TASK``, ``zero-shot:umbrela`` or ``zero-shot:paper[:TASK]``; without a task
            the columns tell it.
        file: What is judged, or its rows; the first rows say which inputs there are.
        columns: judgec's names by the file's.
        lm: The model that it asks.
        api_base: Its endpoint.

    Raises:
        UserError: No model, no such task, or columns that tell none.
        InputError: The file cannot be read.
    """
    model, (wording, said) = require_model(lm), _wording(name.partition(":")[2])
    head = file if isinstance(file, Table) else as_it_stands(file, head=HEAD)
    ours = {columns.get(column, column) for column in head.columns}
    spec, scale = _task(said) if said else (told_by(ours), None)
    if spec is None:
        raise UserError(
            f"--judge {name}: the columns {', '.join(head.columns)} tell no task; {NAME}:TASK with one of "
            f"{', '.join(TASKS)} is valid. Name it, or map columns with --map."
        )
    if scale is None and not wording and not isinstance(file, Table):
        scale = _told(spec, file)
    why = f"no label was given, so nobody knows how far {name} agrees with people; {FEW} labels can measure it"
    asked = LMSpec.parse(model, api_base=api_base)
    return uncompiled_program(spec, _fields(spec, ours), asked, why, scale=scale, wording=wording)


def _told(spec: TaskSpec, file: str) -> Scale | None:
    """The scale that ``judgec.toml`` or the datasheet of a file says, where a prompt can ask for its grades.

    An interval scale is not asked for: its ends are no grades to choose from.
    """
    sheets = [one for one in (find_project(file), read_datasheet(file)) if one is not None]
    told = next((one.scale for one in sheets if one.scale is not None and one.task in {None, spec.name}), None)
    if told is None or told.interval:
        return None
    same = told.grades == spec.scale.grades
    if same and told.accept_at is None:
        return told.model_copy(update={"accept_at": spec.scale.accept_at})
    return None if spec.settled and not same else told


def zero_shot_like(card: ProgramCard, lm: str | None, api_base: str | None) -> Program:
    """The prompt that another judge was compiled from: its task, scale, aspects and inputs.

    Args:
        card: Of the other judge.
        lm: The model that it asks.
        api_base: Its endpoint.

    Raises:
        UserError: No model.
    """
    asked = LMSpec.parse(require_model(lm, NAME), api_base=api_base)
    return uncompiled_program(TASKS[card.task], card.fields, asked, UNTESTED, scale=card.scale, aspects=card.aspects)


def uncompiled_program(
    spec: TaskSpec,
    fields: Sequence[str],
    lm: LMSpec,
    why: str,
    *,
    scale: Scale | None = None,
    aspects: tuple[str, ...] = (),
    wording: str = "",
) -> Program:
    """The prompt of a task as if it had been saved: no calibration, no test, never promoted.

    Args:
        spec: The task.
        fields: Inputs that its items have.
        lm: The model that it asks.
        why: It is not promoted.
        scale: Another than the task's.
        aspects: Others than the task's.
        wording: ``paper`` for the words of the task's paper.

    Raises:
        UserError: There is no such paper, or an input of its prompt is missing.
    """
    scale, aspects = scale or spec.scale, aspects or spec.usual_aspects or tuple(spec.aspects) or ASPECTS
    fields = tuple(sorted(fields if not wording else _of_paper(spec, fields, scale)))
    module = judge_module(spec.name, scale, aspects, fields, wording=wording)
    card = ProgramCard(
        name=NAME,
        task=spec.name,
        scale=scale,
        aspects=aspects,
        fields=fields,
        signature=fingerprint(module),
        data_digest="",
        split_digest="",
        lm=lm.describe(),
        optimizer="none",
        settings={WORDING: wording} if wording else {},
        objective="kappa",
        seed=0,
        versions={},
        cost=Cost(lm_calls=0, usd=0.0, seconds=0.0),
        created=datetime.now(tz=UTC).isoformat(timespec="seconds"),
        looks=0,
        promoted=False,
        reason=why,
    )
    judge = uncompiled(module, card.task, scale, aspects)
    named = judge.with_prompts(lambda one: one.model_copy(update={"name": NAME, "lm": dict(card.lm)}))
    return Program(card, named.saved(), {}, {})


def _of_paper(spec: TaskSpec, fields: Sequence[str], scale: Scale) -> list[str]:
    """The inputs that the paper's prompt shows.

    Raises:
        UserError: As ``uncompiled_program``.
    """
    if spec.name not in PAPERS or scale != spec.scale:
        raise UserError(
            f"{NAME}:{PAPER}: no prompt of a paper for {spec.name}"
            f"{'' if scale == spec.scale else ' on this scale'}; {', '.join(PAPERS)} are valid. "
            f"Name one of these, or leave {PAPER} out."
        )
    shown = [*PAPERS[spec.name].input_fields]
    if missing := [name for name in shown if name not in fields]:
        raise UserError(
            f"{NAME}:{PAPER}:{spec.name}: {', '.join(missing)} missing; the paper's prompt shows "
            f"{', '.join(shown)}. Add it, or leave {PAPER} out."
        )
    return shown
