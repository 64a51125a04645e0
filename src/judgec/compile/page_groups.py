"""The compiled judge's agreement in each group of items."""

import numpy as np

from judgec.compile.compile import Compiled
from judgec.records.agreement import Agreement
from judgec.records.label import UNLABELLED
from judgec.stats.agreement.measure import Resampling, measure

MAX_GROUPS = 30  # the largest; the others are in the report


def by_group(compiled: Compiled) -> dict[str, Agreement]:
    """Agreement on the test items of each group, the largest groups first."""
    test, ratings = compiled.dataset.test, compiled.verification.ratings["compiled"]
    experts, of_items = test.experts, np.array([item.group or "" for item in test.items])
    known = [one[..., 0] != UNLABELLED for one in (experts.target, experts.target_accept)]
    labelled = known[0] | known[1]  # the cells that became rows
    groups = np.repeat(of_items[:, None], len(compiled.dataset.labels.aspects), axis=1)[labelled]
    names, counts = np.unique(groups[groups != ""], return_counts=True)
    ranked = [str(name) for name in names[np.argsort(-counts, kind="stable")]][:MAX_GROUPS]
    nominal = compiled.dataset.labels.scale.level == "nominal"
    how = Resampling(resamples=500)
    return {name: measure(ratings.where(groups == name), how, nominal=nominal) for name in ranked}
