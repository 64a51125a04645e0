"""Splits labels and other items by query: a remembered query stays where it was, new ones are drawn to quotas.

Neither a judge's name nor a seed nor the order of rows has a part in it: a query is known by its text, the labels and
groups that the quotas are stratified by are those of the file, and what is left to chance is a hash of the text.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from judgec.errors import UserError
from judgec.labels.rows.items import digest, item_digest
from judgec.labels.split.family import SHARES, SPLITS, Split, SplitName, split_table
from judgec.labels.split.memory import Measured, Memory, Side
from judgec.labels.split.queries import Queries, queries_of
from judgec.records.counts import plural
from judgec.records.label import Item, LabelSet

FRESH = Memory()
QUOTAS: Mapping[str, float] = dict(zip(SPLITS, SHARES, strict=True))
LEARNED: Mapping[str, float] = {name: QUOTAS[name] / (QUOTAS["train"] + QUOTAS["dev"]) for name in ("train", "dev")}
FOLDS = 5
SINGLE_FROM = 40  # queries from which a single split leaves enough of them to test on
FREE_SINGLE_FROM = 150  # the same where another fold asks no model again; below, an interval of a third is too wide
FEWEST = 5  # queries for as many folds
Stratum = tuple[str, ...]
S = TypeVar("S", str, int)


def split_labels(labels: LabelSet, memory: Memory = FRESH) -> Split:
    """Split labels by query, to 50, 20 and 30 % of the queries.

    Args:
        labels: As read, mirrored pairs brought together.
        memory: What the home remembers; its queries are not moved to meet a quota.
    """
    queries = queries_of(labels.items, memory.keys)
    return _split_queries(labels.items, queries, strata_of(labels, queries), memory)


def split_items(items: Sequence[Item], memory: Memory = FRESH) -> Split:
    """Split items without labels by query, to the same shares: what an agent answers, or a generator reads.

    Args:
        items: As read; of a passage, its document is the query.
        memory: What the home remembers of programs of this kind.
    """
    return _split_queries(items, queries_of(items, memory.keys), {}, memory)


def folds_of(labels: LabelSet, memory: Memory, asked: int | None, *, free: bool) -> int:
    """Number of folds that a compile has; 1 is the single split.

    Args:
        labels: As read.
        memory: What the home remembers: a family keeps its mode.
        asked: ``--folds``, or None.
        free: A fold asks no model again: all verdicts are recorded by then.

    Raises:
        UserError: When the family has another mode, or there are more folds than queries.
    """
    known = {label.item_id for label in labels.labels}
    queries = len(queries_of([item for item in labels.items if item.item_id in known], memory.keys))
    if asked is None:
        few = FEWEST <= queries < (FREE_SINGLE_FROM if free else SINGLE_FROM)
        # What folds fit differs by a little, which would put equal numbers of two folds in an order.
        return memory.folds or (FOLDS if few and not labels.scale.interval else 1)
    if asked < 1 or (asked > 1 and asked > queries):
        raise UserError(
            f"--folds {asked}: {plural(queries, 'labelled query')}; 1, the single split, to {max(1, queries)} "
            "are valid. Correct it."
        )
    if memory.folds not in {None, asked}:
        raise UserError(
            f"--folds {asked}: {memory.own[-1].name} was compiled with --folds {memory.folds}, and a judge keeps what "
            "it was tested with. Leave --folds out, or give another --name."
        )
    return asked


def fold_splits(labels: LabelSet, folds: int, memory: Memory = FRESH) -> tuple[Split, tuple[Split, ...], Split]:
    """The split that tests every query once; each fold's, whose queries are its test; and that which refits on all.

    What a fold does not test is train and dev as 50 to 20.

    Args:
        labels: As read, mirrored pairs brought together.
        folds: How many; at least 2.
        memory: What the home remembers; a query stays in its fold.
    """
    queries = queries_of(labels.items, memory.keys)
    strata = strata_of(labels, queries)
    equal = dict.fromkeys(range(1, folds + 1), 1 / folds)
    fold = drawn(queries, strata, memory.sides(labels.items, queries, folds), equal)

    def learning(tested: int) -> Split:
        sides = drawn(queries, strata, {}, LEARNED, apart=[i for i in fold if fold[i] == tested])
        named = {name: [i for i, q in enumerate(queries.of) if sides.get(q, "test") == name] for name in SPLITS}
        return _split(labels.items, named, queries.key_of)

    pooled = _split(labels.items, {"train": [], "dev": [], "test": range(len(labels.items))}, queries.key_of)
    pooled = replace(pooled, folds=folds, fold_of=tuple(fold[query] for query in queries.of))
    return pooled, tuple(learning(number) for number in equal), learning(0)


def recorded_split(labels: LabelSet, record: Mapping[str, object]) -> Split:
    """The split of labels that a version was saved with; of folds, all items are tested.

    Args:
        labels: As the version's were read.
        record: Its ``split.json``.
    """
    table = record.get("queries")
    sides = table if isinstance(table, dict) else {}
    folds = "folds" in record
    parts: dict[SplitName, list[int]] = {name: [] for name in SPLITS}
    for i, item in enumerate(labels.items):
        name = "test" if folds else sides.get(item.query_id)
        if name in parts:
            parts[name].append(i)
    return _split(labels.items, parts, ())


def split_record(split: Split, items: Sequence[Item], measured: Measured, salt: str) -> dict[str, object]:
    """The record of a split in ``split.json``, for whoever asks later what was learned from and what tested.

    Args:
        split: Of the items.
        items: What was split.
        measured: What is measured on the test items.
        salt: The family's.
    """
    keys: dict[str, Side] = {split.keys[i]: name for name in SPLITS for i in getattr(split, name)}
    known = measured.labelled
    tested = {split.keys[i] for i in split.test if known is None or items[i].item_id in known}
    table = split_table(split, items, salt)
    if split.folds > 1:  # the judge that ships has learned from all
        fold = {item.query_id: number for item, number in zip(items, split.fold_of, strict=True)}
        table |= {"queries": dict.fromkeys(sorted(fold), "train"), "folds": dict(sorted(fold.items()))}
        keys = dict(zip(split.keys, split.fold_of, strict=True))
    return {
        **table,
        "keys": dict(sorted(keys.items())),
        "tested": sorted(tested),
        "labels": {"task": measured.task, "columns": sorted(measured.columns)},
    }


def drawn(
    queries: Queries,
    strata: Mapping[int, Stratum],
    known: Mapping[int, Side],
    shares: Mapping[S, float],
    *,
    apart: Collection[int] = (),
) -> dict[int, S]:
    """A side for every query: the known ones keep theirs, the others fill up each side's share of all queries.

    Queries with a label are drawn before those that nobody labelled, so that the quotas hold among them alone, too.

    Args:
        queries: To be drawn.
        strata: From ``strata_of``; those of queries with a label.
        known: The remembered side by the query's number; one that is none of the shares' is drawn anew.
        shares: Of the queries, by side; they sum to 1.
        apart: Queries that get no side and count for no quota.
    """
    out = frozenset(apart)
    sides: dict[int, S] = {i: side for i, name in known.items() for side in shares if side == name}
    for labelled in (True, False):
        among = [i for i in range(len(queries)) if (i in strata) is labelled and i not in out]
        _fill([(strata.get(i, ()), queries.keys[i][0], i) for i in among], sides, shares)
    return sides


def strata_of(labels: LabelSet, queries: Queries) -> dict[int, Stratum]:
    """The usual label and the usual group of each query that has a label, by its number.

    Raw labels of all annotators count, not their consensus: where two annotators differ, a seed decides that.
    """
    of = {item.item_id: query for item, query in zip(labels.items, queries.of, strict=True)}
    grades: dict[int, list[int]] = defaultdict(list)
    groups: dict[int, Counter[str]] = defaultdict(Counter)
    for label in labels.labels:
        values = list(label.grades.values())
        if labels.accept_only or not values:
            values = [] if label.accept is None else [int(label.accept)]
        grades[of[label.item_id]] += values
    grouped = any(item.group for item in labels.items)
    for item, query in zip(labels.items if grouped else (), queries.of, strict=False):
        groups[query][item.group or ""] += 1
    nominal = labels.scale.level == "nominal"
    return {
        query: (f"{_usual(values) if nominal else _middle(values):04d}", _usual_name(groups[query]) if grouped else "")
        for query, values in grades.items()
        if values
    }


def trainable(items: Sequence[Item], memory: Memory) -> list[int]:
    """Positions of unlabelled items whose query is of train, or would be if it were labelled as it is."""
    queries = queries_of(items, memory.keys)
    sides = drawn(queries, {}, memory.sides(items, queries), QUOTAS)
    return [i for i, query in enumerate(queries.of) if sides[query] == "train"]


def _fill(among: Sequence[tuple[Stratum, str, int]], sides: dict[int, S], shares: Mapping[S, float]) -> None:
    """Give the new ones of these queries a side: as many to each as its quota lacks, spread evenly over the strata."""
    have = Counter(sides[i] for _, _, i in among if i in sides)
    new = [i for _, _, i in sorted(among) if i not in sides]
    lacks = {side: share * len(among) - have[side] for side, share in shares.items()}
    need = {side: max(0, int(lack) - 2) for side, lack in lacks.items()}  # sure to be given, with no more than two left
    if sum(need.values()) > len(new):
        need = dict.fromkeys(shares, 0)
    for _ in range(len(new) - sum(need.values())):
        short = max(shares, key=lambda side: round(shares[side] * len(among) - have[side] - need[side], 9))
        need[short] += 1
    due = dict.fromkeys(shares, 0)  # need[side] * turn - len(new) * how many it was given
    left = {side: count for side, count in need.items() if count}
    for i in new:
        for side in left:
            due[side] += need[side]
        sides[i] = side = max(left, key=due.__getitem__)
        due[side] -= len(new)
        left[side] -= 1
        if not left[side]:
            del left[side]


def _split_queries(items: Sequence[Item], queries: Queries, strata: Mapping[int, Stratum], memory: Memory) -> Split:
    sides = drawn(queries, strata, memory.sides(items, queries), QUOTAS)
    parts = {name: [i for i, query in enumerate(queries.of) if sides[query] == name] for name in SPLITS}
    return _split(items, parts, queries.key_of)


def _split(items: Sequence[Item], parts: Mapping[SplitName, Sequence[int]], keys: tuple[str, ...]) -> Split:
    digests = {name: digest(sorted(item_digest(items[i]) for i in parts[name])) for name in SPLITS}
    return Split(tuple(parts["train"]), tuple(parts["dev"]), tuple(parts["test"]), digests, keys)


def _usual(values: Sequence[int]) -> int:
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value))


def _middle(values: Sequence[int]) -> int:
    """The mean, rounded; sums of integers are the same in any order."""
    return (2 * sum(values) + len(values)) // (2 * len(values))


def _usual_name(counts: Counter[str]) -> str:
    return min(counts, key=lambda name: (-counts[name], name))
