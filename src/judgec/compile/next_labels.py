"""Chooses the items that experts should grade next: those the judge is unsure of, and a random sample."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgec.records.judgment import Judgments
from judgec.records.label import FloatArray, Item
from judgec.records.scale import Scale

UNCERTAIN, RANDOM = "uncertain", "random"
RANDOM_SHARE = 0.5  # of a batch: enough to estimate from, without which a sample of hard items says nothing


@dataclass(frozen=True, slots=True)
class Pick:
    """An item to be graded.

    Args:
        item: The item.
        stratum: ``uncertain`` or ``random``.
        probability: With which the item got into its stratum: 1 for the uncertain ones, which are no sample.
    """

    item: Item
    stratum: str
    probability: float


def uncertainty(judgments: Judgments, scale: Scale) -> FloatArray:
    """How unsure the judge is of each item, 0-1, shape (n_items,); the mean over aspects.

    The variance of the score under the judge's distribution, as a share of the largest there can be; on a nominal
    scale the entropy. An item that the judge could not grade at all is as uncertain as can be.
    """
    p = judgments.probabilities
    if scale.level == "nominal":
        logs = np.log(np.where(p > 0, p, 1.0))
        unsure = -(p * logs).sum(axis=2) / np.log(p.shape[2])
    else:
        values = np.array(scale.values)
        mean = p @ values
        unsure = (p @ values**2 - mean**2) / ((values[-1] - values[0]) ** 2 / 4)
    return np.asarray(np.nan_to_num(unsure, nan=1.0).mean(axis=1))


def next_labels(
    items: Sequence[Item], uncertain: FloatArray, n: int, *, trainable: Sequence[int], seed: int = 0
) -> tuple[Pick, ...]:
    """Choose ``n`` items, in the order of ``items``; all of them where there are no more.

    The random half comes first: a query at random, then one of its items (when there are fewer queries than draws,
    items at random), each with its known probability, so that weighting by 1 / probability estimates anything about
    the unlabelled items without bias. The uncertain ones are the least sure of the rest, one a query before a second
    of any, and only from queries whose split is train: items chosen for being hard must never become test items, or
    every later judge would look worse than it is. Where train has fewer than ``n`` items left, all are random.

    Args:
        items: Unlabelled ones.
        uncertain: From ``uncertainty``, shape (n_items,).
        n: How many.
        trainable: Positions of the items whose query is of train.
        seed: Of the random half.
    """
    n = min(n, len(items))
    n_random = n if len(trainable) < n else round(RANDOM_SHARE * n)  # so the draws never use train up
    drawn = _random(items, n_random, np.random.default_rng(seed))
    rest = [i for i in trainable if i not in drawn]
    hard = _spread(items, sorted(rest, key=lambda i: (-uncertain[i], i)), n - len(drawn))
    picks = {i: Pick(items[i], RANDOM, probability) for i, probability in drawn.items()}
    picks |= {i: Pick(items[i], UNCERTAIN, 1.0) for i in hard}
    return tuple(picks[i] for i in sorted(picks))


def _random(items: Sequence[Item], n: int, rng: np.random.Generator) -> dict[int, float]:
    """Rows drawn at random with the probability of each."""
    queries: dict[str, list[int]] = {}
    for i, item in enumerate(items):
        queries.setdefault(item.query_id, []).append(i)
    if n > len(queries):
        return {int(i): n / len(items) for i in rng.choice(len(items), n, replace=False)}
    names = sorted(queries)
    chosen = [queries[names[k]] for k in rng.choice(len(names), n, replace=False)]
    return {int(rng.choice(rows)): n / len(names) / len(rows) for rows in chosen}


def _spread(items: Sequence[Item], ranked: Sequence[int], n: int) -> list[int]:
    """The first ``n`` of ``ranked``, taking one a query before a second of any."""
    rounds: dict[int, list[int]] = {}
    seen: dict[str, int] = {}
    for i in ranked:
        query = items[i].query_id
        seen[query] = seen.get(query, -1) + 1
        rounds.setdefault(seen[query], []).append(i)
    return [i for turn in sorted(rounds) for i in rounds[turn]][:n]
