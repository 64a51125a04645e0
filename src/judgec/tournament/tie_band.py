"""Fits how far apart two scores of a judge must be before one answer counts as better."""

from dataclasses import dataclass

import numpy as np

from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import Scale
from judgec.report.numbers import number
from judgec.stats.agreement.kappa import kappa_table

CANDIDATES = 200  # bands compared: quantiles of the score differences


@dataclass(frozen=True, slots=True)
class TieBand:
    """Two answers whose scores differ by at most ``width`` are tied.

    Args:
        width: In scale units, 0 or more.
        pairs: Same-query pairs of dev answers that it was fitted on; 0 when it is half a grade.
    """

    width: float
    pairs: int

    def __str__(self) -> str:
        source = f"fitted on {self.pairs} same-query dev pairs" if self.pairs else "half a grade, nothing to fit it on"
        return f"{number(self.width, 3)} ({source})"


def half_a_grade(scale: Scale) -> TieBand:
    """Half the mean distance of two neighbouring grades: the band where no labelled pairs say better."""
    values = scale.values
    return TieBand((max(values) - min(values)) / (len(values) - 1) / 2.0, 0)


def fit_tie_band(score: FloatArray, expert: FloatArray, cluster: IntArray, scale: Scale) -> TieBand:
    """The band at which better / worse / tied by score agrees best (kappa) with the same by the experts' grades.

    Each same-query pair enters in both orders, so that neither side is favoured; among equals the narrowest band.
    Without a pair that the experts grade equal, or without one that they do not, it is half a grade.

    Args:
        score: The judge's scores, shape (n_items,); NaN where it gave none.
        expert: The experts' grades as numbers, same shape; NaN where there is none.
        cluster: The items' queries, same shape.
        scale: Of the grades.
    """
    first, second = _pairs(cluster[known := ~(np.isnan(score) | np.isnan(expert))])
    gap, wanted = (np.subtract(values[known][first], values[known][second]) for values in (score, expert))
    tied = wanted == 0
    if not tied.any() or tied.all():
        return half_a_grade(scale)
    distance = np.sort(np.abs(gap))
    bands = np.unique(np.append(np.quantile(distance, np.linspace(0, 1, CANDIDATES), method="lower"), 0.0))
    inside = np.abs(gap) <= bands[:, None]  # shape (n_bands, n_pairs)
    right = ~inside & (np.sign(gap) == np.sign(wanted))
    tables = np.zeros((len(bands), 3, 3))
    tables[:, 1, 1] = 2 * (inside & tied).sum(axis=1)
    for side in (0, 2):  # each pair once in either order: the table is symmetric under exchange
        tables[:, side, 1] = (inside & ~tied).sum(axis=1)
        tables[:, 1, side] = (~inside & tied).sum(axis=1)
        tables[:, side, side] = (right & ~tied).sum(axis=1)
        tables[:, side, 2 - side] = (~inside & ~right & ~tied).sum(axis=1)
    kappa = np.nan_to_num(kappa_table(tables), nan=-1.0)
    return TieBand(float(bands[int(kappa.argmax())]), len(gap))


def _pairs(cluster: IntArray) -> tuple[IntArray, IntArray]:
    """Positions of all pairs within a cluster."""
    firsts, seconds = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for code in np.unique(cluster):
        rows = np.flatnonzero(cluster == code)
        i, j = np.triu_indices(len(rows), 1)
        firsts.append(rows[i])
        seconds.append(rows[j])
    return np.concatenate(firsts), np.concatenate(seconds)
