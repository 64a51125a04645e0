import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.stats.correction.rogan_gladen import rogan_gladen
from tests.stats.correction.worlds import GLADEN_WORLDS, World, coverage


def _labels(hits: int, misses: int, false: int, right: int) -> tuple[list[float], list[float]]:
    judge = [1.0] * hits + [0.0] * misses + [1.0] * false + [0.0] * right
    return judge, [1.0] * (hits + misses) + [0.0] * (false + right)


def _with_others(
    judge: list[float], expert: list[float], accepted: int, rejected: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    everything = np.array(judge + [1.0] * accepted + [0.0] * rejected)
    labels = np.array(expert + [np.nan] * (accepted + rejected))
    return everything, labels, np.arange(len(everything))


def test_rogan_gladen_pencil_example() -> None:
    # Sensitivity 16/20 = .8, specificity 18/20 = .9. Of 100 items the judge accepts 16 + 2 + 30 = 48:
    # (.48 + .9 - 1) / (.8 + .9 - 1) = .38 / .7.
    found = rogan_gladen(*_with_others(*_labels(16, 4, 2, 18), 30, 30))
    assert (found.sensitivity, found.specificity) == (0.8, 0.9)
    assert found.estimate.value == pytest.approx(0.38 / 0.7)
    assert found.estimate.low is not None
    assert found.estimate.high is not None
    assert found.estimate.low < 0.48 < found.estimate.high
    assert found.estimate.n == 40


def test_rogan_gladen_with_many_labels_has_the_delta_methods_interval() -> None:
    # With 4,000 labels Fieller's interval is the delta method's: (dp - rate dse + (1 - rate) dsp) / J, where
    # cov(p, se) = .16 / N and cov(p, sp) = -.09 / N because the labelled items are among the N.
    judge, expert, cluster = _with_others(*_labels(1600, 400, 200, 1800), 19_200, 20_800)
    found = rogan_gladen(judge, expert, cluster).estimate
    rate = found.value or 0.0
    p = float(judge.mean())
    variance = p * (1 - p) / 44_000 + rate**2 * 0.16 / 2000 + (1 - rate) ** 2 * 0.09 / 2000
    variance -= 2 * (rate * 0.16 + (1 - rate) * 0.09) / 44_000
    assert ((found.high or 0) - (found.low or 0)) / 2 == pytest.approx(1.96 * variance**0.5 / 0.7, rel=0.005)


@pytest.mark.parametrize(
    ("judge", "expert", "others", "seen"),
    [
        ([1.0] * 10, [1.0] * 10, (5, 5), "10 accepted and 0 rejected"),
        (*_labels(6, 4, 5, 5), (20, 20), "not shown to tell them apart"),
        (*_labels(20, 0, 20, 60), (0, 400), "the labels are not like these items"),
    ],
)
def test_rogan_gladen_outside_what_labels_can_say_is_refused(
    judge: list[float], expert: list[float], others: tuple[int, int], seen: str
) -> None:
    found = rogan_gladen(*_with_others(judge, expert, *others)).estimate
    assert found.value is None
    assert seen in found.note


@given(st.integers(0, 2**32 - 1))
def test_rogan_gladen_of_rejects_is_the_rest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random(200) < 0.5
    judge = np.where(rng.random(200) < 0.9, truth, ~truth).astype(float)
    expert = np.where(np.arange(200) < 80, truth, np.nan)
    cluster = rng.integers(0, 60, 200)
    one, other = rogan_gladen(judge, expert, cluster), rogan_gladen(1 - judge, 1 - expert, cluster)
    assert one.sensitivity == pytest.approx(other.specificity)
    if one.estimate.value is not None and other.estimate.value is not None:
        assert one.estimate.value + other.estimate.value == pytest.approx(1.0)
        assert (one.estimate.low or 0) + (other.estimate.high or 0) == pytest.approx(1.0)


@pytest.mark.full
@pytest.mark.parametrize("world", GLADEN_WORLDS, ids=str)
def test_rogan_gladen_covers(world: World) -> None:
    found = coverage(world, runs=1500)
    assert found["gladen"] >= 0.935
    assert found["refused"] < 0.01
