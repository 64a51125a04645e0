"""A reported number with its interval, or the reason why there is none."""

from pydantic import BaseModel, ConfigDict


class Estimate(BaseModel):
    """One statistic with everything needed to defend it.

    Args:
        value: The statistic, or None when it is undefined (``note`` says why); never NaN.
        low: Lower bound of the interval, or None.
        high: Upper bound, or None.
        p: Two-sided p-value where there is one.
        note: Why ``value`` or the interval is missing, or empty.
        n: Items it was computed from.
        n_clusters: Queries they belong to.
        level: Coverage of the interval, for example .95.
        method: How the interval was made.
        seed: Seed of the resampling, or None.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    note: str = ""
    n: int = 0
    n_clusters: int = 0
    level: float = 0.95
    method: str = ""
    seed: int | None = None

    def to_json(self) -> dict[str, float | str | None]:
        """The short form E of reports: value, low, high, with p and note where there are any."""
        short: dict[str, float | str | None] = {"value": self.value, "low": self.low, "high": self.high}
        if self.p is not None:
            short["p"] = self.p
        if self.note:
            short["note"] = self.note
        return short
