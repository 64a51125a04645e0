import numpy as np
import pytest
from scipy import stats

from judgec.stats.correction.mean import clustered_mean
from tests.stats.known import bounds


def test_clustered_mean_of_one_item_a_query_is_the_t_interval_where_everything_varies() -> None:
    values = np.array([0.3, -0.1, 0.5, 0.2, 0.4, -0.3, 0.1, 0.6])
    found = clustered_mean(values, np.arange(8), step=0.0)
    half = float(stats.t.isf(0.025, 7)) * float(values.std(ddof=1)) / 8**0.5
    assert found.value == pytest.approx(float(values.mean()))
    assert found.high == pytest.approx(float(values.mean()) + half)


def test_clustered_mean_of_nothing_changed_is_not_certain_of_it() -> None:
    found = clustered_mean(np.zeros(60), np.arange(60))
    assert found.value == 0.0
    assert found.high == pytest.approx(2.0 * (2 / 64 * 62 / 64 / 64) ** 0.5, rel=0.01)
    smaller = clustered_mean(np.zeros(60), np.arange(60), step=0.25)
    assert (smaller.high or 0) == pytest.approx((found.high or 0) / 4)


def test_clustered_mean_of_repeated_rows_is_no_surer() -> None:
    values = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 0.0])
    once = clustered_mean(values, np.arange(6))
    thrice = clustered_mean(np.repeat(values, 3), np.repeat(np.arange(6), 3))
    assert thrice.low == pytest.approx(once.low)


def test_clustered_mean_of_too_few_queries_has_no_interval() -> None:
    found = clustered_mean(np.array([1.0, 0.0, 1.0]), np.array([0, 0, 1]))
    assert found.value == pytest.approx(2 / 3)
    assert (found.low, found.note) == (None, "2 queries: no interval")
    assert clustered_mean(np.zeros(0), np.zeros(0, dtype=np.int64)).value is None
    assert clustered_mean(np.zeros(9), np.arange(9), draws=2).low is None


@pytest.mark.full
@pytest.mark.parametrize("share", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("queries", [15, 40])
def test_clustered_mean_covers_shares_of_clustered_items(share: float, queries: int) -> None:
    hits, runs = 0, 2000
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        cluster = np.repeat(np.arange(queries), 3)
        taste = rng.beta(share * 7 / 3, (1 - share) * 7 / 3, queries)  # intra-class correlation .3
        found = clustered_mean((rng.random(len(cluster)) < taste[cluster]).astype(float), cluster)
        low, high = bounds(found)
        hits += low <= share <= high
    assert hits / runs >= 0.94
