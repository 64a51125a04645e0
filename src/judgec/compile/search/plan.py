"""Plans a compile's calls, tokens and dollars by stage before it asks anything, and what to keep back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import dspy

from judgec.compile.dataset import Dataset, Part
from judgec.compile.search.candidates import first_predictor
from judgec.compile.search.demonstrations import SET_SIZES, room_of
from judgec.compile.search.race import slices
from judgec.compile.search.reflection import MINIBATCH
from judgec.compile.search.registry import Optimizer
from judgec.compile.search.task import POOL_SHARE, Effort, Sizes, orders_of
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
CHECKED = 8  # prompts that the frozen one is compared with DSPy's on


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of a compile, and the most that it is expected to take."""

    name: str
    most: CostEstimate


@dataclass(frozen=True, slots=True)
class CallPlan:
    """A compile in advance.

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
        return next((stage.most for stage in self.stages if stage.name == name), CostEstimate(0, 0, 0.0))

    @property
    def total(self) -> CostEstimate:
        """All stages."""
        return add([stage.most for stage in self.stages])

    def shown(self) -> str:
        """The total in a line."""
        total = self.total
        price = f"{dollars(total.usd)} at list price" if total.usd else dollars(total.usd)
        return f"at most {plural(total.calls, 'call', thousands=True)}, about {total.tokens:,} tokens, {price}"


@dataclass(frozen=True, slots=True)
class SearchShare:
    """Share of the caps that one of several searches may use; None where there is no cap."""

    calls: int | None
    usd: float | None

    def within(self, most: CostEstimate) -> CostEstimate:
        """Cost of a search within the caps, given the most that it would take without them."""
        part = 1.0
        if self.calls is not None and most.calls:
            part = min(part, self.calls / most.calls)
        if self.usd is not None and most.usd:
            part = min(part, self.usd / most.usd)
        return _scaled(most, int(max(0.0, part) * most.calls))


def share_of(settings: CompileSettings, shared: CostEstimate, searches: int) -> SearchShare:
    """The share of each search in what the caps leave.

    Args:
        settings: With the caps.
        shared: What is asked whatever the searches do.
        searches: How many there are.
    """
    calls = None if settings.budget is None else (settings.budget - shared.calls) // searches
    known = settings.max_cost is not None and shared.usd is not None
    usd = (settings.max_cost - shared.usd) / searches if known else settings.max_cost  # type: ignore[operator]  # known
    return SearchShare(calls, usd)


def plan_compile(
    dataset: Dataset, module: dspy.Module, settings: CompileSettings, optimizer: Optimizer, *, champion: bool
) -> CallPlan:
    """Plans the calls that the compile will take.

    Args:
        dataset: Labels and split.
        module: The uncompiled judge.
        settings: What was asked for.
        optimizer: What searches.
        champion: Whether there is one to compare with.

    Raises:
        UserError: When even a compile without a search does not fit the caps.
    """
    spec = settings.lm
    orders = orders_of(module)
    reflects = optimizer.effort(_sizes(dataset, settings, orders, None)).reflections > 0
    reflection = settings.reflection if reflects else None
    train, dev, test = dataset.train, dataset.dev, dataset.test
    baseline = {part.name: _asked(module, part, spec) for part in (train, dev, test)}
    preflight = add([_each(one, 1, 20, 2) for one in (spec, reflection) if one is not None and not one.no_model])
    uncompiled = whole(add(list(baseline.values())), settings)
    rival = _nothing(spec)
    if champion:
        rival = whole(with_demonstrations(baseline["test"], spec, module, test.items), settings)
    check_caps(add([preflight, uncompiled, rival]), settings)
    winner = add([with_demonstrations(baseline[p.name], spec, module, p.items) for p in (train, test)])
    winner = whole(winner, settings)
    later = [] if settings.batch else [baseline["dev"], baseline["test"]]  # in batches they are asked with train
    finish = add([*later, rival, winner])
    kept = finish.calls + int(ASKED_AGAIN * finish.calls) + 1
    kept_usd = None if finish.usd is None else DOLLAR_MARGIN * finish.usd

    typical = with_demonstrations(baseline["dev"], spec, module, dev.items, sum(SET_SIZES) // len(SET_SIZES))
    usd_a_call = None if typical.usd is None else typical.usd / max(1, typical.calls)
    begun = add([preflight, uncompiled if settings.batch else baseline["train"]])
    sizes = _sizes(dataset, settings, orders, _room(settings, begun, kept, kept_usd, usd_a_call))
    effort = optimizer.effort(sizes)
    judged = orders * (effort.judgments + sizes.final(effort.candidates))
    searches = len(dev) > 0 and (effort.candidates > 0 or (sizes.own > 0 and sizes.fits(Effort(0, 0, 0))))
    parts = [
        ("preflight", preflight),
        ("uncompiled judge", uncompiled),
        ("search", _scaled(typical, judged if searches else 0)),
        (
            "reflection",
            _each(reflection, effort.reflections if searches else 0, _reflected(typical, orders), REWRITE_TOKENS),
        ),
        ("winner", winner if searches else _nothing(spec)),
        ("champion", rival),
    ]
    stages = tuple(Stage(name, most) for name, most in parts if most.calls)
    return CallPlan(stages, kept, kept_usd, usd_a_call, searches, reflects, waits(settings, stages))


def whole(asked: CostEstimate, settings: CompileSettings) -> CostEstimate:
    """Cost of a pass over whole parts: half the list price in a batch."""
    if not settings.batch or asked.usd is None:
        return asked
    return replace(asked, usd=BATCH_SHARE * asked.usd)


def waits(settings: CompileSettings, stages: Sequence[Stage], rounds: int = 1) -> int:
    """Largest number of batches that have to be waited for one after the other.

    Args:
        settings: What was asked for.
        stages: What is asked.
        rounds: Each has a winner of its own.
    """
    if not settings.batch or settings.lm.no_model:
        return 0
    return sum(rounds if stage.name == "winner" else 1 for stage in stages if stage.name in PASSES)


def add(parts: list[CostEstimate]) -> CostEstimate:
    """The sum; dollars are unknown where one part's are."""
    dollars = [part.usd for part in parts]
    usd = None if None in dollars else sum(one for one in dollars if one is not None)
    return CostEstimate(sum(part.calls for part in parts), sum(part.tokens for part in parts), usd)


