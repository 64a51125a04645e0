"""Plans the calls of all rounds of a compile, and how they share the caps."""

from dataclasses import dataclass, replace

import dspy

from judgec.compile.folds.parts import Parts
from judgec.compile.search.plan import (
    CallPlan,
    SearchShare,
    Stage,
    add,
    check_caps,
    judged_once,
    plan_compile,
    share_of,
    waits,
)
from judgec.compile.search.registry import Optimizer
from judgec.compile.settings import CompileSettings
from judgec.lm.prices import CostEstimate

ONCE = ("preflight", "uncompiled judge", "champion")  # stages that the rounds share


@dataclass(frozen=True, slots=True)
class RoundsPlan:
    """A compile in advance.

    Args:
        whole: All of it.
        rounds: Each round's, which also keeps back what the rounds after it need.
    """

    whole: CallPlan
    rounds: tuple[CallPlan, ...]


def plan_rounds(
    parts: Parts, module: dspy.Module, settings: CompileSettings, optimizer: Optimizer, *, champion: bool
) -> RoundsPlan:
    """Plans the calls that the compile will take.

    What is asked once for all rounds (the uncompiled judge on every item, the champion) comes off the caps first; each
    round gets an equal share of the rest for its search and its winner.

    Args:
        parts: The data of every round.
        module: The uncompiled judge.
        settings: What was asked for.
        optimizer: What searches.
        champion: Whether there is one to compare with.

    Raises:
        UserError: When even a compile without a search does not fit the caps.
    """
    if parts.refit is None:
        plan = plan_compile(parts.pooled, module, settings, optimizer, champion=champion)
        return RoundsPlan(plan, (plan,))
    free = replace(settings, budget=None, max_cost=None)
    uncapped = [plan_compile(one, module, free, optimizer, champion=False) for one in parts.rounds]
    once = judged_once(module, parts.pooled, settings, champion=champion)
    for plan in uncapped:
        once |= {stage.name: stage.most for stage in plan.stages if stage.name == "preflight"}
    shared = add(list(once.values()))
    check_caps(shared, settings)
    each = share_of(settings, shared, len(parts.rounds))
    plans = [
        plan_compile(one, module, _capped(settings, plan, each), optimizer, champion=False)
        for one, plan in zip(parts.rounds, uncapped, strict=True)
    ]
    most = once | {
        name: add([stage.most for plan in plans for stage in plan.stages if stage.name == name])
        for name in ("search", "reflection", "winner")
    }
    free_search = add([stage.most for plan in uncapped for stage in plan.stages if stage.name == "search"])
    others = add([estimate for name, estimate in most.items() if name != "search"])
    most["search"] = _within(free_search, others, settings)
    order = (*ONCE[:2], "search", "reflection", "winner", *ONCE[2:])
    stages = tuple(Stage(name, most[name]) for name in order if name in most and most[name].calls)
    whole = replace(
        plans[-1],
        stages=stages,
        waits=waits(settings, stages, sum(plan.searches for plan in plans)),
        searches=any(plan.searches for plan in plans),
        reflects=any(plan.reflects for plan in plans),
    )
    rival = once.get("champion", CostEstimate(0, 0, 0.0))
    rounds = [_leaving(plan, len(plans) - i, each, rival) for i, plan in enumerate(plans, start=1)]
    if settings.batch:  # no round keeps anything back for the uncompiled judge: it is asked about everything at first
        return RoundsPlan(whole, tuple(rounds))
    return RoundsPlan(whole, (rounds[0], *map(_asked_before, rounds[1:])))


def _capped(settings: CompileSettings, plan: CallPlan, share: SearchShare) -> CompileSettings:
    """The settings of a round as if it were alone: its share, and what it needs of what all rounds ask once."""
    own = add([stage.most for stage in plan.stages if stage.name in ONCE])
    budget = None if share.calls is None else share.calls + own.calls
    max_cost = share.usd if share.usd is None or own.usd is None else share.usd + own.usd
    return replace(settings, budget=budget, max_cost=max_cost)


def _leaving(plan: CallPlan, after: int, share: SearchShare, rival: CostEstimate) -> CallPlan:
    """The plan of a round that leaves the rounds after it their shares, and the champion its calls."""
    calls = plan.kept_back + after * (share.calls or 0) + rival.calls
    known = plan.kept_back_usd is not None and rival.usd is not None
    usd = plan.kept_back_usd + after * (share.usd or 0.0) + rival.usd if known else None  # type: ignore[operator]  # known
    return replace(plan, kept_back=calls, kept_back_usd=usd)


def _asked_before(plan: CallPlan) -> CallPlan:
    """The plan of a round after the first, by which every item was judged by the uncompiled judge."""
    calls = sum(stage.most.calls for stage in plan.stages if stage.name == "uncompiled judge")
    usd = sum(stage.most.usd or 0.0 for stage in plan.stages if stage.name == "uncompiled judge")
    kept_usd = None if plan.kept_back_usd is None else max(0.0, plan.kept_back_usd - usd / 2)
    return replace(plan, kept_back=max(0, plan.kept_back - calls // 2), kept_back_usd=kept_usd)


def _within(search: CostEstimate, others: CostEstimate, settings: CompileSettings) -> CostEstimate:
    """The most that all searches take: what one round leaves of its share goes to the rounds after it."""
    share = 1.0
    if settings.budget is not None and search.calls:
        share = min(share, (settings.budget - others.calls) / search.calls)
    if settings.max_cost is not None and search.usd and others.usd is not None:
        share = min(share, (settings.max_cost - others.usd) / search.usd)
    share = max(0.0, share)
    usd = None if search.usd is None else share * search.usd
    return CostEstimate(int(share * search.calls), int(share * search.tokens), usd)
