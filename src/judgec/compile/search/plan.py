"""Plans a compile's calls, tokens and dollars by stage before it asks anything, and what each search leaves.

Two numbers: what every compile of these labels asks, and the most that a search and its winner may take on top.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import dspy
import numpy as np

from judgec.compile.dataset import Dataset, Part
from judgec.compile.parts import Parts
from judgec.compile.search.candidates import first_predictor
from judgec.compile.search.demonstrations import SET_SIZES, room_of
from judgec.compile.search.race import slices
from judgec.compile.search.reflection import MINIBATCH
from judgec.compile.search.registry import Optimizer
from judgec.compile.search.task import Sizes, orders_of, pool_size
from judgec.compile.settings import CompileSettings
from judgec.errors import UserError
from judgec.lm.frozen import freeze
from judgec.lm.prices import BATCH_SHARE, BYTES_PER_TOKEN, TYPICAL_REPLY, CostEstimate, estimate, price
from judgec.lm.spec import LMSpec
from judgec.raters.signatures import fenced_inputs
from judgec.records.counts import plural
from judgec.records.label import Item
from judgec.report.numbers import dollars

ASKED_AGAIN = 0.05  # share of replies that may have to be asked for twice, kept back on top
DOLLAR_MARGIN = 1.25  # on estimates of what is kept back: prompts are estimated by their length
REWRITE_TOKENS = 800  # of a rewritten prompt
REWRITE_FRAME = 1500  # tokens of a reflection prompt beside its examples
PASSES = {"uncompiled judge", "winner", "champion"}  # stages that go in batches, where any do
SEARCHED = 300  # calls that a search has room for before more labels are learned from
LEARNED = 60  # items of train and dev that are learned from in any case
CHECKED = 8  # prompts that the frozen one is compared with DSPy's on


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of a compile, and the most that it is expected to take.

    Args:
        name: Unique in a plan.
        most: Its cost.
        certain: False of what depends on what a search finds.
    """

    name: str
    most: CostEstimate
    certain: bool = True


@dataclass(frozen=True, slots=True)
class CallPlan:
    """A compile in advance, or one of its rounds.

    Args:
        stages: ``preflight``, ``uncompiled judge``, ``search``, ``reflection``, ``winner``, ``champion``; those that
            apply.
        kept_back: What a search must leave: calls.
        kept_back_usd: The same in dollars, or None when nobody knows the price.
        usd_a_call: What a judge call of the search is expected to cost, or None.
        searches: False when the caps leave no room for a search.
        reflects: Whether the search uses the reflection model.
        waits: How many batches have to be waited for one after the other, at most; 0 where nothing goes in batches.
    """

    stages: tuple[Stage, ...]
    kept_back: int
    kept_back_usd: float | None
    usd_a_call: float | None
    searches: bool
    reflects: bool
    waits: int = 0

    def stage(self, name: str) -> CostEstimate:
        """The most that a stage takes; nothing where there is none of that name."""
        return next((stage.most for stage in self.stages if stage.name == name), CostEstimate())

    @property
    def total(self) -> CostEstimate:
        """All stages: the most."""
        return sum((stage.most for stage in self.stages), CostEstimate())

    @property
    def certain(self) -> CostEstimate:
        """The stages that depend on nothing that a search finds."""
        return sum((stage.most for stage in self.stages if stage.certain), CostEstimate())

    def shown(self) -> str:
        """The total in a line."""
        total = self.total
        price = f"{dollars(total.usd)} at list price" if total.usd else dollars(total.usd)
        return f"at most {plural(total.calls, 'call', thousands=True)}, about {total.tokens:,} tokens, {price}"


@dataclass(frozen=True, slots=True)
class RoundsPlan:
    """A compile in advance.

    Args:
        whole: All of it.
        rounds: Each round's, which also keeps back what the rounds after it need.
        parts: The data, with the items of train and dev that are asked about before and during the search.
    """

    whole: CallPlan
    rounds: tuple[CallPlan, ...]
    parts: Parts


