"""Takes one target from annotators who differ: the consensus that a judge learns from."""

from dataclasses import replace
from typing import Literal

import numpy as np

from judgec.compile.dataset import Dataset, Part, joined, with_split
from judgec.records.label import UNLABELLED, Experts, FloatArray, IntArray, Item
from judgec.stats.agreement.dawid_skene import dawid_skene

Consensus = Literal["median", "dawid-skene", "soft"]


def taught(dataset: Dataset, consensus: Consensus) -> Dataset:
    """The data with this consensus on train and dev; what is tested, or promised on, keeps the median.

    Dawid and Skene's is fitted on train and dev together, by aspect, and on nothing else. ``soft`` keeps the median as
    the target that rules are chosen by; calibrators are fitted on ``shares_of`` beside it.
    """
    if consensus != "dawid-skene":
        return dataset
    learned = joined(dataset.train, dataset.dev)
    experts = _dawid_skene(learned.experts, dataset)
    n = len(dataset.train)
    return replace(
        dataset,
        train=_with_targets(dataset.train, experts.grade[:n], experts.accept[:n]),
        dev=_with_targets(dataset.dev, experts.grade[n:], experts.accept[n:]),
    )


def shares_of(by: IntArray, n_grades: int) -> FloatArray:
    """The annotators' shares of each grade, shape (n_items, n_grades); rows of an item that nobody labelled are 0.

    Args:
        by: Grade positions, shape (n_annotators, n_items); -1 where missing.
        n_grades: Grades on the scale.
    """
    counts = (by[:, :, None] == np.arange(n_grades)).sum(axis=0)
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))


def consensus_notes(dataset: Dataset, consensus: Consensus, seed: int) -> list[str]:
    """Notes on how far the consensus that was learned from differs from the median; none for the median.

    Args:
        dataset: What the judge that ships learned from.
        consensus: Which it was.
        seed: Of the median's picks.
    """
    if consensus == "median":
        return []
    learned = joined(dataset.train, dataset.dev).experts
    by = learned.accept_by if dataset.labels.accept_only else learned.grade_by
    several = (by != UNLABELLED).sum(axis=0) > 1
    if not several.any():
        return [f"--consensus {consensus}: no learned item has two annotators, so it is each item's own label"]
    labels = int((by != UNLABELLED).any(axis=0).sum())
    if consensus == "soft":
        lowest = np.where(by == UNLABELLED, by.max(initial=0), by).min(axis=0)
        differ = int((several & (by.max(axis=0) > lowest)).sum())
        return [f"--consensus soft: annotators differ on {differ} of {labels} learned labels, which count in shares"]
    plain = with_split(dataset.labels, dataset.split, seed)
    median = {item.item_id: row for part in (plain.train, plain.dev) for item, row in _targets(dataset, part)}
    found = [(item, row) for part in (dataset.train, dataset.dev) for item, row in _targets(dataset, part)]
    changed = sum(int((row != median[item.item_id]).sum()) for item, row in found)
    return [f"--consensus dawid-skene: {changed} of {labels} learned labels differ from the median; tests keep it"]


def _targets(dataset: Dataset, part: Part) -> list[tuple[Item, IntArray]]:
    experts = part.experts
    return list(zip(part.items, experts.accept if dataset.labels.accept_only else experts.grade, strict=True))


def _dawid_skene(experts: Experts, dataset: Dataset) -> Experts:
    """Grades and accepts by Dawid and Skene; accepts that all follow from grades still do."""
    scale = dataset.labels.scale
    threshold = scale.accept_index
    grade = _likeliest(experts.grade_by, experts.grade, len(scale.grades))
    graded = experts.grade_by != UNLABELLED
    follow = threshold is not None and bool(
        (experts.accept_by == np.where(graded, experts.grade_by >= threshold, UNLABELLED)).all()
    )
    if follow:
        accept = np.where(grade == UNLABELLED, UNLABELLED, grade >= (threshold or 0)).astype(np.int64)
    else:
        accept = _likeliest(experts.accept_by, experts.accept, 2)
    return replace(experts, grade=grade, accept=accept)


def _likeliest(by: IntArray, median: IntArray, n_grades: int) -> IntArray:
    columns = []
    for j in range(by.shape[2]):
        found = dawid_skene(by[:, :, j], n_grades)
        columns.append(median[:, j] if found is None else found.grades(median[:, j]))
    return np.stack(columns, axis=1)


def _with_targets(part: Part, grade: IntArray, accept: IntArray) -> Part:
    return replace(part, experts=replace(part.experts, grade=grade, accept=accept))
