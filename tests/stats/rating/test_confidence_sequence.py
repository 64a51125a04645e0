import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from judgec.stats.rating.confidence_sequence import anytime_radius, order_e_value


def test_anytime_radius_follows_robbins_normal_mixture() -> None:
    # With mixture precision r relative to 1/se^2, |M| crosses sqrt((V + t) log((V + t) / (t alpha^2))).
    radius = anytime_radius(np.array([0.5, 1.0, 2.0]), 0.05, tightest_se=1.0)
    multiples = radius / np.array([0.5, 1.0, 2.0])
    assert multiples[1] < multiples[0]
    assert multiples[1] < multiples[2]
    assert multiples[1] == pytest.approx(3.03, abs=0.02)  # against 1.96 for a single look
    assert_allclose(anytime_radius(np.array([0.0, np.inf]), 0.05, 1.0), [0.0, np.inf])


def test_anytime_radius_a_gaussian_walk_watched_forever_stays_inside() -> None:
    rng = np.random.default_rng(0)
    paths, steps, alpha = 4000, 2000, 0.1
    mean = np.cumsum(rng.standard_normal((paths, steps)), axis=1) / np.arange(1, steps + 1)
    radius = anytime_radius(1.0 / np.sqrt(np.arange(1, steps + 1)), alpha, tightest_se=0.1)
    missed = (np.abs(mean) > radius).any(axis=1).mean()
    assert 0.03 < missed <= alpha
    fixed = (np.abs(mean) > 1.645 / np.sqrt(np.arange(1, steps + 1))).any(axis=1).mean()
    assert fixed > 0.5  # what looking again and again does to an ordinary interval


def test_order_e_value_straight_wins_and_losses() -> None:
    assert order_e_value(np.array([])) == 1.0
    assert order_e_value(np.array([1.0])) == pytest.approx(1.5)  # the mean stake is one half
    assert order_e_value(np.ones(13)) > 500
    assert order_e_value(np.zeros(13)) < 0.2
    assert order_e_value(np.full(50, 0.5)) == pytest.approx(1.0)


def test_order_e_value_fair_coins_watched_forever_rarely_convince() -> None:
    rng = np.random.default_rng(1)
    coins = rng.integers(2, size=(2000, 200)).astype(float)
    convinced = np.mean([max(order_e_value(path[:n]) for n in range(0, 201, 8)) >= 20 for path in coins[:500]])
    assert convinced <= 0.05
    assert math.isfinite(order_e_value(np.ones(5000)))
