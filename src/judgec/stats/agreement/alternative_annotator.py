"""The Alternative Annotator Test: whether a judge represents the experts at least as well as one of them does."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgec.records.alternative_annotator import AltTest, AnnotatorContest
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED
from judgec.records.label import UNLABELLED, FloatArray, IntArray
from judgec.stats.agreement.statistic import mean
from judgec.stats.intervals.jackknife import interval

BoolArray = NDArray[np.bool_]

EXPERTS = 0.2  # epsilon for experts; the paper has .15 for skilled annotators and .1 for crowd workers
FALSE_DISCOVERIES = 0.05  # the paper's q
MIN_ITEMS = 30  # labels an annotator shares with others: the paper's least for a t-test
MIN_ANNOTATORS = 3  # of two, the others of either are one person, and nobody represents a group
MIN_QUERIES = 3  # as for every interval
AS_CLOSE = 1e-9  # difference of two alignments that is rounding


@dataclass(frozen=True, slots=True)
class _Advantage:
    """The side that was at least as close to the others, on the labels of one annotator; each of shape (n,)."""

    judge: FloatArray
    annotator: FloatArray
    cluster: IntArray


def alternative_annotator_test(
    judge: IntArray,
    by: IntArray,
    annotators: Sequence[str],
    *,
    values: Sequence[float] | None,
    cluster: IntArray | None,
    clustered_by: str = "query",
    epsilon: float = EXPERTS,
    q: float = FALSE_DISCOVERIES,
    adjudicators: Sequence[str] = (),
    aspects: Sequence[str] = (),
    min_items: int = MIN_ITEMS,
    min_annotators: int = MIN_ANNOTATORS,
) -> AltTest:
    """Test whether a judge may replace an annotator, leaving out one annotator at a time.

    On each item that annotator j shares with others, the judge and j are aligned with what the others said: by accuracy
    (the share of the others who said the same) or by negative RMSE. W_f is 1 where the judge's alignment is at
    least j's, W_j where j's is at least the judge's (both at a tie); their means are the advantage probabilities rho_f
    and rho_j. H0: rho_f <= rho_j - epsilon is tested one-sided on the paired differences, and the p-values of all
    annotators are held against q after Benjamini and Yekutieli. The winning rate omega is the share of rejected
    hypotheses; the judge passes at one half. rho is the mean of the rho_f.

    Items of one query are not independent, so the standard error of the mean difference is the delete-one-query
    jackknife's, with Student's t of (queries - 1); with ``cluster=None``, or one item a query, that is the paper's
    paired t-test. Where no query differs, p is the sign test's, 2 ** -queries, or 1 when H0 is not contradicted.

    Args:
        judge: Grade positions, shape (n_items,) or (n_items, n_aspects); -1 where unscored, which counts against
            the judge: an annotator who said something was of more use.
        by: Each annotator's positions, shape (n_annotators, *judge.shape); -1 where missing.
        annotators: Their names.
        values: What each grade stands for, for negative RMSE; None for classes and accepts: accuracy.
        cluster: Query code of each item, shape (n_items,); None takes items as independent, which is the paper's form.
        clustered_by: What the clusters are called.
        epsilon: The cost-benefit margin, 0-1.
        q: The false discovery rate.
        adjudicators: Annotators who were asked only where others differed: counted among the others, not tested.
        aspects: Names of the columns of ``judge``; where there are several each is tested by itself, too. The p-values
            of one aspect's annotators are a family of their own.
        min_items: Fewest shared labels of an annotator who is tested.
        min_annotators: Fewest annotators who can be tested; with fewer nothing is computed, and ``note`` says why.

    Raises:
        ValueError: When shapes differ, or epsilon or q is not within 0 and 1.

    Source: Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge, ACL 2025, section 3;
        Benjamini and Yekutieli (2001), Annals of Statistics 29(4); the jackknife of clusters: Cameron and Miller
        (2015), Journal of Human Resources 50(2).
    """
    if aspects and (judge.ndim != 2 or judge.shape[1] != len(aspects)):
        raise ValueError(f"judge {judge.shape}, {len(aspects)} aspects; one name a column of judge is valid.")
    if by.shape != (len(annotators), *judge.shape) or not 0 <= epsilon <= 1 or not 0 < q < 1:
        raise ValueError(
            f"judge {judge.shape}, annotators {by.shape} for {len(annotators)} names, {epsilon=}, {q=}; one row of the "
            "judge's shape for each name, 0 <= epsilon <= 1 and 0 < q < 1 are valid."
        )

    def tested(said: IntArray, ratings: IntArray, code: IntArray) -> AltTest:
        known = _Known(said, ratings, code, annotators, values, None if cluster is None else clustered_by)
        return _tested(known, epsilon, q, adjudicators, min_items, min_annotators)

    code = np.arange(len(judge)) if cluster is None else np.asarray(cluster, dtype=np.int64)
    if judge.ndim == 1:
        return tested(judge, by, code)
    each = np.arange(judge.size) if cluster is None else np.repeat(code, judge.shape[1])
    found = tested(judge.reshape(-1), by.reshape(len(annotators), -1), each)
    if len(aspects) < 2:
        return found
    return replace(found, aspects={name: tested(judge[:, j], by[:, :, j], code) for j, name in enumerate(aspects)})


@dataclass(frozen=True, slots=True)
class _Known:
    """Labels of one test: the judge's, shape (n,), the annotators', shape (n_annotators, n), and their clusters."""

    judge: IntArray
    by: IntArray
    cluster: IntArray
    annotators: Sequence[str]
    values: Sequence[float] | None
    clustered_by: str | None


def _tested(
    known: _Known, epsilon: float, q: float, adjudicators: Sequence[str], min_items: int, min_annotators: int
) -> AltTest:
    """The test of these labels together."""
    annotators, said, ratings, code = known.annotators, known.judge, known.by, known.cluster
    present = ratings != UNLABELLED
    shared = present.sum(axis=0) > 1
    enough = (present & shared).sum(axis=1) >= min_items
    queries = [len(np.unique(code[row & shared])) for row in present]
    testable = [
        i for i, name in enumerate(annotators) if enough[i] and queries[i] >= MIN_QUERIES and name not in adjudicators
    ]
    used = shared & present[testable].any(axis=0) if testable else np.zeros(len(said), dtype=np.bool_)
    outcome = AltTest(
        omega=None,
        rho=None,
        epsilon=epsilon,
        q=q,
        contests=(),
        clustered_by=known.clustered_by or "item",
        alignment="accuracy" if known.values is None else "negative RMSE",
        items=int(used.sum()),
        items_left_out=int((present.sum(axis=0) == 1).sum()),
        unscored=int((used & (said == UNSCORED)).sum()),
        note=_left_out(annotators, present & shared, testable, adjudicators, min_items, min_annotators),
    )
    if len(testable) < min_annotators:
        return outcome
    found = [_advantage(i, said, ratings, code, known.values) for i in testable]
    tests = [_worse_by(one, epsilon) for one in found]
    adjusted = stats.false_discovery_control([p for _, p in tests], method="by")
    contests = tuple(
        AnnotatorContest(
            annotator=annotators[i],
            rho_judge=float(one.judge.mean()),
            rho_annotator=float(one.annotator.mean()),
            difference=difference,
            p=p,
            p_adjusted=float(after),
            wins=bool(after <= q),
            items=len(one.judge),
            queries=None if known.clustered_by is None else queries[i],
        )
        for i, one, (difference, p), after in zip(testable, found, tests, adjusted, strict=True)
    )
    omega = float(np.mean([one.wins for one in contests]))
    return replace(outcome, omega=omega, rho=float(np.mean([one.rho_judge for one in contests])), contests=contests)


def _left_out(
    annotators: Sequence[str],
    shared: BoolArray,
    testable: Sequence[int],
    adjudicators: Sequence[str],
    min_items: int,
    min_annotators: int,
) -> str:
    """Note on annotators that are not tested, or on why there is no test at all; empty where all are tested."""
    few = [
        f"{name} {int(row.sum())}"
        for i, (name, row) in enumerate(zip(annotators, shared, strict=True))
        if i not in testable and name not in adjudicators
    ]
    parts = []
    if few:
        some = ", ".join(few[:5]) + (f" and {len(few) - 5} more" if len(few) > 5 else "")
        parts.append(
            f"fewer than {min_items} labels of at least {MIN_QUERIES} queries in common with other annotators: {some}"
        )
    if adjudicators:
        parts.append(f"asked only where others differed: {', '.join(adjudicators)}")
    if len(testable) >= min_annotators:
        return f"left out of the test: {'; '.join(parts)}" if parts else ""
    enough = (
        f"only {len(testable)} of the {plural(len(annotators), 'annotator')} "
        f"{'has' if len(testable) == 1 else 'have'} so many"
    )
    if len(testable) == len(annotators):
        enough = f"there {'is' if len(testable) == 1 else 'are'} {len(testable)}"
    needed = f"at least {min_annotators} annotators with {min_items} labels each in common with others are needed"
    why = f"{needed}; {enough}"
    return f"{why} ({'; '.join(parts)})" if parts else why


def _advantage(i: int, judge: IntArray, by: IntArray, cluster: IntArray, values: Sequence[float] | None) -> _Advantage:
    """The indicators W of the judge and of annotator ``i`` on the labels that others gave, too."""
    others = np.delete(by, i, axis=0)
    rows = np.flatnonzero((by[i] != UNLABELLED) & (others != UNLABELLED).any(axis=0))
    others, own, said = others[:, rows], by[i, rows], judge[rows]
    known = others != UNLABELLED
    if values is None:
        mine, its = (_differing(others, known, grade) for grade in (own, said))
    else:
        mine, its = (_squares(others, known, grade, np.array([*values, 0.0])) for grade in (own, said))
    its[said == UNSCORED] = np.inf
    return _Advantage(
        judge=(its <= mine + AS_CLOSE).astype(np.float64),
        annotator=(mine <= its + AS_CLOSE).astype(np.float64),
        cluster=cluster[rows],
    )


def _differing(others: IntArray, known: BoolArray, grade: IntArray) -> FloatArray:
    """Number of the others who say something else: of the same others its order is that of the accuracy."""
    return np.asarray(((others != grade) & known).sum(axis=0), dtype=np.float64)


def _squares(others: IntArray, known: BoolArray, grade: IntArray, values: FloatArray) -> FloatArray:
    """Sum of squared distances to the others, whose order is that of the RMSE; the last value stands for no grade."""
    return np.asarray((np.square(values[others] - values[grade]) * known).sum(axis=0))


def _worse_by(found: _Advantage, epsilon: float) -> tuple[Estimate, float]:
    """The difference of the advantage probabilities with its 95 % interval, and p of H0: it is -epsilon or less."""
    gain = found.judge - found.annotator
    _, code = np.unique(found.cluster, return_inverse=True)
    measured = interval(mean(gain, code.astype(np.int64)))
    estimate, queries = measured.estimate(len(gain)), int(code.max()) + 1
    if not measured.se:
        return estimate, 0.5**queries if gain.mean() > -epsilon else 1.0
    p = float(stats.t.sf((gain.mean() + epsilon) / measured.se, queries - 1))
    low, high = max(-1.0, estimate.low or 0.0), min(1.0, estimate.high or 0.0)
    return estimate.model_copy(update={"low": low, "high": high}), p
