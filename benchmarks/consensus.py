"""Which consensus of annotators who differ teaches a judge best, by held-out agreement with the annotators one by one.

    python -m benchmarks.consensus --data ../shared/data [--only NAME ...] [--write]

Five folds by query. On the four training folds the calibrator and its decision rule learn the median, Dawid and
Skene's likeliest grade, MACE's, or the annotators' shares ("soft"); each consensus is taken from these folds alone. On
the fifth the judge's grades are held against every label of every annotator: the label is the yardstick, so no
consensus has an advantage. ``labels/`` sets are judged from evidence (the embedded engine), ``recorded/`` sets from
recorded verdicts. "loss" is the ranked probability score of the judge's probabilities (Brier's for classes), smaller is
better. Differences are to the median, paired, with 95 % intervals over queries.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.agreement import cell, write
from benchmarks.recorded_calibration import verdict_distributions
from judgec.compile.calibrate import fit_out_of_fold
from judgec.compile.calibrate_choice import Data
from judgec.compile.consensus import shares_of
from judgec.evidence.model import EvidenceModel
from judgec.labels.experts import experts_of
from judgec.labels.labels import read_label_file
from judgec.raters.calibrator import above_cuts
from judgec.records.estimate import Estimate
from judgec.records.label import UNLABELLED, Experts, FloatArray, IntArray, LabelSet
from judgec.stats.agreement.dawid_skene import DawidSkene, dawid_skene
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.statistic import MomentStatistic, table_statistic
from judgec.stats.intervals.bootstrap import difference_interval

FOLDS = 5
SETS = ("labels/clapnq_aspects", "labels/nq301_accept", "labels/pandalm_preference", "recorded/summeval_aspects")
JUDGES = ("gpt-4o/alttest", "gpt-4-0314/rts", "gpt-3.5-turbo-0301/rts", "mistral-v03/alttest")
START, END = "<!-- consensus: start -->", "<!-- consensus: end -->"
MOST_ROUNDS, SMOOTHING, SPAMMERS = 500, 0.01, 0.5  # of MACE


def mace(by: IntArray, n_grades: int) -> FloatArray | None:
    """MACE's chances of the grades, shape (n_items, n_grades): annotators say the truth, or spam by a habit.

    Each annotator knows with a probability of their own; else they draw from their own shares of the grades. Two
    parameters an annotator fewer than Dawid and Skene's matrix. All grades are equally likely beforehand.

    Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), Learning Whom to Trust with MACE, NAACL.
    """
    said = (by[:, :, None] == np.arange(n_grades)).astype(np.float64)
    if not (said.sum(axis=(0, 2)) > 1).any():
        return None
    knows = np.full(len(by), 1.0 - SPAMMERS)
    habit = (said.sum(axis=1) + SMOOTHING) / (said.sum(axis=(1, 2)) + n_grades * SMOOTHING)[:, None]
    before, chances = -np.inf, np.empty(0)
    for _ in range(MOST_ROUNDS):
        # P(annotator a says l | truth k) = knows_a [k = l] + (1 - knows_a) habit_al
        spam = (1 - knows)[:, None, None] * habit[:, None, :]
        likely = knows[:, None, None] * np.eye(n_grades) + spam
        joint = np.einsum("ail,akl->ik", said, np.log(likely)) - np.log(n_grades)
        most = joint.max(axis=1, keepdims=True)
        weight = np.exp(joint - most)
        chances = weight / weight.sum(axis=1, keepdims=True)
        now = float((np.log(weight.sum(axis=1)) + most[:, 0]).sum())
        pairs = np.einsum("ik,ail->akl", chances, said)
        honest = pairs * (knows[:, None, None] * np.eye(n_grades) / likely)
        spammed = (pairs - honest).sum(axis=1) + SMOOTHING
        knows = (honest.sum(axis=(1, 2)) + SMOOTHING) / (pairs.sum(axis=(1, 2)) + 2 * SMOOTHING)
        habit = spammed / spammed.sum(axis=1, keepdims=True)
        if now - before < 1e-9 * by.shape[1]:
            break
        before = now
    return np.where((by != UNLABELLED).any(axis=0)[:, None], chances, np.nan)


def by_dawid_skene(by: IntArray, median: IntArray, n_grades: int) -> IntArray:
    """Dawid and Skene's likeliest grades."""
    found = dawid_skene(by, n_grades)
    return median if found is None else found.grades(median)


