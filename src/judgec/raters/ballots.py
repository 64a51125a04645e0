"""Counts how far the judges of a jury agree, or the replies of one judge, while they judge."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import IntArray
from judgec.records.scale import Scale


@dataclass
class Ballots:
    """The grades that several gave to the same items.

    Args:
        scale: The grades.
    """

    scale: Scale
    _grades: list[IntArray] = field(default_factory=list, init=False)

    @property
    def count(self) -> int:
        """Number of members that vote on an item; 0 before the first."""
        return len(self._grades[0]) if self._grades else 0

    def add(self, ballots: Sequence[Judgments]) -> None:
        """Judgments of the same further items, one a voter."""
        self._grades.append(np.array([ballot.grade.astype(np.int8).ravel() for ballot in ballots]))

    def agreement(self, names: Sequence[str]) -> dict[str, object] | None:
        """Grades of all aspects together: tau-b and kappa of each pair, Fleiss' kappa of all; null where undefined.

        Args:
            names: Of the voters.

        Returns:
            None where fewer than two voted.
        """
        if self.count < 2:
            return None
        # SciPy's statistics take longer to load than a page of items.
        from judgec.stats.agreement.kappa import kappa_table
        from judgec.stats.agreement.rank_correlation import tau_b_table
        from judgec.stats.agreement.raters import fleiss_kappa, rating_counts
        from judgec.stats.agreement.tables import contingency

        ratings: IntArray = np.concatenate(self._grades, axis=1)
        pairs = []
        for a, b in combinations(range(len(ratings)), 2):
            both = (ratings[a] != UNSCORED) & (ratings[b] != UNSCORED)
            one, other = ratings[a][both].astype(np.int64), ratings[b][both].astype(np.int64)
            table = contingency(one, other, len(self.scale.grades))
            values = {"kappa": kappa_table(table)}
            if self.scale.level == "ordinal":
                values["tau_b"] = tau_b_table(table)
            numbers = {name: None if np.isnan(value) else float(value) for name, value in values.items()}
            same = None if not both.any() else float((one == other).mean())
            pairs.append({"a": names[a], "b": names[b], "n": int(both.sum()), "exact": same, **numbers})
        return {"pairs": pairs, "fleiss_kappa": fleiss_kappa(rating_counts(ratings, len(self.scale.grades)))}
