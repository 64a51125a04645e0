"""Hypothesis strategies: graded items, skewed, inverted and constant judges among them."""

from dataclasses import dataclass

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from judgec.records.label import IntArray

N_CLUSTERS = 4
PROPERTY = settings(deadline=None, max_examples=60)  # a shared core has no reliable clock


@dataclass(frozen=True)
class Graded:
    expert: IntArray
    judge: IntArray
    cluster: IntArray
    n_grades: int


@st.composite
def graded_items(draw: st.DrawFn, *, min_items: int = 1, unscored: bool = False) -> Graded:
    """Grades of up to 24 items in 4 clusters; with ``unscored``, some judge grades are -1."""
    n_grades = draw(st.integers(2, 5))
    n_items = draw(st.integers(min_items, 24))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    expert = rng.choice(n_grades, n_items, p=rng.dirichlet(np.full(n_grades, 0.5)))
    kind = draw(st.sampled_from(["skewed", "same", "inverted", "constant", "harsh"]))
    judge = {
        "skewed": rng.choice(n_grades, n_items, p=rng.dirichlet(np.full(n_grades, 0.5))),
        "same": expert,
        "inverted": n_grades - 1 - expert,
        "constant": np.full(n_items, rng.integers(n_grades)),
        "harsh": np.maximum(expert - rng.integers(0, 2, n_items), 0),
    }[kind]
    if unscored:
        judge = np.where(rng.random(n_items) < draw(st.sampled_from([0.0, 0.1, 0.5])), -1, judge)
    return Graded(expert, judge, rng.integers(0, N_CLUSTERS, n_items), n_grades)
