"""By how much one way is better than another on the same items, and whether that is clear."""

from dataclasses import dataclass

import numpy as np

from judgec.stats.agreement.statistic import Statistic, WeightedSum
from judgec.stats.intervals.resampling import jackknife_se


@dataclass(frozen=True, slots=True)
class PairedGain:
    """A difference of two statistics of the same items.

    Args:
        value: How much the challenger is better; NaN where either statistic is undefined.
        error: Standard error, clustered by query; None where it is undefined: with items of a single query, or where
            the statistic is undefined without one of the queries. A gain without an error is never clear.
    """

    value: float
    error: float | None

    @property
    def clear(self) -> bool:
        """True when the gain is more than one standard error above 0: what a change has to show before it ships."""
        return self.error is not None and self.value > max(self.error, 0.0)


def paired_gain(challenger: Statistic, incumbent: Statistic) -> PairedGain:
    """The challenger's statistic minus the incumbent's, with the delete-one-query jackknife's standard error.

    Args:
        challenger: Of the same items and queries as ``incumbent``.
        incumbent: What has to be beaten.

    Source: Efron and Stein (1981), Annals of Statistics 9(3).
    """
    gain = WeightedSum(((1.0, challenger), (-1.0, incumbent)))
    return PairedGain(gain.point(), standard_error(gain))


def standard_error(statistic: Statistic) -> float | None:
    """The delete-one-query jackknife's; None where ``PairedGain.error`` is undefined."""
    present = statistic.items > 0
    if present.sum() < 2:
        return None
    error = float(jackknife_se(statistic, present[None].astype(np.float64))[0])
    return None if np.isnan(error) else error
