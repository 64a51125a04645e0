"""Dawid and Skene's consensus: the likeliest true grades, weighing each annotator by the errors they seem to make."""

from dataclasses import dataclass

import numpy as np

from judgec.records.label import UNLABELLED, FloatArray, IntArray

SMOOTHING = 0.01  # labels added to each cell of a confusion matrix, so that no error is impossible
PRIOR = 5.0  # labels added to its diagonal: without them a rare grade drifts to its neighbour (benchmarks/README.md)
MOST_ROUNDS = 500
CONVERGED = 1e-9  # gain in log-posterior an item below which the rounds end
UNDECIDED = 1e-6  # difference of two chances that is rounding: the first consensus decides between them


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """Estimates of the truth and of the annotators from the labels.

    Args:
        chances: Of each grade of each item, shape (n_items, n_grades); NaN where nobody graded.
        confusion: P(annotator says column | truth is row), shape (n_annotators, n_grades, n_grades).
        shares: Of each true grade, shape (n_grades,).
        log_posterior: After each round, but for a constant; it never falls.
    """

    chances: FloatArray
    confusion: FloatArray
    shares: FloatArray
    log_posterior: tuple[float, ...]

    def grades(self, otherwise: IntArray) -> IntArray:
        """The likeliest grade of each item, shape (n_items,); -1 where nobody graded.

        Args:
            otherwise: What stands where it is among several that are equally likely, shape (n_items,).
        """
        known = np.asarray(~np.isnan(self.chances).any(axis=1))
        chances = np.where(known[:, None], self.chances, 0.0)
        best = chances.argmax(axis=1)
        given = np.take_along_axis(chances, np.maximum(otherwise, 0)[:, None], axis=1)[:, 0]
        keep = (otherwise >= 0) & (given >= chances.max(axis=1) - UNDECIDED)
        return np.where(known, np.where(keep, otherwise, best), UNLABELLED).astype(np.int64)


def dawid_skene(by: IntArray, n_grades: int) -> DawidSkene | None:
    """Expectation maximization from the annotators' shares of each item.

    Each annotator has a confusion matrix of their own, the same for all items; given the truth, annotators err
    independently. Items weigh alike; queries play no part in it. Beforehand annotators are taken to be right, as if
    ``PRIOR`` labels of each grade had shown it: the paper's maximum likelihood gives the grades of few labels away.

    Args:
        by: Grade positions, shape (n_annotators, n_items); -1 where missing.
        n_grades: Grades on the scale.

    Returns: None where no item has two labels: nothing tells one annotator's errors from another's.

    Source: Dawid and Skene (1979), Journal of the Royal Statistical Society C 28(1); a Dirichlet prior on the rows: Kim
        and Ghahramani (2012), Bayesian Classifier Combination, AISTATS.
    """
    said = (by[:, :, None] == np.arange(n_grades)).astype(np.float64)  # (annotators, items, grades)
    labels = said.sum(axis=(0, 2))
    if not (labels > 1).any():
        return None
    known = np.flatnonzero(labels > 0)
    said = said[:, known]
    chances = said.sum(axis=0) / labels[known, None]
    found: list[float] = []
    prior = SMOOTHING + PRIOR * np.eye(n_grades)
    while True:
        shares = chances.mean(axis=0)
        counts = np.einsum("ik,ail->akl", chances, said) + prior
        confusion = counts / counts.sum(axis=2, keepdims=True)
        with np.errstate(divide="ignore"):  # a grade that nobody is thought to deserve
            joint = np.log(shares) + np.einsum("ail,akl->ik", said, np.log(confusion))
        most = joint.max(axis=1, keepdims=True)
        weight = np.exp(joint - most)
        likelihood = float((np.log(weight.sum(axis=1)) + most[:, 0]).sum())
        found.append(likelihood + float((prior * np.log(confusion)).sum()))
        chances = weight / weight.sum(axis=1, keepdims=True)
        if len(found) >= MOST_ROUNDS or (len(found) > 1 and found[-1] - found[-2] < CONVERGED * len(known)):
            break
    whole = np.full((by.shape[1], n_grades), np.nan)
    whole[known] = chances
    return DawidSkene(whole, confusion, shares, tuple(found))
