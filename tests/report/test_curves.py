"""The curves show the numbers that they are given."""

import numpy as np
import pytest

from judgec.records.estimate import Estimate
from judgec.report.curves import coverage_figure, learning_curve_figure
from judgec.report.figures import png


def test_coverage_figure_draws_each_defined_point_in_per_cent_and_marks_the_one_in_use() -> None:
    points = [
        (1.0, Estimate(value=0.6, low=0.5, high=0.7)),
        (0.5, Estimate(value=0.9)),
        (0.0, Estimate(value=None, note="nothing is left")),
    ]
    figure = coverage_figure(points, points[1], agreement="accept_agreement")
    curve, chosen = figure.axes[0].lines
    assert curve.get_xydata() == pytest.approx(np.array([[100, 60], [50, 90]]))
    assert chosen.get_xydata() == pytest.approx(np.array([[50, 90]]))
    assert "accept agreement" in figure.axes[0].get_ylabel()
    assert png(figure).startswith(b"\x89PNG")


def test_learning_curve_figure_draws_subsets_and_their_mean() -> None:
    figure = learning_curve_figure({25: (0.2, 0.4), 50: (0.5, 0.6), 80: (0.7,)}, objective="tau_b")
    *subsets, mean = figure.axes[0].lines
    assert [np.asarray(line.get_ydata()).tolist() for line in subsets] == [[0.2, 0.4], [0.5, 0.6], [0.7]]
    assert mean.get_xydata() == pytest.approx(np.array([[25, 0.3], [50, 0.55], [80, 0.7]]))
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["25", "50", "80"]
    assert png(figure).startswith(b"\x89PNG")
