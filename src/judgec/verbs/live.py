"""Asks the prompts of recorded judges live: whose model, and by which client."""

from collections.abc import Callable, Mapping

from judgec.errors import UserError
from judgec.lm.spec import LMSpec
from judgec.raters.judge import CompiledJudge
from judgec.raters.live import LivePrompt, LiveRater, check_prompt
from judgec.raters.rater import BothOrders, Count, Rater
from judgec.raters.recorded import RECORDED_KIND, judge_of
from judgec.records.card import ProgramCard


def live_specs(
    card: ProgramCard, judge: CompiledJudge, lm: str | None, api_base: str | None, temperature: float | None = None
) -> dict[str, LMSpec]:
    """The model that each recorded judge is asked with, by its name.

    Args:
        card: Of the compiled judge.
        judge: The same.
        lm: The model of all of them, or ``RECORDED=MODEL,...`` for some: a recorded judge, or the model whose verdicts
            were recorded, and whom to ask instead; None for each one's own.
        api_base: An OpenAI-compatible endpoint.
        temperature: None for the usual one.

    Raises:
        UserError: The judge was not compiled from recorded verdicts, a prompt is not known or cannot be put to items of
            this task, a model's name is none that can be asked, or one model is to be both judges of a cascade of two.
    """
    if card.settings.get("kind") != RECORDED_KIND:
        raise UserError(
            f"--live: {card.name}@{card.version} asks {card.lm.get('model')} already; judges of recorded verdicts are "
            "asked so in place of looking them up. Leave --live out."
        )
    members = (judge_of(card),) if judge.joint is None else judge.joint.members
    prompts = {name: check_prompt(name, judge.prompts.get(name), card.task, judge.aspects) for name in members}
    models = _models(prompts, lm)
    recorded = list(dict.fromkeys(str(prompt.model) for prompt in prompts.values()))
    if judge.cascade is not None and len(recorded) > 1 and len(set(models.values())) == 1:
        raise UserError(
            f"--lm {lm}: {card.name}@{card.version} is a cascade of two models, "
            f"{' and '.join(recorded)}; one each is valid, as RECORDED=MODEL,RECORDED=MODEL. Name both."
        )
    return {name: LMSpec.parse(model, api_base=api_base, temperature=temperature) for name, model in models.items()}


def live_at(card: ProgramCard, lm: str | None, api_base: str | None) -> str:
    """Models and hosts that are asked, as they are shown."""
    models = [one.rpartition("=")[2].strip() for one in (lm or "").split(",") if "/" in one]
    asked = [LMSpec.parse(one, api_base=api_base).asked_at for one in models]
    return ", ".join(asked) or str(lm or card.lm.get("model"))


def _models(prompts: Mapping[str, LivePrompt], lm: str | None) -> dict[str, str]:
    """Whom to ask with each judge's prompt.

    Raises:
        UserError: Nobody named a model that can be asked, or another judge's.
    """
    named: dict[str, str] = {}
    if lm is not None and "=" in lm:
        named = {who.strip(): model.strip() for who, _, model in (one.rpartition("=") for one in lm.split(","))}
    elif lm is not None:
        named = dict.fromkeys(prompts, lm)
    known = {*prompts, *(prompt.model for prompt in prompts.values() if prompt.model)}
    if strange := [who for who in named if who not in known]:
        raise UserError(
            f"--lm {lm}: {', '.join(strange) or 'nobody'} is neither a judge nor a model of these verdicts; "
            f"{', '.join(sorted(known))} are valid before the =. Correct it."
        )
    models = {}
    for judge, prompt in prompts.items():
        model = named.get(judge) or named.get(prompt.model or "") or prompt.model or ""
        if judge not in named and (prompt.model or "") not in named and "/" not in model:
            raise UserError(
                f"--live: the verdicts of {judge} are of {model or 'a model that nobody named'}; provider/name is "
                f"valid, for example openai/gpt-4o. Say with --lm whom to ask{_for_one(prompts, model)}."
            )
        models[judge] = model
    return models


def _for_one(prompts: Mapping[str, LivePrompt], model: str) -> str:
    """Text on how to name the model of one of several judges."""
    return f", for example {model}=openai/{model}" if len(prompts) > 1 and model else ""


def live_leaf(judge: CompiledJudge, to: Mapping[str, str], count: Count | None = None) -> Callable[[str], Rater]:
    """Returns a function that gives the raw verdicts of a recorded judge that is asked, by the name of the judge.

    Args:
        judge: The compiled judge that it is a member of.
        to: What requests call the model of each, by the recorded judge's name.
        count: Told of progress.
    """
    only = next(iter(to))

    def leaf(name: str) -> Rater:
        member = name or only
        rater = LiveRater(judge.prompts[member], to=to[member], count=count, scale=judge.scale, aspects=judge.aspects)
        return BothOrders(rater, judge.scale) if judge.pairs else rater

    return leaf
