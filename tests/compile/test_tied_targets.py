"""Calibrators that learn items which two grades share."""

from dataclasses import replace

import numpy as np
import pytest

from judgec.compile.calibrate import fit_out_of_fold, fit_source
from judgec.compile.calibrate_choice import Data, _cuts, _loss
from judgec.records.consensus import consensus_of
from judgec.records.scale import Scale
from judgec.stats.agreement.objective import parse_objective

FOUR = Scale(grades=(1, 2, 3, 4))


def _data(n: int = 300) -> Data:
    """A judge that states one grade, and two annotators who spread around it."""
    rng = np.random.default_rng(2)
    level = rng.uniform(-0.5, 3.5, size=n)
    by = np.clip(np.rint(level + 0.8 * rng.standard_normal((2, n))), 0, 3).astype(np.int64)
    stated = np.clip(np.rint(level), 0, 3).astype(np.int64)
    none = np.full((n, 1), -1)
    return Data(np.eye(4)[stated], None, consensus_of(by[:, :, None])[:, 0], np.arange(n) // 2, FOUR, none)


def test_targets_that_fill_up_give_the_very_calibrator_of_plain_ones() -> None:
    tied = _data()
    plain = replace(tied, target=tied.target[:, :1])
    filled = replace(plain, target=np.concatenate([plain.target, np.full((300, 1), -1)], axis=1))
    one, two = (fit_out_of_fold(data)[0] for data in (plain, filled))
    assert one == two


def test_a_tied_row_weighs_as_much_as_any_other() -> None:
    """Written twice, once with each of its grades, and every other row twice with its one: the same loss and cuts."""
    tied = _data()
    assert (tied.target[:, 1] >= 0).mean() > 0.4
    twice = np.where(tied.target[:, 1] < 0, tied.target[:, 0], tied.target[:, 1])
    doubled = Data(
        np.tile(tied.verdicts, (2, 1)),  # type: ignore[arg-type]  # there are verdicts
        None,
        np.concatenate([tied.target[:, 0], twice])[:, None],
        np.tile(tied.cluster, 2),
        FOUR,
        np.full((600, 1), -1),
    )
    said = [dict(fit_source(data, "lm"))["isotonic"].apply(np.eye(4), None) for data in (tied, doubled)]
    assert said[0] == pytest.approx(said[1], abs=0.02)  # each is smoothed by its number of rows
    losses = [_loss(np.full((len(data.cluster), 4), 0.25), data).mean() for data in (tied, doubled)]
    assert losses[0] == pytest.approx(losses[1])
    cuts = [_cuts(data.verdicts @ np.arange(4.0), data, parse_objective("qwk"), 0) for data in (tied, doubled)]  # type: ignore[operator]  # there are verdicts
    assert cuts[0] == pytest.approx(cuts[1])


def test_every_family_learns_shares_as_weighted_rows() -> None:
    """Items without features: each family's probabilities are the mean of the shares."""
    n = 120
    verdicts = np.tile([0.5, 0.5], (n, 1))
    scale = Scale(grades=(0, 1), accept_at=1)
    target = np.array([[0, 1], [1, -1]] * (n // 2))
    data = Data(verdicts, np.ones((n, 1)), target, np.arange(n), scale, target)
    for source in data.sources:
        for family, fitted in fit_source(data, source):
            if family != "none":
                assert fitted.apply(verdicts, np.ones((n, 1)))[:, 1] == pytest.approx(0.75, abs=0.02), (source, family)
