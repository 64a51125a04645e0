"""The shares of annotators who differ, and calibrators that learn these."""

from dataclasses import replace

import numpy as np
import pytest

from judgec.compile.calibrate import _families, _fit_source, fit_out_of_fold
from judgec.compile.calibrate_choice import Data
from judgec.compile.consensus import shares_of
from judgec.records.label import IntArray
from judgec.records.scale import Scale

FOUR = Scale(grades=(1, 2, 3, 4))


def test_shares_are_the_annotators_own() -> None:
    by = np.array([[0, 2, -1], [0, 1, -1], [1, -1, -1]])
    assert shares_of(by, 3) == pytest.approx(np.array([[2 / 3, 1 / 3, 0], [0, 0.5, 0.5], [0, 0, 0]]))


def _data(n: int = 300) -> tuple[Data, IntArray]:
    """A judge that states one grade, and three annotators who spread around it."""
    rng = np.random.default_rng(2)
    level = rng.uniform(-0.5, 3.5, size=n)
    by = np.clip(np.rint(level + 0.8 * rng.standard_normal((3, n))), 0, 3).astype(np.int64)
    stated = np.clip(np.rint(level), 0, 3).astype(np.int64)
    target = np.median(by, axis=0).astype(np.int64)
    return Data(np.eye(4)[stated], None, target, np.arange(n) // 2, FOUR, np.full(n, -1)), by


def test_certain_shares_give_the_very_calibrator_of_hard_labels() -> None:
    hard, _ = _data()
    certain = replace(hard, shares=np.eye(4)[hard.target])
    one, two = (fit_out_of_fold(data)[0] for data in (hard, certain))
    assert one.family == two.family
    assert one.rule == two.rule
    assert two.apply(hard.verdicts, None) == pytest.approx(one.apply(hard.verdicts, None), abs=1e-6)


def test_soft_labels_give_probabilities_nearer_to_single_annotators() -> None:
    hard, by = _data()
    soft = replace(hard, shares=shares_of(by, 4))
    loss = {}
    for name, data in (("hard", hard), ("soft", soft)):
        said = fit_out_of_fold(data)[1].probabilities
        above = said[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
        loss[name] = np.mean([(((grades[:, None] > np.arange(3)) - above) ** 2).sum(axis=1) for grades in by])
    assert loss["soft"] < loss["hard"] - 0.005


def test_every_family_learns_shares_as_weighted_rows() -> None:
    """Items without features: each family's probabilities are the mean of the shares, not of the medians."""
    n = 120
    shares = np.tile([0.25, 0.75], (n, 1))
    verdicts = np.tile([0.5, 0.5], (n, 1))
    scale = Scale(grades=(0, 1), accept_at=1)
    target = np.array([1] * (n - 1) + [0])
    data = Data(verdicts, np.ones((n, 1)), target, np.arange(n), scale, target, shares=shares)
    for source in ("lm", "evidence", "both"):
        for (_, family), fitted in _fit_source(data, source, 0, 8, _families(source, data)):
            if family != "none":
                assert fitted.apply(verdicts, np.ones((n, 1)))[:, 1] == pytest.approx(0.75, abs=0.02), (source, family)