def _sizes(dataset: Dataset, settings: CompileSettings, orders: int, room: int | None) -> Sizes:
    parts = slices(dataset.dev.experts.cluster, settings.seed)
    pool = int(POOL_SHARE * len(dataset.train))
    room = None if room is None else room // orders
    reasons = dataset.train.n_reasons + dataset.dev.n_reasons
    return Sizes(tuple(map(len, parts)), pool, room, settings.reflection is not None, len(settings.prompts), reasons)


def _room(
    settings: CompileSettings, begun: CostEstimate, kept: int, kept_usd: float | None, usd_a_call: float | None
) -> int | None:
    left = [] if settings.budget is None else [settings.budget - begun.calls - kept]
    if settings.max_cost is not None and usd_a_call and kept_usd is not None and begun.usd is not None:
        left.append(int((settings.max_cost - begun.usd - kept_usd) / usd_a_call))
    return max(0, min(left)) if left else None


def judged_once(
    module: dspy.Module, dataset: Dataset, settings: CompileSettings, *, champion: bool
) -> dict[str, CostEstimate]:
    """The stages that judge the items of all folds once: the uncompiled judge, and where there is one the champion.

    Args:
        module: The uncompiled judge.
        dataset: All that is tested.
        settings: What was asked for.
        champion: Whether there is one to compare with.
    """
    asked = _asked(module, dataset.test, settings.lm)
    rival = with_demonstrations(asked, settings.lm, module, dataset.test.items)
    return {
        "uncompiled judge": whole(asked, settings),
        **({"champion": whole(rival, settings)} if champion else {}),
    }


def check_caps(least: CostEstimate, settings: CompileSettings) -> None:
    """Refuse caps under which not even the labels can be judged once.

    Raises:
        UserError: When ``least`` does not fit them.
    """
    if settings.budget is not None and settings.budget < least.calls:
        raise UserError(
            f"--budget {settings.budget}: judging every label once without any search takes {least.calls} calls. "
            "Raise --budget, or give fewer labels."
        )
    if settings.max_cost is not None and least.usd is not None and settings.max_cost < least.usd:
        raise UserError(
            f"--max-cost {settings.max_cost}: judging every label once without any search takes about "
            f"${least.usd:.4f} at list price. Raise --max-cost, give fewer labels, or name a cheaper --lm."
        )


def _asked(module: dspy.Module, part: Part, spec: LMSpec) -> CostEstimate:
    return asked_once(module, part.items, spec)


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


def _scaled(one: CostEstimate, calls: int) -> CostEstimate:
    share = calls / max(1, one.calls)
    return CostEstimate(calls, int(one.tokens * share), None if one.usd is None else one.usd * share)


def _reflected(typical: CostEstimate, orders: int) -> int:
    """Tokens of a reflection prompt: a minibatch of items with verdicts and feedback."""
    return REWRITE_FRAME + orders * MINIBATCH * typical.tokens // max(1, typical.calls)


def _nothing(spec: LMSpec) -> CostEstimate:
    return _each(spec, 0, 0, 0)
