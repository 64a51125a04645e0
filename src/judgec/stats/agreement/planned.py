"""Plans how small a difference between two judges labels can show, before there is a judge."""

import numpy as np

from judgec.records.label import IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.measure import Resampling
from judgec.stats.agreement.objective import Objective
from judgec.stats.intervals.bootstrap import detectable_difference, difference_interval

KEPT = 0.6  # share of the labels that each judge repeats; of the rest it says what is as frequent as in the labels
DRAWS = 10  # pairs of judges; the mean of what each pair would show
MANY = 50_000  # labels; two pairs of judges of so many show the same to a hundredth


def planned_difference(
    labels: IntArray, cluster: IntArray, n_grades: int, objective: Objective, how: Resampling, *, interval: bool = False
) -> float | None:
    """The smallest difference of an objective between two judges that these labels would show with 80 % power.

    Simulated: each of the two, apart from the other, agrees with the labels on ``KEPT`` of them and by chance on the
    rest. Judges that err on the same items show less. It falls with the root of the number of queries.

    Args:
        labels: Positions of the grades on their scale, shape (n,).
        cluster: Code of each label's query, shape (n,).
        n_grades: Of the scale.
        objective: Of grades.
        how: Of the intervals; its seed draws the judges, too.
        interval: The grades are numbers of an interval scale, compared by their order.

    Returns:
        None where there is no interval: all labels are the same, or there are fewer than three queries.
    """
    rng = np.random.default_rng(how.seed)
    n_clusters, values = int(cluster.max(initial=-1)) + 1, tuple(map(float, range(n_grades)))
    nobody = np.full(len(labels), -1)

    def judge() -> GradePairs:
        said = np.where(rng.random(len(labels)) < KEPT, labels, rng.permutation(labels))
        score = said.astype(np.float64)
        return GradePairs(labels, said, score, nobody, nobody, cluster, values, n_clusters, interval=interval)

    found = []
    for _ in range(DRAWS if len(labels) < MANY else 2):
        one, other = (objective.statistic(judge()) for _ in range(2))
        found.append(
            detectable_difference(
                difference_interval(one, other, level=how.level, resamples=how.resamples, seed=how.seed)
            )
        )
    known = [one for one in found if one is not None]
    return float(np.mean(known)) if known else None
