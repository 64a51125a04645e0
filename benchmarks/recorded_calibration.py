"""What compiling does to the verdicts of real LM judges: raw against compiled, five-fold by query.

    python -m benchmarks.recorded_calibration --data ../shared/data/recorded [--only NAME ...]

Verdicts alone, without evidence: each recorded judge's verdicts go as distributions (a verdict between two grades is
one half of each) into the functions that a compile fits its calibrator and decision rule with. Both are chosen inside
the four training folds; every item is tested once, and the folds are measured together. Classes (a / b / tie) are
compiled for kappa. "Shown worse" means that the 95 % interval of the paired difference, clustered by query, lies
below 0.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.agreement import cell
from benchmarks.figures import table
from judgec.compile.calibrate import fit_calibrator
from judgec.labels.experts import experts_of
from judgec.labels.labels import read_label_file
from judgec.raters.decision import between_grades, stated_grades
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED
from judgec.records.label import FloatArray, IntArray, LabelSet
from judgec.records.scale import Scale
from judgec.report.numbers import objective_name, statistic_name
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.statistic import table_statistic
from judgec.stats.intervals.jackknife import difference_interval

FOLDS = 5
MIN_ITEMS = 150  # fewer verdicts with labels say too little of five folds
OLD_SHAPE = {"pandalm_judges": Path("labels/pandalm_preference.jsonl")}  # one key a judge instead of rows


@dataclass(frozen=True, slots=True)
class Recorded:
    """One judge's verdicts beside the experts.

    Args:
        group: The set.
        name: The judge, and the aspect where there are several.
        verdicts: Distributions, shape (n, n_grades).
        expert: The experts' positions, shape (n,).
        cluster: The query of each item, shape (n,).
        scale: Of both.
    """

    group: str
    name: str
    verdicts: FloatArray
    expert: IntArray
    cluster: IntArray
    scale: Scale


@dataclass(frozen=True, slots=True)
class Compared:
    """A judge raw and compiled, on the same items.

    Args:
        judge: Whose.
        raw: Each statistic of the raw verdicts.
        compiled: Each statistic of the compiled grades.
        gain: Compiled minus raw, paired.
        rules: Decision rule and family of each fold, counted.
    """

    judge: Recorded
    raw: dict[str, float]
    compiled: dict[str, float]
    gain: dict[str, Estimate]
    rules: Counter[str]


def recorded_judges(folder: Path, only: Sequence[str]) -> Iterator[Recorded]:
    """Every judge of every set in the folder that has labels and single verdicts to compare with."""
    for path in sorted(folder.glob("*.verdicts.parquet")):
        stem = path.name.removesuffix(".verdicts.parquet")
        if not only or stem in only:
            labels = read_label_file(str(folder / f"{stem}.jsonl")).labels
            yield from _judges_of(stem, labels, pd.read_parquet(path))
    for stem, beside in OLD_SHAPE.items():
        path = folder / f"{stem}.jsonl"
        if path.exists() and (not only or stem in only):
            table = pd.DataFrame([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
            long = table.melt("item_id", var_name="judge", value_name="preference")
            yield from _judges_of(stem, read_label_file(str(folder.parent / beside)).labels, long)


def _judges_of(stem: str, labels: LabelSet, verdicts: pd.DataFrame) -> Iterator[Recorded]:
    experts = experts_of(labels)
    row = {item.item_id: i for i, item in enumerate(labels.items)}
    column = "preference" if labels.task == "preference" else "grade"
    for j, aspect in enumerate(labels.aspects):
        part = verdicts[verdicts["aspect"] == aspect] if len(labels.aspects) > 1 else verdicts
        for judge in sorted(part["judge"].unique()):
            said = part[(part["judge"] == judge) & part[column].notna()].drop_duplicates("item_id")
            at = np.array([row.get(str(item), -1) for item in said["item_id"]], dtype=np.int64)
            spread = verdict_distributions(said[column].tolist(), labels.scale)
            known = (at >= 0) & ~np.isnan(spread).any(axis=1) & (experts.target[at, j, 0] >= 0)
            if known.sum() < MIN_ITEMS:
                print(f"skipped {stem} {judge} {aspect}: {int(known.sum())} items with both", file=sys.stderr)
                continue
            at = at[known]
            name = judge if len(labels.aspects) == 1 else f"{judge} {aspect}"
            yield Recorded(stem, name, spread[known], experts.target[at, j, 0], experts.cluster[at], labels.scale)


def verdict_distributions(said: Sequence[object], scale: Scale) -> FloatArray:
    """Each verdict as a distribution; NaN where it is off the scale."""
    out = np.full((len(said), len(scale.grades)), np.nan)
    for i, verdict in enumerate(said):
        if scale.level == "nominal":
            out[i] = np.eye(len(scale.grades))[scale.grades.index(str(verdict))]
            continue
        value = float(str(verdict))
        gap = np.abs(np.array(scale.values) - value)
        at = np.flatnonzero(gap == gap.min())
        if gap.min() in {0.0, 0.5}:
            out[i] = 0.0
            out[i, at] = 1.0 / len(at)
    return out


def compare(judge: Recorded, objective: str) -> Compared:
    """The judge compiled in five folds, beside what it said itself."""
    nominal = judge.scale.level == "nominal"
    goal = parse_objective("kappa" if nominal else objective)
    queries = np.unique(judge.cluster)
    fold_of = np.empty(int(queries.max()) + 1, dtype=np.int64)
    fold_of[queries[np.random.default_rng(0).permutation(len(queries))]] = np.arange(len(queries)) % FOLDS
    fold, grade, rules = fold_of[judge.cluster], np.full(len(judge.expert), UNSCORED, dtype=np.int64), Counter[str]()
    for number in range(FOLDS):
        held = fold == number
        calibrator = fit_calibrator(
            verdicts=judge.verdicts[~held],
            evidence=None,
            target=judge.expert[~held],
            cluster=judge.cluster[~held],
            scale=judge.scale,
            objective=goal,
        )
        rules[calibrator.rule.name] += 1
        spread = calibrator.apply(judge.verdicts[held], None)
        grade[held] = calibrator.rule.grades(spread, judge.scale, judge.verdicts[held])
    stated = stated_grades(judge.verdicts, judge.scale)
    names = ("kappa", "exact") if nominal else ("qwk", "kappa", "tau_b", "exact")
    statistics = {
        name: [
            table_statistic(name, judge.expert, said, judge.cluster, n_grades=len(judge.scale.grades))
            for said in (stated, grade)
        ]
        for name in names
    }
    return Compared(
        judge=judge,
        raw={name: float(np.nan_to_num(raw.point())) for name, (raw, _) in statistics.items()},
        compiled={name: float(np.nan_to_num(done.point())) for name, (_, done) in statistics.items()},
        gain={name: difference_interval(done, raw).estimate(len(grade)) for name, (raw, done) in statistics.items()},
        rules=rules,
    )


def section(found: Sequence[Compared], objective: str) -> str:
    """The Markdown of one set."""
    first = found[0].judge
    nominal = first.scale.level == "nominal"
    goal = "kappa" if nominal else objective
    names = list(found[0].raw)
    halves = sum(int(between_grades(one.judge.verdicts).sum()) for one in found)
    sizes = [len(one.judge.expert) for one in found]
    about = (
        f"{len(found)} judges, {min(sizes)} to {max(sizes)} items each; compiled for {objective_name(goal)}; "
        f"{halves} verdicts between two grades."
    )
    worse = [str(sum(_shown_worse(one, name) for one in found)) for name in names]
    better = [str(sum((one.gain[name].low or 0.0) > 0.0 for one in found)) for name in names]
    worst = [f"{min(one.gain[name].value or 0.0 for one in found):+.3f}".replace("0.", ".", 1) for name in names]
    rules = Counter[str]()
    for one in found:
        rules.update(one.rules)
    means = [
        (f"mean, {of}", *(f"{_mean(found, of, name):.3f}".replace("0.", ".", 1) for name in names))
        for of in ("raw", "compiled")
    ]
    counted = [
        *means,
        ("shown worse than raw, judges", *worse),
        ("shown better than raw, judges", *better),
        ("largest loss", *worst),
    ]
    rows = []
    for one in sorted(found, key=lambda one: one.judge.name):
        raw, done = (f"{values[goal]:.3f}".replace("0.", ".", 1) for values in (one.raw, one.compiled))
        rows.append((one.judge.name, raw, done, cell(one.gain[goal], signed=True), _counted(one.rules)))
    lines = [
        f"### {first.group}",
        "",
        about,
        "",
        *table(("", *map(statistic_name, names)), counted),
        "",
        f"Decision rules, of {FOLDS} folds each: {_counted(rules)}.",
        "",
        *table(("judge", f"raw {goal}", f"compiled {goal}", "difference", "rules"), rows),
    ]
    return "\n".join([*lines, ""])


def _counted(rules: Counter[str]) -> str:
    return ", ".join(f"{rule} {count}" for rule, count in rules.most_common())


def _mean(found: Sequence[Compared], of: str, name: str) -> float:
    return float(np.mean([getattr(one, of)[name] for one in found]))


def _shown_worse(one: Compared, name: str) -> bool:
    high = one.gain[name].high
    return high is not None and high < 0.0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of recorded verdicts with their labels")
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--objective", default="qwk", help="of graded sets")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"--data {options.data}: not a folder; name one that holds recorded verdicts.")
    started = time.perf_counter()
    groups: dict[str, list[Compared]] = {}
    judges = list(recorded_judges(options.data, options.only))
    with ProcessPoolExecutor(options.workers) as pool:
        for one in pool.map(partial(compare, objective=options.objective), judges):
            groups.setdefault(one.judge.group, []).append(one)
    if not groups:
        sys.exit(
            f"{options.data}: no recorded verdicts{' of these names' if options.only else ''}. Name another folder."
        )
    sections = {name: section(found, options.objective) for name, found in groups.items()}
    text = "\n".join(sections.values())
    print(text, f"\n{time.perf_counter() - started:.0f} s", sep="")


if __name__ == "__main__":
    main()
