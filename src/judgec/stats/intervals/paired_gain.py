"""By how much one way is better than another on the same items, and whether that is clear."""

from dataclasses import dataclass

from judgec.stats.agreement.statistic import Statistic, weighted_sum
from judgec.stats.intervals.resampling import standard_error


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
    """The challenger's statistic minus the incumbent's, with its standard error over queries.

    Args:
        challenger: Of the same items and queries as ``incumbent``.
        incumbent: What has to be beaten.

    Source: Efron and Stein (1981), Annals of Statistics 9(3).
    """
    gain = weighted_sum([(1.0, challenger), (-1.0, incumbent)])
    return PairedGain(gain.point(), standard_error(gain))