@dataclass(frozen=True, slots=True)
class Caps:
    """Part of the caps; None where there is no cap."""

    calls: int | None
    usd: float | None

    def less(self, cost: CostEstimate) -> "Caps":
        """The rest after a cost."""
        usd = None if self.usd is None or cost.usd is None else max(0.0, self.usd - cost.usd)
        return Caps(None if self.calls is None else max(0, self.calls - cost.calls), usd)

    def share(self, most: CostEstimate) -> float:
        """Share of a cost that they allow, at most 1."""
        part = 1.0
        if self.calls is not None and most.calls:
            part = min(part, self.calls / most.calls)
        if self.usd is not None and most.usd:
            part = min(part, self.usd / most.usd)
        return part


def caps_of(settings: CompileSettings) -> Caps:
    """The caps of a compile."""
    return Caps(settings.caps.budget, settings.caps.max_cost)


@dataclass(frozen=True, slots=True)
class _Round:
    """The most that one split takes for its search and its winner, without caps."""

    search: CostEstimate
    reflection: CostEstimate
    winner: CostEstimate
    least: int  # calls that a search takes at the least: two candidates on the first slice of dev
    usd_a_call: float | None


def plan_compile(dataset: Dataset, module: dspy.Module, settings: CompileSettings, optimizer: Optimizer) -> CallPlan:
    """Plans the calls of a compile on one split, without a champion; as ``plan_rounds``."""
    return plan_rounds(Parts(dataset, (dataset,)), module, settings, optimizer).whole


