"""The score from which on a judge counts as accepting: fitted on experts' labels, valued on other queries."""

from dataclasses import dataclass

import numpy as np

from judgec.records.consensus import parts_of
from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.statistic import table_statistic
from judgec.stats.intervals.jackknife import interval

FOLDS = 10
MEASURED = ("exact", "kappa", "balanced_accuracy")


@dataclass(frozen=True, slots=True)
class CutOff:
    """A cut-off of a score.

    Args:
        at: Scores from here on are accepted; fitted on all rows.
        estimates: ``exact``, ``kappa`` and ``balanced_accuracy`` of cut-offs on rows that did not choose them.
        folds: Into how many folds the queries were dealt.
        below: Scores up to here are accepted instead: low is good.
    """

    at: float
    estimates: dict[str, Estimate]
    folds: int
    below: bool = False

    def to_json(self) -> dict[str, object]:
        """The ``cut_off`` of a judge's report."""
        way = {"below": True} if self.below else {}
        return (
            {"at": self.at, "folds": self.folds} | way | {name: one.to_json() for name, one in self.estimates.items()}
        )


def best_cut_off(ratings: GradePairs) -> CutOff | None:
    """The cut-off of the score with the highest kappa against binary labels; None where there is nothing to fit.

    The labels are the grades of a scale of two, else accept and reject. Queries are dealt into folds; each fold is
    graded by the cut-off of the others, and what is reported is of these grades together.

    Args:
        ratings: Experts beside the judge's score.
    """
    label = ratings.target if ratings.n_grades == 2 else ratings.target_accept
    kept = (label[:, 0] >= 0) & ~np.isnan(ratings.score)
    row, expert, weight = parts_of(label[kept])
    score, cluster = ratings.score[kept][row], ratings.cluster[kept][row]
    part = np.ones(len(row)) if weight is None else weight
    queries, code = np.unique(cluster, return_inverse=True)
    folds = min(FOLDS, len(queries))
    if folds < 2 or len(np.unique(expert)) < 2:
        return None
    cells, at = np.unique(np.stack([code, expert, score]), axis=1, return_inverse=True)
    content: list[list[list[float]]] = [[] for _ in queries]
    for cell, count in zip(cells.T, np.bincount(at.ravel(), part).round(9), strict=True):
        content[int(cell[0])].append([*cell[1:].tolist(), count])
    code = np.argsort(sorted(range(len(queries)), key=content.__getitem__))[code]  # neither names nor order of rows
    fold = np.random.default_rng(0).permutation(np.arange(len(queries)) % folds)[code]
    judge = np.empty(len(expert), dtype=np.int64)
    for one in range(folds):
        rest = fold != one
        judge[~rest] = score[~rest] >= _fitted(expert[rest], score[rest], part[rest])
    estimates = {
        name: interval(
            table_statistic(
                name, expert, judge, code.astype(np.int64), n_grades=2, n_clusters=len(queries), weight=weight
            )
        ).estimate(int(kept.sum()))
        for name in MEASURED
    }
    return CutOff(_fitted(expert, score, part), estimates, folds)


def _fitted(expert: IntArray, score: FloatArray, part: FloatArray) -> float:
    """The cut-off with the highest kappa, half way between two scores; of equal ones the lowest.

    Of labels of one class all are accepted, or none.
    """
    values, place = np.unique(score, return_inverse=True)
    if len(set(expert.tolist())) < 2:
        return float(values[0]) if expert.any() else np.inf
    n, positive = float(part.sum()), float(part @ expert)
    good = np.bincount(place, part * expert, len(values))
    bad = np.bincount(place, part * (1 - expert), len(values))
    hit = positive - np.concatenate([[0.0], good.cumsum()])  # accepted and good, from each cut-off on
    wrong = (n - positive) - np.concatenate([[0.0], bad.cumsum()])
    accepted = hit + wrong
    observed = (hit + (n - positive) - wrong) / n
    chance = (accepted * positive + (n - accepted) * (n - positive)) / n**2
    best = int(((observed - chance) / (1.0 - chance)).argmax())
    if best == 0:
        return float(values[0])
    return float((values[best - 1] + values[best]) / 2.0) if best < len(values) else np.inf
