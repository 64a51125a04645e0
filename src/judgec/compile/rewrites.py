"""Searches for the prompts of candidates that stand beside others, each before it is asked about all items.

Each search is that of a single judge, on train and dev, with the candidate's own model. Of queries that the prompt was
made from the candidate is not asked afterwards: it is valued, pooled and calibrated on what its text has not seen. The
prompt as it was before stands beside it: a judge has to be better than that one, not than a form of its own.
"""

from collections.abc import Mapping
from dataclasses import replace

from judgec.compile.asked import plan_candidates
from judgec.compile.assemble import Bench
from judgec.compile.parts import Parts
from judgec.compile.search.candidates import UNCOMPILED, Candidate, as_it_was
from judgec.compile.search.plan import CallPlan, Stage, caps_of, check_caps, plan_compile
from judgec.compile.search.registry import Optimizer, find_optimizer
from judgec.compile.search.search import Searched, search_prompt
from judgec.compile.settings import PROMPT, CandidateSettings, CompileSettings, reflection_spec
from judgec.errors import UserError
from judgec.lm.prices import CostEstimate
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.watch import Watch
from judgec.records.counts import plural
from judgec.stats.agreement.objective import Objective

STAGE = "search"


def plan_rewrites(parts: Parts, settings: CompileSettings, champion: CostEstimate) -> CallPlan:
    """Plans the calls for searching prompts and asking all candidates, and for asking a champion about new items.

    Raises:
        UserError: It does not fit the caps, there are folds, or there is no such optimizer.
    """
    asking, searches = plan_candidates(settings, parts.pooled.labels, champion), _searches(parts, settings)
    if not searches:
        return asking
    least = sum((one.stage("uncompiled judge") for one in searches.values()), asking.total)
    try:
        check_caps(least, settings)
    except UserError as error:
        raise UserError(
            f"{error} With --optimizer that counts each prompt before and after its search; without it the candidates "
            f"are asked as they are, {plural(asking.total.calls, 'call', thousands=True)}."
        ) from None
    searching = sum((_searched(one) for one in searches.values()), CostEstimate())
    part = caps_of(settings).less(least).share(searching)
    stages = []
    for name, one in searches.items():
        most = _searched(one)
        most = one.stage("uncompiled judge") + most.of(int(part * most.calls))
        stages.append(Stage(f"{STAGE}: {name}", most, certain=False))
    reflects = any(one.reflects for one in searches.values())
    n_waits = asking.waits + (2 * len(searches) if settings.caps.batch else 0)
    return replace(asking, stages=(*asking.stages[:1], *stages, *asking.stages[1:]), reflects=reflects, waits=n_waits)


def _searched(plan: CallPlan) -> CostEstimate:
    return plan.stage("search") + plan.stage("reflection")


def rewritten(
    parts: Parts, settings: CompileSettings, plan: CallPlan, session: Session, objective: Objective, watch: Watch
) -> tuple[CompileSettings, tuple[str, ...]]:
    """The settings with the prompts that the searches have found, and what the searches say of themselves.

    Args:
        parts: Of the compile; there is one split.
        settings: With the candidates and their models.
        plan: From ``plan_rewrites``.
        session: The way to the models.
        objective: What each search maximizes.
        watch: Told where it is.

    Raises:
        ServiceError: A model fails for good; what is paid is in the journal.
    """
    found: dict[str, Searched] = {}
    left = {stage.name: stage.most for stage in plan.stages if stage.name.startswith(f"{STAGE}: ")}
    plans = _searches(parts, settings)
    for one in settings.rewrites:
        watch.stage(STAGE, f"the prompt of {one.name}")
        del left[f"{STAGE}: {one.name}"]
        later = sum(left.values(), CostEstimate())
        kept_usd = None if plan.kept_back_usd is None or later.usd is None else plan.kept_back_usd + later.usd
        own, optimizer = _alone(one, settings)
        view = session.of(own.lm, own.search.reflection)
        own_plan = replace(plans[one.name], kept_back=plan.kept_back + later.calls, kept_back_usd=kept_usd)
        bench = Bench(parts.pooled, view.finish, None, settings.seed, objective, one.module, lm=own.lm.describe())
        uncompiled = Candidate(UNCOMPILED, one.module)
        found[one.name] = search_prompt(bench, uncompiled, own, view, own_plan, optimizer, watch)
    asked, members = list[Candidate](), dict(settings.lm.members)
    for one in settings.candidates.asked:
        if one.name not in found:
            asked.append(one)
            continue
        chosen = found[one.name].chosen
        asked.append(replace(chosen, name=one.name, settings={**chosen.settings, PROMPT: chosen.name}))
        if chosen.name != UNCOMPILED:
            asked.append(replace(one, name=as_it_was(one.name)))
            members[as_it_was(one.name)] = members[one.name]
    models = LMSpec.jury(members, api_base=settings.lm.api_base)
    notes = tuple(f"{name}: {note}" for name, choice in found.items() for note in choice.notes)
    return replace(settings, lm=models, candidates=replace(settings.candidates, asked=tuple(asked))), notes


def _searches(parts: Parts, settings: CompileSettings) -> Mapping[str, CallPlan]:
    """Each search alone, without caps, by the candidate's name."""
    if settings.rewrites and parts.refit is not None:
        raise UserError(
            f"--optimizer {settings.search.optimizer} with several candidates: their prompts are searched for on "
            f"one split, and here are {plural(len(parts.tested), 'fold')}. Add --folds 1, or leave --optimizer out."
        )
    for one in settings.rewrites:
        if (taken := as_it_was(one.name)) in settings.lm.members:
            raise UserError(
                f"candidate {taken}: so is called what {one.name} was before its search; another name is needed. Say "
                "NAME=SPEC."
            )
    free = replace(settings, caps=replace(settings.caps, budget=None, max_cost=None))
    plans = {}
    for one in settings.rewrites:
        own, optimizer = _alone(one, free)
        plans[one.name] = plan_compile(parts.pooled, one.module, own, optimizer)
    return plans


def _alone(one: Candidate, settings: CompileSettings) -> tuple[CompileSettings, Optimizer]:
    """The settings as if it were the only candidate, and what searches."""
    model = settings.lm.members[one.name]
    reflection, why = (settings.search.reflection, "") if settings.search.reflection else reflection_spec(model, None)
    optimizer = find_optimizer(settings.search.optimizer, reflection=reflection is not None, no_reflection=why)
    search = replace(settings.search, reflection=reflection, no_reflection=why)
    return replace(settings, lm=model, candidates=CandidateSettings(), search=search), optimizer