def by_mace(by: IntArray, median: IntArray, n_grades: int) -> IntArray:
    """MACE's likeliest grades."""
    found = mace(by, n_grades)
    return median if found is None else DawidSkene(found, np.empty(0), np.empty(0), ()).grades(median)


TARGETS: dict[str, Callable[[IntArray, IntArray, int], IntArray]] = {
    "median": lambda _, median, __: median,
    "dawid-skene": by_dawid_skene,
    "mace": by_mace,
    "soft": lambda _, median, __: median,
}


@dataclass(frozen=True, slots=True)
class World:
    """Items with several annotators, and what a judge may go by.

    Args:
        name: Of the set, and of the judge where there are several.
        labels: As read.
        experts: Their labels.
        verdicts: Recorded, by aspect, each (n_items, n_grades) with NaN where none; None: judged from evidence.
    """

    name: str
    labels: LabelSet
    experts: Experts
    verdicts: tuple[FloatArray, ...] | None


@dataclass(frozen=True, slots=True)
class Taught:
    """What one consensus came to.

    Args:
        changed: Training labels that differ from the median, share.
        value: Agreement with single labels.
        gain: Over the median.
        loss: Of the probabilities, against single labels.
        saved: Loss below the median's: positive is better.
    """

    changed: float
    value: float
    gain: Estimate
    loss: float
    saved: Estimate


def worlds(folder: Path, only: Sequence[str]) -> Iterator[World]:
    """The sets in the folder."""
    for path in (folder / f"{name}.jsonl" for name in SETS):
        if only and path.stem not in only:
            continue
        if not path.exists():
            print(f"skipped {path}: not there", file=sys.stderr)
            continue
        labels = read_label_file(str(path)).labels
        experts = experts_of(labels)
        recorded = path.with_suffix(".verdicts.parquet")
        if not recorded.exists():
            yield World(path.stem, labels, experts, None)
            continue
        table = pd.read_parquet(recorded)
        for judge in JUDGES:
            part = table[(table["judge"] == judge) & table["grade"].notna()]
            yield World(f"{path.stem}, {judge}", labels, experts, tuple(_verdicts(labels, part)))


def _verdicts(labels: LabelSet, table: pd.DataFrame) -> Iterator[FloatArray]:
    row = {item.item_id: i for i, item in enumerate(labels.items)}
    for aspect in labels.aspects:
        part = table[table["aspect"] == aspect]
        spread = np.full((len(labels.items), len(labels.scale.grades)), np.nan)
        at = [row[item] for item in part["item_id"]]
        spread[at] = verdict_distributions(part["grade"].tolist(), labels.scale)
        yield spread


def fold_of(cluster: IntArray) -> IntArray:
    """The fold of each item, whole queries together."""
    queries = np.random.default_rng(0).permutation(int(cluster.max()) + 1)
    fold = np.empty(len(queries), dtype=np.int64)
    fold[queries] = np.arange(len(queries)) % FOLDS
    return fold[cluster]