def plan_rounds(
    parts: Parts,
    module: dspy.Module,
    settings: CompileSettings,
    optimizer: Optimizer,
    champion: CostEstimate | None = None,
) -> RoundsPlan:
    """Plans the calls that the compile will take.

    What is asked whatever the searches find comes off the caps first: the uncompiled judge on every item, and the
    champion. Then what the winners may take; each search gets an equal share of the rest, and what those before it
    left. On a single split less is learned from where that leaves a search too little.

    Args:
        parts: The data of every round.
        module: The uncompiled judge.
        settings: What was asked for.
        optimizer: What searches.
        champion: What asking it about new test items takes; None where there is none.

    Raises:
        UserError: When even a compile without a search does not fit the caps.
    """
    spec, every = settings.lm, parts
    efforts = [optimizer.effort(_sizes(one, settings)) for one in parts.rounds]
    reflection = settings.search.reflection if any(one.reflections for one in efforts) else None
    models = [one for one in (spec, reflection) if one is not None and not one.no_model]
    preflight = sum((_each(one, 1, 20, 2) for one in models), CostEstimate())
    rival = champion or CostEstimate()
    uncompiled = whole(asked_once(module, items_of(parts), spec), settings)
    certain = preflight + uncompiled + rival
    check_caps(certain, settings)
    rounds = [_planned(one, module, settings, optimizer, reflection) for one in parts.rounds]
    parts = _affordable(parts, rounds[0], settings, certain.calls, orders_of(module))
    if parts is not every:
        uncompiled = whole(asked_once(module, items_of(parts), spec), settings)
        rounds = [_planned(one, module, settings, optimizer, reflection) for one in parts.rounds]
    winner = sum((one.winner for one in rounds), CostEstimate())
    left = caps_of(settings).less(preflight + uncompiled).less(with_margin(rival + winner))
    n = len(rounds)
    each = Caps(None if left.calls is None else left.calls // n, None if left.usd is None else left.usd / n)
    searching = [one.search.calls > 0 and each.share(one.search.of(one.least)) >= 1 for one in rounds]
    those = [one for one, does in zip(rounds, searching, strict=True) if does]
    search = sum((one.search for one in those), CostEstimate())
    rewriting = sum((one.reflection for one in those), CostEstimate())
    part = left.share(search + rewriting)
    planned = (
        Stage("preflight", preflight),
        Stage("uncompiled judge", uncompiled),
        Stage("search", search.of(int(part * search.calls)), certain=False),
        Stage("reflection", rewriting.of(int(part * rewriting.calls)), certain=False),
        Stage("winner", winner if those else CostEstimate(), certain=False),
        Stage("champion", rival),
    )
    stages = tuple(stage for stage in planned if stage.most.calls)
    plans = []
    for number, one in enumerate(rounds):
        after = n - 1 - number
        kept = with_margin(sum((later.winner for later in rounds[number:]), rival))
        usd = None if kept.usd is None else kept.usd + after * (each.usd or 0.0)
        calls = kept.calls + after * (each.calls or 0)
        plans.append(CallPlan(stages, calls, usd, one.usd_a_call, searching[number], reflection is not None))
    rest = settings.caps.batch and parts is not every  # of the labels, for the calibrator
    passes = waits(settings, stages, len(those)) + rest
    return RoundsPlan(replace(plans[0], searches=bool(those), waits=passes), tuple(plans), parts)


def _affordable(parts: Parts, one: _Round, settings: CompileSettings, certain: int, orders: int) -> Parts:
    """The data, of a single split with so much of train and dev, whole queries, as leaves a search its room."""
    data, most = parts.pooled, one.search.calls + one.reflection.calls
    caps = [] if settings.caps.budget is None else [settings.caps.budget]
    if settings.caps.max_cost is not None and one.usd_a_call:
        caps.append(int(settings.caps.max_cost / one.usd_a_call))
    learned = len(data.train) + len(data.dev)
    if not caps or not most or parts.refit is not None or not learned:
        return parts
    short = min(SEARCHED, most) - (min(caps) - certain - with_margin(one.winner).calls)
    an_item = orders * (1 + (1 + ASKED_AGAIN) * len(data.train) / learned)
    share = max(LEARNED, learned - short / an_item) / learned
    if share >= 1:
        return parts
    data = replace(data, train=_sample(data.train, share, settings.seed), dev=_sample(data.dev, share, settings.seed))
    return Parts(data, (data,))


def _sample(part: Part, share: float, seed: int) -> Part:
    """Whole queries of a part, drawn by the seed."""
    queries = np.random.default_rng([seed, 5]).permutation(np.unique(part.experts.cluster))
    drawn = queries[: max(1, round(share * len(queries)))]
    return part.rows([int(i) for i in np.flatnonzero(np.isin(part.experts.cluster, drawn))])


def items_of(parts: Parts) -> list[Item]:
    """The items that some round learns from or tests, each once."""
    return list(
        {
            item.item_id: item for one in parts.rounds for part in (one.train, one.dev, one.test) for item in part.items
        }.values()
    )


def _planned(
    dataset: Dataset, module: dspy.Module, settings: CompileSettings, optimizer: Optimizer, reflection: LMSpec | None
) -> _Round:
    spec, orders, sizes = settings.lm, orders_of(module), _sizes(dataset, settings)
    asked = {part.name: asked_once(module, part.items, spec) for part in (dataset.train, dataset.dev, dataset.test)}
    effort = optimizer.effort(sizes)
    most, usual = (SET_SIZES[-1], sum(SET_SIZES) // len(SET_SIZES)) if effort.demonstrates else (0, 0)
    winner = [with_demonstrations(asked[p.name], spec, module, p.items, most) for p in (dataset.train, dataset.test)]
    typical = with_demonstrations(asked["dev"], spec, module, dataset.dev.items, usual)
    judged = orders * (effort.judgments + sizes.final(effort.candidates)) if len(dataset.dev) else 0
    rewrite = REWRITE_FRAME + orders * MINIBATCH * typical.tokens // max(1, typical.calls)
    return _Round(
        typical.of(judged),
        _each(reflection, effort.reflections if judged else 0, rewrite, REWRITE_TOKENS),
        whole(sum(winner, CostEstimate()), settings),
        orders * sizes.slices[0] if judged else 0,
        None if typical.usd is None else typical.usd / max(1, typical.calls),
    )


def with_margin(cost: CostEstimate) -> CostEstimate:
    """What is kept back for a cost: some replies are asked for again, and dollars are estimated."""
    usd = None if cost.usd is None else DOLLAR_MARGIN * cost.usd
    return replace(cost, calls=cost.calls + int(ASKED_AGAIN * cost.calls) + 1, usd=usd)


def whole(asked: CostEstimate, settings: CompileSettings) -> CostEstimate:
    """Cost of a pass over whole parts: half the list price in a batch."""
    if not settings.caps.batch or asked.usd is None:
        return asked
    return replace(asked, usd=BATCH_SHARE * asked.usd)


def waits(settings: CompileSettings, stages: Sequence[Stage], rounds: int = 1) -> int:
    """Largest number of batches that have to be waited for one after the other.

    Args:
        settings: What was asked for.
        stages: What is asked.
        rounds: Each has a winner of its own.
    """
    if not settings.caps.batch or settings.lm.no_model:
        return 0
    return sum(rounds if stage.name == "winner" else 1 for stage in stages if stage.name in PASSES)


def _sizes(dataset: Dataset, settings: CompileSettings) -> Sizes:
    parts = slices(dataset.dev.experts.cluster, settings.seed)
    train, pool = dataset.train, 0
    if len(train):
        pool = pool_size(train.n_queries) * len(train) // train.n_queries
    reasons = train.n_reasons + dataset.dev.n_reasons
    return Sizes(
        tuple(map(len, parts)), pool, settings.search.reflection is not None, len(settings.search.prompts), reasons
    )


def check_caps(least: CostEstimate, settings: CompileSettings) -> None:
    """Refuse caps under which not even the labels can be judged once.

    Raises:
        UserError: When ``least`` does not fit them.
    """
    if settings.caps.budget is not None and settings.caps.budget < least.calls:
        raise UserError(
            f"--budget {settings.caps.budget}: judging every label once without any search takes {least.calls} calls. "
            "Raise --budget, or give fewer labels."
        )
    if settings.caps.max_cost is not None and least.usd is not None and settings.caps.max_cost < least.usd:
        raise UserError(
            f"--max-cost {settings.caps.max_cost}: judging every label once without any search takes about "
            f"${least.usd:.4f} at list price. Raise --max-cost, give fewer labels, or name a cheaper --lm."
        )


def asked_once(module: dspy.Module, items: Sequence[Item], spec: LMSpec) -> CostEstimate:
    """A judge on some items, prompt by prompt; a pair in both orders.

    Args:
        module: Its prompt.
        items: What it is asked about.
        spec: The model.
    """
    predict = first_predictor(module)
    inputs = [fenced_inputs(predict, item) for item in items for _ in range(orders_of(module))]
    prompt = freeze(predict, inputs[:CHECKED])
    return estimate((prompt.messages(one) for one in inputs), spec)


def with_demonstrations(
    asked: CostEstimate, spec: LMSpec, module: dspy.Module, items: Sequence[Item], shown: int = SET_SIZES[-1]
) -> CostEstimate:
    """The same calls with so many demonstrations of the usual length in each prompt."""
    predict = first_predictor(module)
    lengths = [sum(len(text) for text in fenced_inputs(predict, item).values()) for item in items]
    usual = sum(lengths) / max(1, len(lengths))
    extra = int(min(room_of(predict, items), shown * usual) / BYTES_PER_TOKEN) + shown * TYPICAL_REPLY // 2
    rate = price(spec.model)
    usd = None if asked.usd is None or rate is None else asked.usd + asked.calls * extra * rate.input
    return CostEstimate(asked.calls, asked.tokens + asked.calls * extra, usd)


def _each(spec: LMSpec | None, calls: int, prompt: int, reply: int) -> CostEstimate:
    rate = None if spec is None else price(spec.model)
    usd = calls * (prompt * rate.input + reply * rate.output) if rate else None
    return CostEstimate(calls, calls * (prompt + reply), usd if calls else 0.0)
