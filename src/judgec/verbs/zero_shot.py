"""Makes the papers' judges without any labels: the prompt of a task as it is, measured against nobody."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from judgec.errors import UserError
from judgec.labels.proposal import usual_inputs
from judgec.lm.spec import LMSpec
from judgec.raters import programs
from judgec.raters.judge import CompiledJudge
from judgec.raters.programs import Program, dump_module
from judgec.raters.registry import judge_module
from judgec.raters.signatures import fingerprint
from judgec.records.card import Cost, ProgramCard
from judgec.records.scale import Scale
from judgec.records.tasks.registry import TASKS, as_task, told_by
from judgec.records.tasks.spec import TaskSpec
from judgec.report.numbers import percent
from judgec.table.tables import as_it_stands
from judgec.tournament.files.entries import Entries

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
HEAD = 200  # lines of a file that say which inputs its items have
ASPECTS = ("grade",)  # what the labels of one verdict are called
FEW = 50  # labels that people may be asked for in a first hour
_REACH = 1.96 * (0.25 / FEW) ** 0.5  # half the widest 95 % interval of a share of so many
WHY = (
    f"no label was given, so nobody knows how far {NAME} agrees with people. {FEW} games that experts label (--sample "
    f"{FEW} writes them) tell its share of agreement to within {percent(_REACH)}, and the same judge compiles on them"
)


def require_model(lm: str | None) -> str:
    """The model that it is to ask.

    Raises:
        UserError: When none is named.
    """
    if lm is None:
        raise UserError(f"--judge {NAME}: it has no model of its own; --lm MODEL is needed. Add the model to ask.")
    return lm


def zero_shot(entries: Entries, lm: str, api_base: str | None) -> Program:
    """The uncompiled judge of answers in pairs, as if it had been saved: no calibration, no test, never promoted.

    Args:
        entries: What it will judge; documents and references are shown where there are any.
        lm: The model that it asks.
        api_base: Its endpoint.

    Source: Rackauckas et al. (2024), RAGElo, whose judge is a prompt that compares two answers.
    """
    has = {"reference": bool(entries.references), "contexts": bool(entries.retrieved or entries.shared)}
    fields = ("query", "answer_a", "answer_b", *(name for name, there in has.items() if there))
    return uncompiled_program(TASKS["preference"], fields, LMSpec.parse(lm, api_base=api_base), WHY)


def is_zero_shot(name: str, home: Path) -> bool:
    """Whether a judge's name means the paper's prompt, and no judge of that name."""
    return name.partition(":")[0] == NAME and not programs.versions(home, NAME)


def zero_shot_of_file(
    name: str, file: str, columns: Mapping[str, str], lm: str | None, api_base: str | None
) -> Program:
    """The uncompiled judge of the items of a file.

    Args:
        name: ``zero-shot``, ``zero-shot:TASK`` or ``zero-shot:umbrela``; without a task the columns tell it.
        file: What is judged; its first rows say which inputs there are.
        columns: judgec's names by the file's.
        lm: The model that it asks.
        api_base: Its endpoint.

    Raises:
        UserError: No model, no such task, or columns that tell none.
        InputError: The file cannot be read.
    """
    model, said = require_model(lm), name.partition(":")[2]
    head = as_it_stands(file, head=HEAD)
    ours = {columns.get(column, column) for column in head.columns}
    spec = TASKS["relevance" if said == UMBRELA else as_task(said)] if said else told_by(ours)
    for task in (spec,) if spec is not None else TASKS.values():
        ours |= set(usual_inputs(head, task.name, columns).values())
    spec = spec or told_by(ours)
    if spec is None:
        raise UserError(
            f"--judge {name}: the columns {', '.join(head.columns)} tell no task; {NAME}:TASK with one of "
            f"{', '.join(TASKS)} is valid. Name it, or map columns with --map."
        )
    fields = tuple(one for one in spec.inputs if one in ours and one not in spec.hidden)
    few = f"judgec labels {file} --next {FEW} collects {FEW} labels, on which it can be measured and compiled"
    why = f"no label was given, so nobody knows how far {name} agrees with people: {few}"
    scale = UMBRELA_SCALE if said == UMBRELA else None
    return uncompiled_program(spec, fields, LMSpec.parse(model, api_base=api_base), why, scale=scale)


def uncompiled_program(
    spec: TaskSpec, fields: Sequence[str], lm: LMSpec, why: str, *, scale: Scale | None = None
) -> Program:
    """The prompt of a task as if it had been saved: no calibration, no test, never promoted.

    Args:
        spec: The task.
        fields: Inputs that its items have.
        lm: The model that it asks.
        why: It is not promoted.
        scale: Another than the task's.
    """
    scale, aspects = scale or spec.scale, spec.usual_aspects or tuple(spec.aspects) or ASPECTS
    fields = tuple(sorted(fields))
    module = judge_module(spec.name, scale, aspects, fields)
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
        objective="kappa",
        seed=0,
        versions={},
        cost=Cost(lm_calls=0, usd=0.0, seconds=0.0),
        created=datetime.now(tz=UTC).isoformat(timespec="seconds"),
        looks=0,
        promoted=False,
        reason=why,
    )
    judge = CompiledJudge(module, card.scale, card.aspects)
    return Program(card, dump_module(module), judge.calibration(), {}, {})
