"""Fits the tie band of a judge of single answers on dev."""

import numpy as np

from judgec.compile.dataset import Part
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import UNLABELLED, FloatArray, IntArray
from judgec.records.scale import Scale
from judgec.tournament.tie_band import fit_tie_band


def tie_band_of(dev: Part, judgments: Judgments, scale: Scale) -> float | None:
    """The band in which two calibrated scores count as equal; of several aspects, the scores' mean is compared.

    None for classes without an order, and where no two dev answers to one query have equal expert grades: the
    tournament then takes half a grade.

    Args:
        dev: The dev items with the experts' labels.
        judgments: The calibrated judge's, of the same items.
        scale: Its grades.
    """
    if scale.level == "nominal":
        return None
    experts = dev.experts.grade if (dev.experts.grade != UNLABELLED).any() else dev.experts.accept
    expert = _mean(np.array(scale.values), experts, UNLABELLED)
    score = np.where((judgments.grade == UNSCORED).any(axis=1), np.nan, judgments.score.mean(axis=1))
    band = fit_tie_band(score, expert, dev.experts.cluster, scale)
    return band.width if band.pairs else None


def _mean(values: FloatArray, grade: IntArray, missing: int) -> FloatArray:
    """Mean value of each row's grades; NaN where one is missing."""
    mean: FloatArray = np.where((grade == missing).any(axis=1), np.nan, values[grade].mean(axis=1))
    return mean
