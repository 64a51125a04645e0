"""Makes candidates of what is asked beside others: the prompt of the task, one of the user's, a compiled judge."""

from judgec.compile.manners import MANNERS
from judgec.compile.search.candidates import Candidate, first_predictor, split_rubric, task_module
from judgec.compile.settings import JURY_KIND
from judgec.errors import UserError
from judgec.lm.adapters import with_verdict
from judgec.raters.judge import load_judge
from judgec.raters.predictors import module_of, with_instructions
from judgec.raters.programs import Program, model_of
from judgec.raters.signatures import fenced_inputs
from judgec.records.label import LabelSet
from judgec.table.rows.columns import listed


def judge_name(program: Program) -> str:
    """``NAME@VERSION``: what a compiled judge is called among others."""
    return f"{program.card.name}@{program.card.version}"


def check_judge(program: Program, labels: LabelSet) -> None:
    """A compiled judge can be asked about these labels.

    Raises:
        UserError: It judges something else, reads other fields, or has no prompt of its own that is asked.
    """
    card, where = program.card, f"candidate {judge_name(program)}"
    here = (labels.task, labels.aspects, labels.scale.grades)
    if (card.task, card.aspects, card.scale.grades) != here:
        raise UserError(
            f"{where}: judges {card.task} on {', '.join(map(str, card.scale.grades))}; these labels are of "
            f"{labels.task} on {', '.join(map(str, labels.scale.grades))}. Leave it out."
        )
    if set(card.fields) != set(labels.fields):
        raise UserError(
            f"{where}: reads {', '.join(card.fields)}; these labels have {', '.join(labels.fields)}. Compile it on "
            "them first."
        )
    if card.evidence_alone:
        raise UserError(f"{where}: is evidence alone and has no prompt; one with a prompt is valid. Leave it out.")
    kind = card.settings.get("kind")
    if kind in {JURY_KIND, "recorded"} or card.settings.get("cascade") is not None:
        members = listed(list(model_of(card, asks=False).members) or ["recorded verdicts"])
        raise UserError(
            f"{where}: has no prompt of its own, it is made of {members}; a judge with one is valid. Name these."
        )


def of_judge(program: Program, labels: LabelSet) -> Candidate:
    """A compiled judge as a candidate, which is not asked about queries that its demonstrations show.

    Raises:
        ArtifactError: It needs what is gone.
    """
    judge = load_judge(program).uncalibrated
    (prompt,) = judge.prompts
    module = module_of(prompt, judge.scale)
    predict, shown = first_predictor(module), dict[str, None]()
    for item in labels.items if predict.demos else ():
        texts = fenced_inputs(predict, item)
        same = ("query",) if item.inputs.get("query") else tuple(texts)  # where items have none, the item itself
        if any(all(demo.get(name) == texts[name] for name in same) for demo in predict.demos):
            shown[item.query_id] = None
    return Candidate(judge_name(program), module, reflected=tuple(shown), program=program)


def of_task(
    name: str, labels: LabelSet, instructions: str | None = None, manner: str = "plain", verdict: str | None = None
) -> Candidate:
    """A candidate with the prompt of the task of the labels, or with instructions in place of the task's.

    Args:
        name: What it is called.
        labels: Of the task.
        instructions: In place of the task's; None keeps these.
        manner: Of ``MANNERS``; it stands above the rubric.
        verdict: The form of a verdict that the instructions ask for.

    Raises:
        UserError: Such a form where there are several aspects.
    """
    if verdict is not None and len(labels.aspects) > 1:
        seen = f"--candidate {name}: verdict {verdict!r}, and {len(labels.aspects)} aspects"
        raise UserError(f"{seen}; of one aspect alone a prompt may have its form. Take the line out of the file.")
    module = task_module(labels)
    if instructions is not None:
        module = with_instructions(module, instructions)
    if added := MANNERS[manner]:
        above, rubric = split_rubric(first_predictor(module).signature.instructions)
        module = with_instructions(module, f"{above.rstrip()}\n{added}{rubric}")
    return Candidate(name, with_verdict(module, verdict))
