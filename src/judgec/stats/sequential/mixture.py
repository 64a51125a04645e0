"""Drift of a judge: whether its scores can still be a mix of those that it gave to accepted and to rejected items.

How many good answers there are may change: then scores are another mix of the same two distributions, and error rates
that were measured still hold. Scores that no mix gives, or labels that do not fit them, speak against them.
The two distributions are known from a test split alone, to within a likelihood region C at 1 - alpha / 2 (Wilks). With
q a mixture (Jeffreys priors) of all distributions of scores, and of all shares of accepted ones among each score,

    E = q(traffic, labels) / max over the mix and C of the likelihood of traffic and labels

is an e-process (universal inference): it ever exceeds 2 / alpha with a chance of at most alpha / 2 while C holds
the two distributions. The maximum is bounded from above by its Lagrangian dual: that errs on the quiet side.
Distributions are over bins of the score, and one for no verdict.
Source: Wasserman, Ramdas and Balakrishnan (2020), Universal inference, PNAS 117(29).
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import gammaln, logsumexp

from judgec.records.label import FloatArray, IntArray
from judgec.stats.sequential.mean import stage_alpha, stage_starts

BINS = 4  # of the score, with equally many items of the test split each; and one for no verdict
BEGINNINGS = (0.05, 0.5, 0.95)  # mixes that the search for the best one begins at
WEIGHTS = tuple(np.geomspace(0.02, 50.0, 12))  # of the test split in the dual
ALPHA = 0.05  # chance that drift is ever reported where there is none
STEPS = 200  # of expectation and maximization
TINY = 1e-300


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """Measurements of a judge: number of times that each score was given to items that experts accept and reject.

    Args:
        edges: Between the bins.
        accepted: Counts of the accepted items' scores by bin, the last of them no verdict.
        rejected: The same of rejected ones.
    """

    edges: FloatArray
    accepted: FloatArray
    rejected: FloatArray


def measured(score: FloatArray, expert: FloatArray) -> ScoreCounts:
    """Bins with equally many of the scores each, and their counts.

    Args:
        score: The judge's, NaN without a verdict, shape (n_items,).
        expert: 1 accept, 0 reject, same shape.
    """
    known = score[~np.isnan(score)]
    cuts = np.quantile(known, np.arange(1, BINS) / BINS) if len(known) else np.zeros(0)
    edges = np.unique(cuts)
    bins = binned(score, edges)
    width = len(edges) + 2
    return ScoreCounts(edges, *(np.bincount(bins[expert == side], minlength=width).astype(float) for side in (1, 0)))


def binned(score: FloatArray, edges: FloatArray) -> IntArray:
    """The bin of each score; the last one for none."""
    found = np.searchsorted(edges, score, side="right").astype(np.int64)
    return np.where(np.isnan(score), len(edges) + 1, found)


def drift_evidence(known: ScoreCounts, bins: IntArray, label: FloatArray, window: int, alpha: float = ALPHA) -> float:
    """Log of an e-process after these scores: a mixture of some that begin every tenth of a window.

    So a late change is not drowned in an early calm.

    Args:
        known: The test split.
        bins: Of the sampled traces' scores, in the order in which they came.
        label: What experts said of them: 1, 0, or NaN.
        window: As of the interval.
        alpha: Chance that it ever exceeds ``log(2 / alpha)`` where there is no drift.
    """
    width, starts = len(known.accepted), stage_starts(len(bins), window)
    kinds = [np.isnan(label), label == 1, label == 0]
    counts = np.array(
        [[np.bincount(bins[start:][kind[start:]], minlength=width) for kind in kinds] for start in starts], dtype=float
    )
    unlabelled, yes, no = counts.transpose(1, 0, 2)
    alternative = _marginal(unlabelled + yes + no) + _marginal(np.stack([yes, no], axis=-1)).sum(axis=-1)
    logs = alternative - _best_mix(known, unlabelled, yes, no, alpha)
    shares = [np.log(stage_alpha(stage, 1.0)) for stage in range(1, len(starts) + 1)]
    rest = np.log(1.0 / (len(starts) + 1))  # of those that have not begun, each of which is 1
    return float(logsumexp([*(np.array(shares) + logs), rest]))


def _marginal(counts: FloatArray) -> FloatArray:
    """Log of the probability of a sequence with these counts under a Dirichlet(1/2) mixture; over the last axis."""
    prior, n, width = 0.5, counts.sum(axis=-1), counts.shape[-1]
    parts = (gammaln(counts + prior) - gammaln(prior)).sum(axis=-1)
    found: FloatArray = gammaln(width * prior) - gammaln(width * prior + n) + parts
    return found


def _best_mix(known: ScoreCounts, unlabelled: FloatArray, yes: FloatArray, no: FloatArray, alpha: float) -> FloatArray:
    """Log of an upper bound of the likelihood of traffic under a mix of two distributions within C; a row a stage.

    For each weight of the test split, expectation and maximization climbs to the largest weighted likelihood of both,
    from several mixes, as it is not concave in mix and distributions together.
    """
    weight = np.array(WEIGHTS)[:, None, None, None]
    shape = (len(WEIGHTS), len(BEGINNINGS), len(unlabelled))
    share = np.broadcast_to(np.array(BEGINNINGS)[None, :, None, None], (*shape, 1))
    ones, zeros = weight * known.accepted + yes, weight * known.rejected + no
    one = np.broadcast_to(_normal(ones + 0.5), (*shape, unlabelled.shape[-1]))
    zero = np.broadcast_to(_normal(zeros + 0.5), one.shape)
    whole = np.maximum((unlabelled + yes + no).sum(axis=-1, keepdims=True), TINY)
    for _ in range(STEPS):
        part = unlabelled * share * one / np.maximum(share * one + (1 - share) * zero, TINY)
        share = (yes + part).sum(axis=-1, keepdims=True) / whole
        one, zero = _normal(ones + part), _normal(zeros + unlabelled - part)
    traffic = _log(share * one + (1 - share) * zero, unlabelled) + _log(share * one, yes) + _log((1 - share) * zero, no)
    most = _log(_normal(known.accepted), known.accepted) + _log(_normal(known.rejected), known.rejected)
    lost = _log(one, known.accepted) + _log(zero, known.rejected) - most
    radius = float(stats.chi2.isf(alpha / 2, 2 * (unlabelled.shape[-1] - 1))) / 2
    bound = (traffic + weight[..., 0] * (lost + radius)).max(axis=1)
    best: FloatArray = bound.min(axis=0)
    return best


def _normal(counts: FloatArray) -> FloatArray:
    found: FloatArray = counts / np.maximum(counts.sum(axis=-1, keepdims=True), TINY)
    return found


def _log(probabilities: FloatArray, counts: FloatArray) -> FloatArray:
    found: FloatArray = (counts * np.log(np.maximum(probabilities, TINY))).sum(axis=-1)
    return found
