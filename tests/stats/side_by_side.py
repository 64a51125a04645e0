"""Two graders side by side, from plain arrays."""

import numpy as np

from judgec.records.label import IntArray
from judgec.records.ratings import GradePairs


def side_by_side(
    expert: IntArray,
    judge: IntArray,
    expert_accept: IntArray,
    judge_accept: IntArray,
    cluster: IntArray,
    n_grades: int,
    n_clusters: int,
) -> GradePairs:
    values = tuple(float(position) for position in range(n_grades))
    score = np.where(judge < 0, np.nan, judge.astype(np.float64))
    return GradePairs(expert[:, None], judge, score, expert_accept[:, None], judge_accept, cluster, values, n_clusters)
