"""Puts what each recorded judge and panel costs beside its worth, and marks those that no other one beats.

Where the dollars of any judge are unknown, all are compared by calls an item: unknown is not free.
"""

from collections.abc import Sequence
from dataclasses import replace

from judgec.compiler.choose import ScoredCandidate
from judgec.records.cost import JudgeCost


def judge_costs(scored: Sequence[ScoredCandidate], chosen: str) -> list[JudgeCost]:
    """A row for each recorded judge and panel, the best first; none for a compile that asks a model.

    Args:
        scored: All that were compared.
        chosen: The name of the one that ships.
    """
    rows = []
    for one in scored:
        if one.estimate is None or not one.asked:
            continue
        rows.append(
            JudgeCost(
                judge=one.candidate.name,
                kind="panel" if "panel" in one.candidate.settings else "recorded",
                calls_per_item=one.calls / one.asked,
                usd_per_1000=None if one.cost_usd is None else 1000 * one.cost_usd / one.asked,
                dev=one.estimate,
                pareto=False,
                chosen=one.candidate.name == chosen,
            )
        )
    return sorted(with_front(rows), key=lambda row: (row.dev.value is None, -(row.dev.value or 0.0), row.judge))


def with_front(rows: Sequence[JudgeCost]) -> list[JudgeCost]:
    """The same rows, the Pareto front marked; who has no objective is not on it.

    Args:
        rows: Judges.
    """
    known = [(row.usd_per_1000, row.calls_per_item) for row in rows]
    in_dollars = all(usd is not None for usd, _ in known)
    price = [usd if in_dollars and usd is not None else calls for usd, calls in known]
    worth = [row.dev.value for row in rows]

    def beaten(i: int) -> bool:
        own = worth[i]
        return own is None or any(
            other is not None and other >= own and cost <= price[i] and (other > own or cost < price[i])
            for other, cost in zip(worth, price, strict=True)
        )

    return [replace(row, pareto=not beaten(i)) for i, row in enumerate(rows)]
