"""Measures how far a judge's stated probabilities are from the experts' labels, on the test items."""

import numpy as np

from judgec.compile.dataset import Dataset
from judgec.raters.decision import acceptability
from judgec.records.consensus import accept_rate_of, mean_of
from judgec.records.judgment import Judgments
from judgec.stats.agreement.reliability import calibration_error


def calibration_errors(dataset: Dataset, judged: Judgments) -> dict[str, dict[str, float | None]]:
    """Expected calibration error of each aspect on test; 0 is best.

    ``accept`` is that of the probability that the experts accept; ``confidence`` that of the confidence in the grade,
    which abstaining goes by. None where nothing is known to compare with.
    """
    scale, experts, scored = dataset.labels.scale, dataset.test.experts, judged.scored
    errors = {}
    for j, aspect in enumerate(dataset.labels.aspects):
        accepts = accept_rate_of(experts.target_accept[:, j])
        voted = scored & ~np.isnan(accepts)
        truth = (experts.target_accept if dataset.labels.accept_only else experts.target)[:, j]
        graded = scored & (truth[:, 0] >= 0) & ~np.isnan(judged.confidence[:, j])
        right = mean_of(truth == judged.grade[:, j, None], truth)[graded]
        ordinal = scale.level == "ordinal"
        chances = acceptability(judged.probabilities[voted, j], scale) if ordinal else np.empty(0)
        errors[aspect] = {
            "accept": calibration_error(chances, accepts[voted]) if ordinal else None,
            "confidence": calibration_error(judged.confidence[graded, j], right),
        }
    return errors
