"""Puts what each judge costs that a compile could have shipped beside its worth, and marks those that none beats.

Of recorded judges the worth is the objective of their grades once calibrated, out of fold on train and dev, the cost
what was recorded, else list price where model and prompt are known; of the prompts of a search it is that of their
verdicts as they are, on dev, at list price. Where the dollars of any judge are
unknown, all are compared by calls an item: unknown is not free.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judgec.compiler.assemble import Bench, evidence_only, learned_part, out_of_fold
from judgec.compiler.choose import ChosenPrompt, ScoredCandidate
from judgec.compiler.dataset import Part, ratings_of
from judgec.compiler.recorded import worth_of
from judgec.compiler.search.plan import asked_once
from judgec.compiler.settings import CompileSettings
from judgec.judges.cascade import Cascade
from judgec.judges.judge import CompiledJudge
from judgec.judges.live import live_prompt
from judgec.lm.prices import TYPICAL_REPLY, estimate_tokens, price
from judgec.records.cost import JudgeCost, JudgeKind
from judgec.records.estimate import Estimate
from judgec.stats.agreement.objective import Objective

EVIDENCE_ROW = "evidence alone"
NOT_CALIBRATED = "not calibrated: worth least as it is"
ON_DEV = "dev"
PRICED = 50  # items whose prompts say what the others cost


def judge_costs(
    bench: Bench, choice: ChosenPrompt, judge: CompiledJudge, settings: CompileSettings, objective: Objective
) -> tuple[JudgeCost, ...]:
    """A row for each candidate, panel and cascade, and for evidence alone, the best first.

    Args:
        bench: What they were made from.
        choice: All that were compared, and which one ships.
        judge: The one that ships.
        settings: With the model whose prices count.
        objective: The worth.

    Returns:
        Nothing for the embedded engine, which costs nothing whatever it judges by.
    """
    if settings.lm.embedded:
        return ()
    ships = choice.chosen.name if judge.asks_lm else EVIDENCE_ROW
    if settings.recorded is not None:
        rows = list(_recorded(bench, choice))
    else:
        rows = list(_asked(bench, choice, judge, settings, objective))
    rows += _evidence(bench, choice, settings, objective)
    rows = [replace(row, chosen=row.judge == ships) for row in rows]
    found = sorted(with_front(rows), key=lambda row: (row.dev.value is None, -(row.dev.value or 0.0), row.judge))
    return tuple(found)


def _recorded(bench: Bench, choice: ChosenPrompt) -> Iterator[JudgeCost]:
    for one in choice.scored:
        if one.asked:
            usd = _listed(bench, one) if one.cost_usd is None else 1000 * one.cost_usd / one.asked
            worth = one.worth or Estimate(value=None, note=NOT_CALIBRATED)
            yield JudgeCost(
                one.candidate.name, _kind(one), one.calls / one.asked, usd, worth, pareto=False, chosen=False
            )


def _listed(bench: Bench, one: ScoredCandidate) -> float | None:
    """What a recorded judge would cost for a thousand items by its prompt and the price list; None where unknown."""
    assert bench.recorded is not None  # the caller has looked
    joint = bench.recorded.panels.get(one.candidate.name)
    if isinstance(joint, Cascade) or (joint is None and one.candidate.name not in bench.recorded.judges):
        return None  # its share of dear calls is of the judges as they were asked; a panel that was not chosen
    members = (one.candidate.name,) if joint is None else joint.members
    prices = [_listed_once(bench, name) for name in members]
    known = [usd for usd in prices if usd is not None]
    return 1000 * sum(known) * one.calls / one.asked / len(members) if len(known) == len(members) else None


def _listed_once(bench: Bench, judge: str) -> float | None:
    """Dollars for asking a recorded judge about one item, the mean of a few."""
    assert bench.recorded is not None  # the caller has looked
    about, rate = bench.recorded.judges[judge], None
    items = bench.dataset.dev.items[:PRICED] or bench.dataset.train.items[:PRICED]
    prompt = live_prompt(about.model, about.messages)
    if about.model:
        rate = price(about.model)
    if prompt is None or rate is None or not items:
        return None
    aspects = bench.aspects if "" not in about.messages else bench.aspects[:1]
    asked = [prompt.filled(aspect, item) for item in items for aspect in aspects if prompt.of(aspect)]
    usd = sum(estimate_tokens(messages) * rate.input + TYPICAL_REPLY * rate.output for messages in asked)
    return usd / len(items)


def _asked(
    bench: Bench, choice: ChosenPrompt, judge: CompiledJudge, settings: CompileSettings, objective: Objective
) -> Iterator[JudgeCost]:
    """The prompts of a search, at list price; a cascade out of fold on the same items."""
    items = bench.dataset.dev.items
    for one in choice.scored if items else ():
        if one.asked:  # the cascade that ships
            usd = None if one.cost_usd is None else 1000 * one.cost_usd / one.asked
            worth, calls = _out_of_fold(bench, judge, bench.dataset.dev, settings, objective), one.calls / one.asked
        else:
            price, worth = asked_once(one.candidate.module, items, settings.lm), Estimate(value=one.dev, n=one.items)
            usd, calls = None if price.usd is None else 1000 * price.usd / len(items), price.calls / len(items)
        kind: JudgeKind = "cascade" if one.asked else "prompt"
        yield JudgeCost(one.candidate.name, kind, calls, usd, worth, pareto=False, chosen=False, split=ON_DEV)


def _evidence(
    bench: Bench, choice: ChosenPrompt, settings: CompileSettings, objective: Objective
) -> Iterator[JudgeCost]:
    """The judge that asks nobody, out of fold on the items of the others."""
    recorded = settings.recorded is not None
    part = learned_part(bench) if recorded else bench.dataset.dev
    if bench.evidence is None or not part.items:
        return
    worth = _out_of_fold(bench, evidence_only(bench, choice.chosen), part, settings, objective)
    split = "train+dev" if recorded else ON_DEV
    yield JudgeCost(EVIDENCE_ROW, "evidence", 0.0, 0.0, worth, pareto=False, chosen=False, split=split)


def _out_of_fold(
    bench: Bench, judge: CompiledJudge, part: Part, settings: CompileSettings, objective: Objective
) -> Estimate:
    return worth_of(ratings_of(bench.dataset, *out_of_fold(judge, part)), objective, settings)


def _kind(one: ScoredCandidate) -> JudgeKind:
    settings = one.candidate.settings
    return "panel" if "panel" in settings else "cascade" if "cascade" in settings else "recorded"


def with_front(rows: Sequence[JudgeCost]) -> list[JudgeCost]:
    """The same rows, the Pareto front marked; who has no objective, or left a race early, is not on it.

    Args:
        rows: Judges.
    """
    known = [(row.usd_per_1000, row.calls_per_item) for row in rows]
    in_dollars = all(usd is not None for usd, _ in known)
    price = [usd if in_dollars and usd is not None else calls for usd, calls in known]
    whole = max((row.dev.n for row in rows if row.kind == "prompt"), default=0)
    worth = [None if row.kind == "prompt" and row.dev.n < whole else row.dev.value for row in rows]

    def beaten(i: int) -> bool:
        own = worth[i]
        return own is None or any(
            other is not None and other >= own and cost <= price[i] and (other > own or cost < price[i])
            for other, cost in zip(worth, price, strict=True)
        )

    return [replace(row, pareto=not beaten(i)) for i, row in enumerate(rows)]
