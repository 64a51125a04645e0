"""Puts what each judge costs that a compile could have shipped beside its worth, and marks those that none beats.

Of recorded judges the worth is the objective of their grades once calibrated, out of fold on train and dev, the cost
what was recorded, else list price where model and prompt are known; of the prompts of a search it is that of their
verdicts as they are, on dev, at list price. Recorded judges may have been asked about different items, so that each is
compared with the one that ships on the items of both. Where the dollars of any judge are
unknown, all are compared by calls an item: unknown is not free.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from judgec.compile.assemble import Bench, Fitted, evidence_only, learned_part, out_of_fold
from judgec.compile.choose import ChosenPrompt, ScoredCandidate
from judgec.compile.compared import LEAST, difference, in_common
from judgec.compile.dataset import ratings_of
from judgec.compile.list_price import listed_price
from judgec.compile.recorded import worth_of
from judgec.compile.search.plan import asked_once
from judgec.compile.settings import CompileSettings
from judgec.records.cost import JudgeCost, JudgeKind
from judgec.records.estimate import Estimate
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.objective import Objective

EVIDENCE_ROW = "evidence alone"
NOT_CALIBRATED = "not calibrated: worth least as it is"
ON_DEV = "dev"
TRAIN_AND_DEV = "train+dev"


def judge_costs(
    bench: Bench, choice: ChosenPrompt, judge: Fitted, settings: CompileSettings, objective: Objective
) -> tuple[JudgeCost, ...]:
    """A row for each candidate, panel and cascade, and for evidence alone, the best first.

    Args:
        bench: What they were made from.
        choice: All that were compared, and which one ships.
        judge: The one that ships.
        settings: With the model whose prices count.
        objective: The worth.

    Returns:
        Nothing without a model, which costs nothing.
    """
    if settings.lm.no_model:
        return ()
    ships = choice.chosen.name if judge.asks_lm else EVIDENCE_ROW
    alone = _evidence(bench, choice)
    if settings.rated.recorded is not None:
        rated = {one.candidate.name: one.rated for one in choice.scored if one.rated is not None}
        if alone is not None:
            rated[EVIDENCE_ROW] = alone
        rows = beside(list(_recorded(bench, choice)), rated, ships, settings, objective)
    else:
        rows = list(_asked(bench, choice, judge, settings, objective))
    if alone is not None:
        split = TRAIN_AND_DEV if settings.rated.recorded is not None else ON_DEV
        worth = worth_of(alone, objective, settings)
        row = JudgeCost(EVIDENCE_ROW, "evidence", 0.0, 0.0, worth, pareto=False, chosen=False, split=split)
        rows += [row] if settings.rated.recorded is None else beside([row], rated, ships, settings, objective)
    rows = [replace(row, chosen=row.judge == ships) for row in rows]
    found = sorted(with_front(rows), key=lambda row: (row.dev.value is None, -(row.dev.value or 0.0), row.judge))
    return tuple(found)


def beside(
    rows: Sequence[JudgeCost],
    rated: Mapping[str, GradePairs],
    ships: str,
    settings: CompileSettings,
    objective: Objective,
) -> list[JudgeCost]:
    """The rows with what each judge is worth above the one that ships, on the items that both were asked about.

    Args:
        rows: Judges.
        rated: Their grades out of fold.
        ships: The one that ships.
        settings: Of the intervals.
        objective: The worth.
    """
    if ships not in rated:
        return list(rows)

    def gain(row: JudgeCost) -> Estimate:
        if row.judge not in rated:
            return Estimate(value=None, note=row.dev.note or NOT_CALIBRATED)
        common = in_common(rated[row.judge], rated[ships])
        if common < LEAST:
            return Estimate(value=None, note=f"fewer than {LEAST} labels in common with {ships}", n=common)
        return difference(rated[row.judge], rated[ships], objective, settings)

    return [replace(row, minus_chosen=gain(row)) for row in rows]


def _recorded(bench: Bench, choice: ChosenPrompt) -> Iterator[JudgeCost]:
    for one in choice.scored:
        if one.asked:
            usd = _listed(bench, one) if one.cost_usd is None else 1000 * one.cost_usd / one.asked
            worth = one.worth or Estimate(value=None, note=NOT_CALIBRATED)
            made = one.candidate.settings
            kind: JudgeKind = "panel" if "panel" in made else "cascade" if "cascade" in made else "recorded"
            yield JudgeCost(one.candidate.name, kind, one.calls / one.asked, usd, worth, pareto=False, chosen=False)


def _listed(bench: Bench, one: ScoredCandidate) -> float | None:
    """Cost of a recorded judge for a thousand items by its prompt and the price list; None where unknown."""
    assert bench.recorded is not None  # the caller has looked
    members = one.members or (one.candidate.name,)
    if not all(name in bench.recorded.judges for name in members):
        return None  # a cascade, whose price is unknown where that of one of its two judges is
    items = bench.dataset.dev.items or bench.dataset.train.items
    prices = [listed_price(bench.recorded.judges[name], items, bench.aspects) for name in members]
    known = [usd for usd in prices if usd is not None]
    return 1000 * sum(known) * one.calls / one.asked / len(members) if len(known) == len(members) else None


def _asked(
    bench: Bench, choice: ChosenPrompt, judge: Fitted, settings: CompileSettings, objective: Objective
) -> Iterator[JudgeCost]:
    """The prompts of a search, at list price; a cascade out of fold on the same items."""
    items = bench.dataset.dev.items
    for one in choice.scored if items else ():
        if one.asked:  # the cascade that ships
            usd = None if one.cost_usd is None else 1000 * one.cost_usd / one.asked
            rated = ratings_of(bench.dataset, *out_of_fold(judge, bench.dataset.dev))
            worth, calls = worth_of(rated, objective, settings), one.calls / one.asked
        else:
            price, worth = asked_once(one.candidate.module, items, settings.lm), Estimate(value=one.dev, n=one.items)
            usd, calls = None if price.usd is None else 1000 * price.usd / len(items), price.calls / len(items)
        kind: JudgeKind = "cascade" if one.asked else "prompt"
        yield JudgeCost(one.candidate.name, kind, calls, usd, worth, pareto=False, chosen=False, split=ON_DEV)


def _evidence(bench: Bench, choice: ChosenPrompt) -> GradePairs | None:
    """The grades of the judge that asks nobody, out of fold on the items of the others; None without one."""
    part = learned_part(bench) if bench.recorded is not None else bench.dataset.dev
    if bench.evidence is None or not part.items:
        return None
    return ratings_of(bench.dataset, *out_of_fold(evidence_only(bench, choice.chosen), part))


def with_front(rows: Sequence[JudgeCost]) -> list[JudgeCost]:
    """The same rows, the Pareto front marked; who has no objective, or left a race early, is not on it.

    Args:
        rows: Judges; ranked by ``minus_chosen`` where they have it, so that each is compared on the items of both.
    """
    known = [(row.usd_per_1000, row.calls_per_item) for row in rows]
    in_dollars = all(usd is not None for usd, _ in known)
    price = [usd if in_dollars and usd is not None else calls for usd, calls in known]
    whole = max((row.dev.n for row in rows if row.kind == "prompt"), default=0)
    worth = [None if row.kind == "prompt" and row.dev.n < whole else row.comparable for row in rows]

    def beaten(i: int) -> bool:
        own = worth[i]
        return own is None or any(
            other is not None and other >= own and cost <= price[i] and (other > own or cost < price[i])
            for other, cost in zip(worth, price, strict=True)
        )

    return [replace(row, pareto=not beaten(i)) for i, row in enumerate(rows)]
