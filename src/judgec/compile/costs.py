"""Puts what each judge costs that a compile could have shipped beside its worth, and marks those that none beats.

Of judges that are compared the worth is the objective of their grades once calibrated, out of fold on train and dev,
the cost what was recorded, else list price where model and prompt are known; of the prompts of a search it is that of
their verdicts as they are, on dev, at list price. Judges may have been asked about different items, so that each is
compared with the one that ships on the items of both. Where the dollars of any judge are unknown, all are compared by
calls an item: unknown is not free.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from judgec.compile.assemble import Bench, evidence_only, out_of_fold
from judgec.compile.choose import Choice
from judgec.compile.dataset import ratings_of
from judgec.compile.rated import Rated, RecordedCost
from judgec.compile.search.plan import asked_once
from judgec.compile.settings import CompileSettings
from judgec.compile.winner import LEAST, difference, in_common, worth
from judgec.lm.prices import TYPICAL_REPLY, estimate_tokens, price
from judgec.raters.about_judges import AboutJudge
from judgec.raters.judge import kind_of
from judgec.raters.recorded import RecordedVerdicts
from judgec.raters.tree import Cascade, Node
from judgec.raters.turns import filled
from judgec.records.cost import JudgeCost
from judgec.records.estimate import Estimate
from judgec.records.label import Item
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.objective import Objective

EVIDENCE_ROW = "evidence alone"
NOT_CALIBRATED = "not calibrated: worth least as it is"
ON_DEV = "dev"
TRAIN_AND_DEV = "train+dev"
PRICED = 50  # items whose prompts say what the others cost


def judge_costs(
    bench: Bench, choice: Choice, made: Sequence[Rated], ships: str, settings: CompileSettings
) -> tuple[JudgeCost, ...]:
    """A row for each candidate, pool and cascade, and for evidence alone, the best first.

    Args:
        bench: What they were made from.
        choice: The candidates.
        made: Of several of them: a pool, a cascade.
        ships: The name of the one that ships; empty for evidence alone.
        settings: With the model whose prices count.

    Returns:
        Nothing without a model, which costs nothing.
    """
    if settings.lm.no_model:
        return ()
    ships = ships or EVIDENCE_ROW
    recorded = bench.recorded is not None
    graded = {one.name: one.graded for one in (*choice.rated.values(), *made) if one.graded is not None}
    rows = list(
        _compared(bench, [*choice.rated.values(), *made]) if recorded else _searched(bench, choice, made, settings)
    )
    part = bench.learned if recorded else bench.dataset.dev
    if bench.evidence is not None and part.items:
        alone = evidence_only(bench, choice.best.candidate)
        graded[EVIDENCE_ROW] = ratings_of(bench.dataset, *out_of_fold(alone, part))
        value = worth(graded[EVIDENCE_ROW], bench.objective)
        split = TRAIN_AND_DEV if recorded else ON_DEV
        rows.append(JudgeCost(EVIDENCE_ROW, "evidence", 0.0, 0.0, value, pareto=False, chosen=False, split=split))
    if recorded and ships in graded:
        rows = [replace(row, minus_chosen=minus_chosen(row, graded, ships, bench.objective)) for row in rows]
    rows = with_front([replace(row, chosen=row.judge == ships) for row in rows])
    return tuple(sorted(rows, key=lambda row: (row.dev.value is None, -(row.dev.value or 0.0), row.judge)))


def minus_chosen(row: JudgeCost, graded: Mapping[str, GradePairs], ships: str, objective: Objective) -> Estimate:
    """What a judge is worth above the one that ships, on the items that both were asked about."""
    if row.judge not in graded:
        return Estimate(value=None, note=row.dev.note or NOT_CALIBRATED)
    common = in_common(graded[row.judge], graded[ships])
    if common < LEAST:
        return Estimate(value=None, note=f"fewer than {LEAST} labels in common with {ships}", n=common)
    return difference(graded[row.judge], graded[ships], objective)


def _compared(bench: Bench, rated: Sequence[Rated]) -> Iterator[JudgeCost]:
    for one in rated:
        if one.bill is not None and one.bill.asked:
            value = (
                Estimate(value=None, note=NOT_CALIBRATED) if one.graded is None else worth(one.graded, bench.objective)
            )
            kind, calls, usd = kind_of(bench.rater(one.candidate)), one.bill.calls_per_item, one.bill.usd_per_1000
            usd = _listed(bench, one.candidate.rater, one.bill) if usd is None else usd
            kind = kind if kind in {"panel", "cascade"} else "recorded"
            yield JudgeCost(one.name, kind, calls, usd, value, pareto=False, chosen=False)


def _listed(bench: Bench, rater: Node | None, bill: RecordedCost) -> float | None:
    """Cost for a thousand items by the prompts and the price list; None where unknown, and of a cascade."""
    if rater is None or bench.recorded is None or isinstance(rater, Cascade):
        return None
    items = bench.dataset.dev.items or bench.dataset.train.items
    prices = [listed_price(bench.recorded.judges[leaf.name], items, bench.aspects) for leaf in rater.leaves]
    known = [usd for usd in prices if usd is not None]
    return 1000 * sum(known) * bill.calls_per_item / len(prices) if len(known) == len(prices) else None


def _searched(bench: Bench, choice: Choice, made: Sequence[Rated], settings: CompileSettings) -> Iterator[JudgeCost]:
    """The prompts of a search, at list price; a cascade out of fold on the same items."""
    items, n = bench.dataset.dev.items, len(bench.dataset.dev.items)
    for name, (one, at) in choice.searched.items() if items else ():
        price = asked_once(one.module, items, settings.lm)
        usd, value = None if price.usd is None else 1000 * price.usd / n, Estimate(value=at.value, n=at.items)
        yield JudgeCost(name, "prompt", price.calls / n, usd, value, pareto=False, chosen=False, split=ON_DEV)
    for rated in made if items else ():
        assert rated.bill is not None  # of a cascade
        rows = range(len(bench.dataset.train), len(bench.learned))
        value = worth(ratings_of(bench.dataset, bench.dataset.dev, rated.raw.subset(rows)), bench.objective)
        calls, usd = rated.bill.calls_per_item, rated.bill.usd_per_1000
        yield JudgeCost(rated.name, "cascade", calls, usd, value, pareto=False, chosen=False, split=ON_DEV)


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


def listed_price(about: AboutJudge, items: Sequence[Item], aspects: Sequence[str]) -> float | None:
    """US dollars for asking a recorded judge about an item once, the mean of the first items.

    Args:
        about: Its model and prompt.
        items: That are judged.
        aspects: What is graded of each: a prompt of its own each, where the judge has several.

    Returns:
        None where its prompt or the price of its model is not known.
    """
    rate = price(about.model) if about.model else None
    some = items[:PRICED]
    if not about.messages or rate is None or not some:
        return None
    of = aspects if "" not in about.messages else aspects[:1]
    asked = [turns for item in some for aspect in of if (turns := filled(about.messages, aspect, item))]
    usd = sum(estimate_tokens(messages) * rate.input + TYPICAL_REPLY * rate.output for messages in asked)
    return usd / len(some)


def cost_once(recorded: RecordedVerdicts, judge: str, items: Sequence[Item]) -> float | None:
    """US dollars for an item that a recorded judge was asked about: as recorded, else by the price list; else None."""
    ids = [item.item_id for item in items]
    calls, asked = recorded.calls_of(judge, ids)
    if not asked:
        return None
    cost = recorded.cost_of(judge, ids)
    if cost is not None:
        return cost / asked
    listed = listed_price(recorded.judges[judge], items, recorded.about.aspects)
    return None if listed is None else listed * calls / asked
