"""The exported engine's distribution function is SciPy's, bit for bit."""

import numpy as np
from scipy.special import ndtr as of_scipy

from judgec.raters.export.normal import ndtr


def test_every_bit_is_that_of_scipy_far_out_and_in_the_middle() -> None:
    rng = np.random.default_rng(0)
    edges = [0.0, -0.0, 1.0, -1.0, np.sqrt(2), -np.sqrt(2), 8 * np.sqrt(2), 38.0, -38.0, 1e300, -1e300, 5e-324]
    points = np.concatenate([edges, rng.normal(size=20_000), rng.uniform(-40, 40, 20_000)])
    assert np.array_equal(ndtr(points), of_scipy(points))


def test_one_number_is_as_in_an_array() -> None:
    assert ndtr(1.96) == of_scipy(1.96)
    assert abs(ndtr(1.96) - 0.9750021048517795) < 1e-15
