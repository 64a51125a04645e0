"""Asks the prompts of recorded judges live: whose model, and through which door."""

from collections.abc import Callable

from judgec.errors import UserError
from judgec.judges.judge import CompiledJudge
from judgec.judges.live import LiveInterview, check_prompt
from judgec.judges.recorded import RECORDED_KIND, judge_of
from judgec.lm.executor import Executor
from judgec.lm.spec import LMSpec
from judgec.records.card import ProgramCard


def live_specs(
    card: ProgramCard, judge: CompiledJudge, lm: str | None, api_base: str | None, temperature: float | None = None
) -> dict[str, LMSpec]:
    """The model that each recorded judge is asked with, by its name.

    Args:
        card: Of the compiled judge.
        judge: The same.
        lm: The model of all of them; None for each one's own.
        api_base: An OpenAI-compatible endpoint.
        temperature: None for the usual one.

    Raises:
        UserError: The judge was not compiled from recorded verdicts, is a cascade, a prompt is not known or cannot be
            put to items of this task, or a model's name is none that can be asked.
    """
    if card.settings.get("kind") != RECORDED_KIND:
        raise UserError(
            f"--live: {card.name}@{card.version} asks {card.lm.get('model')} already; judges of recorded verdicts are "
            "asked so in place of looking them up. Leave --live out."
        )
    name = judge_of(card)
    if judge.cascade is not None:
        raise UserError(f"--live: {card.name}@{card.version} is a cascade; its judges are looked up. Leave --live out.")
    found = {}
    for member in (name,) if judge.panel is None else judge.panel.members:
        prompt = check_prompt(member, judge.prompts.get(member), card.task, judge.aspects)
        model = lm or prompt.model or ""
        if lm is None and "/" not in model:
            raise UserError(
                f"--live: the verdicts of {member} are of {model or 'a model that nobody named'}; "
                "provider/name is valid, for example openai/gpt-4o. Say with --lm whom to ask."
            )
        found[member] = LMSpec.parse(model, api_base=api_base, temperature=temperature)
    return found


def live_interview(
    judge: CompiledJudge,
    specs: dict[str, LMSpec],
    executor: Callable[[LMSpec], Executor],
    on_verdict: Callable[[int, int], None] = lambda _done, _unscored: None,
) -> LiveInterview:
    """The prompts, ready to be put to items.

    Args:
        judge: Whose.
        specs: From ``live_specs``.
        executor: Makes the calls to a model.
        on_verdict: Told of progress.
    """
    ask = {member: executor(spec).run for member, spec in specs.items()}
    prompts = {member: judge.prompts[member] for member in specs}
    return LiveInterview(prompts, ask, judge.panel, scale=judge.scale, aspects=judge.aspects, on_verdict=on_verdict)
