"""Says how far the judges of a jury agree, or the replies of one judge, from the grades that they gave."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from judgec.records.judgment import UNSCORED
from judgec.records.label import IntArray
from judgec.records.scale import Scale


def agreement(names: Sequence[str], grades: Sequence[IntArray], scale: Scale) -> dict[str, object] | None:
    """Agreement of judges, all aspects together: tau-b and kappa of each pair, Fleiss' kappa of all; null if undefined.

    Args:
        names: Of two judges at least; else there is none.
        grades: Their grade positions piece by piece, each of shape (n_judges, n_items * n_aspects).
        scale: The grades.
    """
    if len(names) < 2 or not grades:
        return None
    # SciPy's statistics take longer to load than a page of items.
    from judgec.stats.agreement.kappa import kappa_table
    from judgec.stats.agreement.rank_correlation import tau_b_table
    from judgec.stats.agreement.raters import fleiss_kappa, rating_counts
    from judgec.stats.agreement.tables import contingency

    ratings, pairs = np.concatenate(grades, axis=1), []
    for a, b in combinations(range(len(names)), 2):
        both = ratings[:, (ratings[a] != UNSCORED) & (ratings[b] != UNSCORED)].astype(np.int64)
        table = contingency(both[a], both[b], len(scale.grades))
        values = {"kappa": kappa_table(table)} | ({"tau_b": tau_b_table(table)} if scale.level == "ordinal" else {})
        numbers = {name: None if np.isnan(value) else float(value) for name, value in values.items()}
        same = float((both[a] == both[b]).mean()) if both.size else None
        pairs.append({"a": names[a], "b": names[b], "n": both.shape[1], "exact": same, **numbers})
    return {"pairs": pairs, "fleiss_kappa": fleiss_kappa(rating_counts(ratings, len(scale.grades)))}
