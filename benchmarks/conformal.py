"""How large the sets of grades are that hold the experts' grade with 90 %: split-conformal on recorded judges.

    python -m benchmarks.conformal --data ../shared/data/recorded [--only NAME ...] [--most N] [--write]

Of each judge's queries two quarters fit calibrator and rule, one finds the threshold, one tests; each quarter tests
once. A set holds every grade between the lowest and the highest whose probability is at least the threshold (classes:
those grades alone); the threshold is the 90 % quantile of the experts' grades' probabilities, each query of weight
one, with one query more at infinity. Beside it: the smallest run of grades that holds 90 % of the fitted quarters'
labels whatever the judge says. ``--write`` puts the table into benchmarks/README.md.

Source: Sadinle, Lei and Wasserman (2019), Journal of the American Statistical Association 114(525); clusters: Dunn,
Wasserman and Ramdas (2023), Journal of the American Statistical Association 118(544).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.agreement import write
from benchmarks.recorded_calibration import Recorded, recorded_judges
from judgec.compile.calibrate import fit_calibrator
from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.objective import parse_objective

QUARTERS = 4
LEVEL = 0.9
START, END = "<!-- conformal: start -->", "<!-- conformal: end -->"
BoolTable = np.ndarray[tuple[int, int], np.dtype[np.bool_]]


def query_weights(cluster: IntArray) -> FloatArray:
    """Each item's weight, so that a query's items weigh one together, shape (n_items,)."""
    _, place, count = np.unique(cluster, return_inverse=True, return_counts=True)
    found: FloatArray = 1.0 / count[place]
    return found


def threshold_of(probability: FloatArray, cluster: IntArray, level: float) -> float:
    """The probability from which grades belong to the set; below 0, and so all of them, where queries are too few."""
    weights = query_weights(cluster)
    order = np.argsort(-probability, kind="stable")
    mass = np.cumsum(weights[order]) / (weights.sum() + 1.0)
    reached = np.flatnonzero(mass >= level - 1e-12)
    return float(probability[order[reached[0]]]) if reached.size else -1.0


def sets_of(spread: FloatArray, threshold: float, *, ordered: bool) -> BoolTable:
    """Which grades each item's set holds, shape (n_items, n_grades); its likeliest one at least."""
    inside = spread >= threshold
    inside[np.arange(len(spread)), spread.argmax(axis=1)] = True
    if not ordered:
        return inside
    from_left = np.logical_or.accumulate(inside, axis=1)
    from_right = np.logical_or.accumulate(inside[:, ::-1], axis=1)[:, ::-1]
    return from_left & from_right


def smallest_run(grades: IntArray, n_grades: int, level: float) -> tuple[int, int]:
    """The fewest neighbouring grades that hold this share of the labels: the first, and the one behind the last."""
    share = np.bincount(grades, minlength=n_grades) / len(grades)
    runs = [(b - a, -share[a:b].sum(), a, b) for a in range(n_grades) for b in range(a + 1, n_grades + 1)]
    _, _, first, end = min(run for run in runs if -run[1] >= level - 1e-12)
    return int(first), int(end)


def measured(judge: Recorded) -> tuple[float, float, float, float]:
    """Coverage and mean size of the judge's sets, and of the run of grades that knows no judge; by query."""
    ordered = judge.scale.level != "nominal"
    queries, place = np.unique(judge.cluster, return_inverse=True)
    quarter = (np.random.default_rng(0).permutation(len(queries)) % QUARTERS)[place]
    n_grades, rows = len(judge.scale.grades), np.arange(len(judge.expert))
    inside = np.zeros((len(judge.expert), n_grades), dtype=np.bool_)
    blind = np.zeros_like(inside)
    for number in range(QUARTERS):
        tested, ranked = quarter == number, quarter == (number + 1) % QUARTERS
        fitted = ~tested & ~ranked
        calibrator = fit_calibrator(
            verdicts=judge.verdicts[fitted],
            evidence=None,
            target=judge.expert[fitted],
            cluster=judge.cluster[fitted],
            scale=judge.scale,
            objective=parse_objective("qwk" if ordered else "kappa"),
        )
        spread = calibrator.apply(judge.verdicts, None)
        given = spread[rows, judge.expert]
        threshold = threshold_of(given[ranked], judge.cluster[ranked], LEVEL)
        inside[tested] = sets_of(spread[tested], threshold, ordered=ordered)
        first, end = smallest_run(judge.expert[~tested], n_grades, LEVEL)
        blind[np.ix_(tested, np.arange(first, end))] = True
    weights = query_weights(judge.cluster)
    mean = [float(np.average(one, weights=weights)) for one in (inside[rows, judge.expert], inside.sum(axis=1))]
    without = [float(np.average(one, weights=weights)) for one in (blind[rows, judge.expert], blind.sum(axis=1))]
    return mean[0], mean[1], without[0], without[1]


def table(judges: Sequence[Recorded]) -> str:
    """The Markdown: a row a set, means over its judges, and the judge with the smallest sets."""
    lines = ["| set | judges | grades | coverage | mean size | smallest of a judge | no judge: coverage | size |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for group in dict.fromkeys(one.group for one in judges):
        own = [one for one in judges if one.group == group]
        found = np.array([measured(one) for one in own])
        coverage, size, blind, blind_size = found.mean(axis=0)
        shown = [f"{value:.2f}" for value in (coverage, size, found[:, 1].min(), blind, blind_size)]
        lines.append(f"| {group} | {len(own)} | {len(own[0].scale.grades)} | {' | '.join(shown)} |")
        print(lines[-1], flush=True)
    return "\n".join([*lines, ""])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of recorded verdicts with their labels")
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--most", type=int, default=16, help="judges of a set, evenly taken")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"--data {options.data}: not a folder; name one that holds recorded verdicts.")
    every = list(recorded_judges(options.data, options.only))
    by_group = {group: [one for one in every if one.group == group] for group in {one.group: 0 for one in every}}
    taken = [one for own in by_group.values() for one in own[:: -(-len(own) // options.most)]]
    if not taken:
        sys.exit(f"{options.data}: no recorded verdicts. Name another folder.")
    text = table(taken)
    if options.write:
        write(text, START, END)


if __name__ == "__main__":
    main()