def taught(world: World) -> dict[str, Taught]:
    """Every consensus on one set."""
    labels, experts = world.labels, world.experts
    scale, k = labels.scale, len(labels.scale.grades)
    by = experts.accept_by if labels.accept_only else experts.grade_by
    median = experts.accept if labels.accept_only else experts.grade
    nominal = scale.level == "nominal"
    goal = "kappa" if nominal or k == 2 else "qwk"
    fold = fold_of(experts.cluster)
    grade = {name: np.full(median.shape, UNLABELLED, dtype=np.int64) for name in TARGETS}
    chances = {name: np.full((*median.shape, k), np.nan) for name in TARGETS}
    changed = dict.fromkeys(TARGETS, 0.0)
    for number in range(FOLDS):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        model = EvidenceModel.fit([labels.items[i] for i in train], labels.task) if world.verdicts is None else None
        features = None if model is None else model.transform(labels.items)
        for j in range(len(labels.aspects)):
            verdicts = None if world.verdicts is None else world.verdicts[j]
            judged = (
                np.full(len(labels.items), True) if verdicts is None else np.asarray(~np.isnan(verdicts).any(axis=1))
            )
            known, asked = train[(median[train, j] >= 0) & judged[train]], test[judged[test]]
            for name, target_of in TARGETS.items():
                target = target_of(by[:, known, j], median[known, j], k)
                changed[name] += float((target != median[known, j]).mean()) / FOLDS / len(labels.aspects)
                calibrator, _ = fit_out_of_fold(
                    Data(
                        verdicts=None if verdicts is None else verdicts[known],
                        evidence=None if features is None else features[known],
                        target=target,
                        cluster=experts.cluster[known],
                        scale=scale,
                        accept=np.full(len(known), UNLABELLED, dtype=np.int64),
                        shares=shares_of(by[:, known, j], k) if name == "soft" else None,
                    ),
                    names=() if model is None else model.names,
                    objective=parse_objective(goal),
                )
                said = None if verdicts is None else verdicts[asked]
                found = calibrator.apply(said, None if features is None else features[asked])
                chances[name][asked, j] = found
                grade[name][asked, j] = calibrator.rule.grades(found, scale, said)
    return _compared(by, experts.cluster, grade, chances, changed, goal, nominal=nominal)


def _compared(
    by: IntArray,
    cluster: IntArray,
    grade: dict[str, IntArray],
    chances: dict[str, FloatArray],
    changed: dict[str, float],
    goal: str,
    *,
    nominal: bool,
) -> dict[str, Taught]:
    """Grades and chances beside every single label."""
    annotator, item, aspect = np.nonzero((by != UNLABELLED) & (grade["median"] != UNLABELLED)[None])
    single, query = by[annotator, item, aspect], cluster[item]
    k, n_clusters = chances["median"].shape[-1], int(cluster.max()) + 1
    agree = {
        name: table_statistic(goal, single, said[item, aspect], query, n_grades=k, n_clusters=n_clusters)
        for name, said in grade.items()
    }
    loss = {
        name: _mean(_losses(p[item, aspect], single, nominal=nominal), query, n_clusters) for name, p in chances.items()
    }
    return {
        name: Taught(
            changed=changed[name],
            value=agree[name].point(),
            gain=difference_interval(agree[name], agree["median"]).estimate(len(single)),
            loss=loss[name].point(),
            saved=difference_interval(loss["median"], loss[name]).estimate(len(single)),
        )
        for name in grade
    }


def _losses(chances: FloatArray, single: IntArray, *, nominal: bool) -> FloatArray:
    k = chances.shape[1]
    if nominal:
        return np.asarray(((chances - np.eye(k)[single]) ** 2).sum(axis=1) / 2)
    truth = single[:, None] >= np.arange(1, k)
    return np.asarray(((above_cuts(chances) - truth) ** 2).sum(axis=1) / (k - 1))


def _mean(values: FloatArray, cluster: IntArray, n_clusters: int) -> MomentStatistic:
    sums = [np.bincount(cluster, weights, n_clusters).astype(np.float64) for weights in (None, values, values**2)]
    return MomentStatistic(sums[0], sums[1], sums[2], 0.0, 0.0)


def section(world: World, found: dict[str, Taught]) -> str:
    """The Markdown of one set."""
    labels = world.labels
    goal = "kappa" if labels.scale.level == "nominal" or len(labels.scale.grades) == 2 else "QWK"
    head = f"| {world.name} | labels changed | {goal} | - median | loss | median - loss |"
    rows = [
        f"| {name} | {one.changed:.1%} | {_short(one.value)} | {cell(one.gain, signed=True)} | {_short(one.loss)} | "
        f"{cell(one.saved, signed=True)} |"
        for name, one in found.items()
    ]
    return "\n".join([head, "|---|---|---|---|---|---|", *rows, ""])


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds labels/ and recorded/")
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    sections = []
    for world in worlds(options.data, options.only):
        sections.append(section(world, taught(world)))
        print(sections[-1], flush=True)
    if not sections:
        sys.exit(f"{options.data}: none of {', '.join(SETS)}. Name the folder that holds labels/ and recorded/.")
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)
    if options.write:
        write("\n".join(sections), START, END)


if __name__ == "__main__":
    main()
