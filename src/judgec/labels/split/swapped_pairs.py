"""Pairs that are each other's mirror image belong to one query, whatever the file calls it."""

from collections.abc import Sequence
from dataclasses import replace

from judgec.records.label import Item, LabelSet
from judgec.records.tasks.registry import compares


def with_swapped_together(labels: LabelSet) -> LabelSet:
    """The labels with one query id for all pairs that are equal or mirrored, so that no split separates them.

    Only comparisons change, and only where such pairs have different query ids: all queries that they connect
    take the first of their ids in sorted order.
    """
    if not compares(labels.task):
        return labels
    joint = _joint_queries(labels.items)
    items = tuple(replace(item, query_id=joint[item.query_id]) for item in labels.items)
    return labels if items == labels.items else replace(labels, items=items)


def _joint_queries(items: Sequence[Item]) -> dict[str, str]:
    """The id that stands for each query id."""
    parent = {item.query_id: item.query_id for item in items}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    first: dict[tuple[object, ...], str] = {}
    for item in items:
        sides = ((item.texts(f"conversation_{side}"), item.text(f"answer_{side}")) for side in "ab")
        pair = (item.text("query"), item.texts("conversation"), *sorted(sides))
        low, high = sorted((root(item.query_id), root(first.setdefault(pair, item.query_id))))
        parent[high] = low
    return {name: root(name) for name in parent}
